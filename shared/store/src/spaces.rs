//! Spaces: their settings, and the small items of a space that are read often.

pub mod members;
pub mod rosters;
pub mod summaries;

use std::collections::BTreeMap;

use futures::future::try_join_all;
use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    ids::{EntityId, LeaseId, SpaceId},
    limits::lease,
    messages::Sender,
    spaces::{Space, SpaceSettings},
};

use crate::{
    Error, Result, Spaces,
    idempotency::PostKey,
    spaces::rosters::{Head, MemberRecord, Roster, no_such_space},
    table::{
        Query, WriteError,
        indexes::Index,
        key_of,
        keys::{self, Key},
        pages::{Ask, Page},
        read,
        write::Write,
    },
};

/// How many items of a deleted space are read at once.
const CLEARED_AT_ONCE: usize = 200;
/// How many of them are deleted concurrently.
const CONCURRENT_DELETES: usize = 16;

/// A space and its settings, as they are stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpaceRecord {
    /// Its id.
    pub id: SpaceId,
    /// Its settings.
    pub settings: SpaceSettings,
    /// When it was made.
    pub created_at: Time,
    /// Raised by each change.
    pub rev: u64,
    /// Whether it is deleted. Its other items may still exist.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// The token of the request that deleted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deleted_by: Option<LeaseId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    g2pk: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    g2sk: Option<String>,
}

/// The part of a space that prompts in other spaces show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// Its name.
    pub name: String,
    /// Its first 20 members.
    pub members: Vec<Sender>,
    /// How many members it has.
    pub count: usize,
}

impl Card {
    /// How many members a card names.
    pub const NAMED: usize = 20;

    pub(crate) fn of(name: &str, members: impl Iterator<Item = Sender>) -> Self {
        let members: Vec<Sender> = members.collect();
        let count = members.len();
        Self {
            name: name.to_owned(),
            members: members.into_iter().take(Self::NAMED).collect(),
            count,
        }
    }
}

/// A space, as the API shows it.
pub fn view(record: SpaceRecord, roster: &Roster) -> Space {
    let members = roster.members.iter().map(MemberRecord::view).collect();
    Space {
        id: record.id,
        settings: record.settings,
        seq: roster.head.seq,
        created_at: record.created_at,
        members,
        me: None,
    }
}

impl Spaces<'_> {
    /// Creates a space without members. If the `key` was used before, returns the space that was
    /// created then.
    pub async fn create(
        self,
        id: SpaceId,
        settings: SpaceSettings,
        key: Option<&PostKey>,
        now: Time,
    ) -> Result<SpaceId> {
        let card = Card::of(&settings.name, std::iter::empty());
        let record = SpaceRecord {
            id,
            settings,
            created_at: now,
            rev: 1,
            deleted: false,
            deleted_by: None,
            g2pk: Some(keys::SPACES.to_owned()),
            g2sk: Some(id.to_string()),
        };
        let mut writes = vec![
            Write::put(keys::space_meta(id), &record)?.if_absent(),
            Write::put(keys::space_head(id), &Head { seq: 0, depth: 0, roster: 1, minute: None })?
                .if_absent(),
            Write::put(keys::space_card(id), &card)?,
        ];
        if let Some(key) = key {
            writes.push(key.write(&id.to_string(), now)?);
        }
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(id),
            Err(WriteError::Other(error)) => Err(error),
            // The first try took effect and its answer was lost.
            Err(WriteError::Refused(refusal)) if refusal.names(&keys::space_meta(id)) => Ok(id),
            Err(WriteError::Refused(refusal)) => PostKey::made(key, &refusal)?
                .ok_or_else(|| Error::Internal("the id of a new space is in use".into())),
        }
    }

    /// A space, as it is stored.
    pub async fn record(self, id: SpaceId) -> Result<SpaceRecord> {
        let record: Option<SpaceRecord> = self.store.table.get(&keys::space_meta(id)).await?;
        record.filter(|record| !record.deleted).ok_or_else(no_such_space)
    }

    /// A space, as the API shows it.
    pub async fn get(self, id: SpaceId) -> Result<Space> {
        let (record, roster) =
            futures::try_join!(self.record(id), self.store.members().roster(id))?;
        Ok(view(record, &roster))
    }

    /// All spaces, by age.
    pub async fn list(self, ask: &Ask) -> Result<Page<Space>> {
        let query = Query::of_index(Index::LISTS, keys::SPACES.to_owned())
            .limit(ask.limit()?)
            .after(ask.after(Index::LISTS.keys, keys::SPACES)?);
        let page = self.store.table.page(query).await?;
        let keys = page.items.iter().map(key_of).collect::<Result<Vec<_>>>()?;
        let ids = keys.iter().map(|key| {
            key.pk.strip_prefix("SPACE#").and_then(|id| id.parse().ok()).ok_or_else(no_such_space)
        });
        let spaces = futures::future::join_all(ids.map(async |id| self.get(id?).await)).await;
        let mut items = Vec::with_capacity(spaces.len());
        for (entry, space) in page.items.into_iter().zip(spaces) {
            match space {
                Ok(space) => items.push((entry, space)),
                // The index may still have a deleted space.
                Err(Error::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Page::cut(items, page.next, Index::LISTS.keys.sk))
    }

    /// Changes a space's settings, if they are still at `rev`.
    pub async fn change(
        self,
        id: SpaceId,
        settings: &SpaceSettings,
        rev: u64,
        roster: &Roster,
    ) -> Result<()> {
        let card = Card::of(&settings.name, roster.members.iter().map(MemberRecord::sender));
        let meta = Write::update(keys::space_meta(id), "SET #settings = :settings, #rev = :next")
            .when("#rev = :rev AND attribute_not_exists(#deleted)")
            .value(":settings", settings)?
            .value(":rev", rev)?
            .value(":next", rev + 1)?;
        // This raises the version of the roster, like a member that joins or leaves. Otherwise such
        // a change at the same time would store the card with the old name.
        let head =
            Write::update(keys::space_head(id), "SET #roster = :next").when("#roster = :roster");
        let head =
            head.value(":roster", roster.head.roster)?.value(":next", roster.head.roster + 1)?;
        match self
            .store
            .table
            .transact(&[meta, head, Write::put(keys::space_card(id), &card)?])
            .await
        {
            Ok(()) => Ok(()),
            Err(WriteError::Refused(refusal)) => {
                match refusal.existing::<SpaceRecord>(&keys::space_meta(id)) {
                    // The next revision has these settings: the first try took effect and its
                    // answer was lost.
                    Some(stored) if stored.rev == rev + 1 && stored.settings == *settings => Ok(()),
                    _ => Err(Error::Conflict(
                        "the space was changed at the same time; read it again".into(),
                    )),
                }
            }
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Marks a space as deleted: it gets no more messages. [`Spaces::clear`] deletes its items.
    /// `token` is made before the first try, and detects a lost answer.
    pub async fn delete(self, id: SpaceId, token: &LeaseId, now: Time) -> Result<()> {
        let expression = "SET #deleted = :yes, #deletedBy = :token, #due = :due, #dueAt = :now \
                          REMOVE #g2pk, #g2sk";
        let meta = Write::update(keys::space_meta(id), expression)
            .when("attribute_not_exists(#deleted)")
            .value(":yes", true)?
            .value(":token", token)?
            .value(":due", keys::due(id.part_of(keys::DUE_PARTS)))?
            .value(":now", now)?;
        match self.store.table.transact(&[meta, Write::delete(keys::space_head(id))]).await {
            Ok(()) => Ok(()),
            Err(WriteError::Refused(refusal)) => {
                match refusal.existing::<SpaceRecord>(&keys::space_meta(id)) {
                    Some(stored) if stored.deleted_by.as_ref() == Some(token) => Ok(()),
                    _ => Err(no_such_space()),
                }
            }
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Deletes messages of a deleted space. May be repeated. Their forms must be closed before.
    pub async fn clear_messages(self, id: SpaceId, seqs: &[u64]) -> Result<()> {
        self.delete_all(seqs.iter().map(|seq| keys::numbered(id, keys::MSG, *seq)).collect()).await
    }

    /// Deletes about `most` of the remaining items of a deleted space. Returns whether all are
    /// gone. May be repeated. Its agents must have left before.
    pub async fn clear(self, id: SpaceId, most: usize) -> Result<bool> {
        let meta = keys::space_meta(id);
        let mut gone = 0;
        let mut after = None;
        while gone < most {
            let page = self
                .store
                .table
                .page(Query::of(keys::space(id)).limit(CLEARED_AT_ONCE).after(after))
                .await?;
            let mut keys_left = page.items.iter().map(key_of).collect::<Result<Vec<_>>>()?;
            // Subscriptions are deleted with their connections, since some subscribers may not have
            // been notified of the deletion yet.
            keys_left.retain(|key| *key != meta && !key.sk.starts_with(keys::CONN));
            gone += keys_left.len();
            self.delete_all(keys_left).await?;
            after = page.next;
            if after.is_none() {
                // The settings are deleted last, since they are the due item.
                self.store.table.write_always(Write::delete(meta)).await?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Postpones a deleted space while its items are being deleted, however long that takes.
    pub async fn continue_clearing(self, id: SpaceId, now: Time) -> Result<()> {
        let meta = Write::update(keys::space_meta(id), "SET #dueAt = :then REMOVE #dueCount")
            .when("attribute_exists(#due)");
        self.store.table.write_where_it_holds(meta.value(":then", now + lease::RUNNING_DUE)?).await
    }

    async fn delete_all(self, unwanted: Vec<Key>) -> Result<()> {
        for some in unwanted.chunks(CONCURRENT_DELETES) {
            try_join_all(
                some.iter().map(|key| self.store.table.write_always(Write::delete(key.clone()))),
            )
            .await?;
        }
        Ok(())
    }

    /// The remaining members of a deleted space.
    pub async fn members_left(self, id: SpaceId) -> Result<Vec<EntityId>> {
        let items =
            self.store.table.all(Query::of(keys::space(id)).begins_with(keys::MEMBER)).await?;
        let members = items.into_iter().map(read::<MemberRecord>).collect::<Result<Vec<_>>>()?;
        Ok(members
            .into_iter()
            .filter(|member| !member.left)
            .map(|member| member.entity_id)
            .collect())
    }

    /// The cards of spaces. Leaves out spaces without a card.
    pub async fn cards(self, ids: &[SpaceId]) -> Result<BTreeMap<SpaceId, Card>> {
        let wanted: Vec<_> = ids.iter().map(|id| keys::space_card(*id)).collect();
        let mut items = self.store.table.get_all(&wanted).await?;
        let mut cards = BTreeMap::new();
        for (id, key) in ids.iter().zip(&wanted) {
            if let Some(card) = items.take(key)? {
                cards.insert(*id, card);
            }
        }
        Ok(cards)
    }
}
