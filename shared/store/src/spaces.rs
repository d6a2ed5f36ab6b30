//! Spaces: their settings, and the small items that are read often.

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
    Error, Result, Store,
    keys::{self, Key},
    pages::{Ask, Page},
    posted::PostKey,
    rosters::{Head, Roster, no_such_space},
    table::{Query, WriteError, key_of, read},
    write::Write,
};

const LISTED: (&str, &str) = ("g2pk", "g2sk");

/// Items of a deleted space that are read at once, and of which so many are removed side by side.
const CLEARED: usize = 200;
const SIDE_BY_SIDE: usize = 16;

/// A space's settings, as they are kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpaceRecord {
    /// Its id.
    pub id: SpaceId,
    /// What can be set of it.
    pub settings: SpaceSettings,
    /// When it was made.
    pub created_at: Time,
    /// Raised by each change.
    pub rev: u64,
    /// It is being removed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Who deleted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deleted_by: Option<LeaseId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    g2pk: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    g2sk: Option<String>,
}

/// What prompts in other spaces show of a space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// Its name.
    pub name: String,
    /// Its first 20 members.
    pub members: Vec<Sender>,
    /// How many there are.
    pub count: usize,
}

impl Card {
    /// How many members a card names.
    pub const NAMED: usize = 20;

    pub(crate) fn of(name: &str, members: impl Iterator<Item = Sender>) -> Self {
        let members: Vec<Sender> = members.collect();
        let count = members.len();
        Self { name: name.to_owned(), members: members.into_iter().take(Self::NAMED).collect(), count }
    }
}

/// A space as the API shows it.
pub fn view(record: SpaceRecord, roster: &Roster) -> Space {
    let members = roster.members.iter().map(crate::rosters::MemberRecord::view).collect();
    Space { id: record.id, settings: record.settings, seq: roster.head.seq, created_at: record.created_at, members, me: None }
}

impl Store {
    /// Makes a space without members. With a `key` that was used before: the space that was made then.
    pub async fn create_space(&self, id: SpaceId, settings: SpaceSettings, key: Option<&PostKey>, now: Time) -> Result<SpaceId> {
        let card = Card::of(&settings.name, std::iter::empty());
        let (g2pk, g2sk) = (Some(keys::SPACES.to_owned()), Some(id.to_string()));
        let record = SpaceRecord { id, settings, created_at: now, rev: 1, deleted: false, deleted_by: None, g2pk, g2sk };
        let mut writes = vec![
            Write::put(keys::space_meta(id), &record)?.if_absent(),
            Write::put(keys::space_head(id), &Head { seq: 0, depth: 0, roster: 1, minute: None })?.if_absent(),
            Write::put(keys::space_card(id), &card)?,
        ];
        if let Some(key) = key {
            writes.push(key.write(&id.to_string(), now)?);
        }
        match self.table.transact(&writes).await {
            Ok(()) => Ok(id),
            Err(WriteError::Other(error)) => Err(error),
            // The answer to the first try was lost.
            Err(WriteError::Refused(refusal)) if refusal.names(&keys::space_meta(id)) => Ok(id),
            Err(WriteError::Refused(refusal)) => {
                PostKey::made(key, &refusal)?.ok_or_else(|| Error::Internal("a new space's id was taken".into()))
            }
        }
    }

    /// A space's settings.
    pub async fn space_record(&self, id: SpaceId) -> Result<SpaceRecord> {
        let record: Option<SpaceRecord> = self.table.get(&keys::space_meta(id)).await?;
        record.filter(|record| !record.deleted).ok_or_else(no_such_space)
    }

    /// A space, as the API shows it.
    pub async fn space(&self, id: SpaceId) -> Result<Space> {
        let (record, roster) = futures::try_join!(self.space_record(id), self.roster(id))?;
        Ok(view(record, &roster))
    }

    /// All spaces, by age.
    pub async fn spaces(&self, ask: &Ask) -> Result<Page<Space>> {
        let query = Query::of_index("GSI2", LISTED, keys::SPACES.to_owned()).limit(ask.limit()?).after(ask.after(LISTED, keys::SPACES)?);
        let page = self.table.page(query).await?;
        let keys = page.items.iter().map(key_of).collect::<Result<Vec<_>>>()?;
        let ids = keys.iter().map(|key| key.pk.strip_prefix("SPACE#").and_then(|id| id.parse().ok()).ok_or_else(no_such_space));
        let spaces = futures::future::join_all(ids.map(async |id| self.space(id?).await)).await;
        let mut items = Vec::with_capacity(spaces.len());
        for (entry, space) in page.items.into_iter().zip(spaces) {
            match space {
                Ok(space) => items.push((entry, space)),
                // The index lags behind a removal.
                Err(Error::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Page::cut(items, page.next, "g2sk"))
    }

    /// Changes a space's settings, if they are still at `rev`.
    pub async fn change_space(&self, id: SpaceId, settings: &SpaceSettings, rev: u64, roster: &Roster) -> Result<()> {
        let card = Card::of(&settings.name, roster.members.iter().map(crate::rosters::MemberRecord::sender));
        let meta = Write::update(keys::space_meta(id), "SET #settings = :settings, #rev = :next")
            .when("#rev = :rev AND attribute_not_exists(#deleted)")
            .value(":settings", settings)?
            .value(":rev", rev)?
            .value(":next", rev + 1)?;
        // As where somebody joins or leaves, who would else keep the card as they read it, with the name of before.
        let head = Write::update(keys::space_head(id), "SET #roster = :next").when("#roster = :roster");
        let head = head.value(":roster", roster.head.roster)?.value(":next", roster.head.roster + 1)?;
        match self.table.transact(&[meta, head, Write::put(keys::space_card(id), &card)?]).await {
            Ok(()) => Ok(()),
            Err(WriteError::Refused(refusal)) => match refusal.there::<SpaceRecord>(&keys::space_meta(id)) {
                // The next revision with these settings: the answer to our first try was lost.
                Some(there) if there.rev == rev + 1 && there.settings == *settings => Ok(()),
                _ => Err(Error::Conflict("the space was changed at the same time; read it again".into())),
            },
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Marks a space as being removed: nothing more is said in it. What is left of it is removed by [`Store::clear_space`].
    /// `token` is made before the first try, and tells a lost answer.
    pub async fn delete_space(&self, id: SpaceId, token: &LeaseId, now: Time) -> Result<()> {
        let expression = "SET #deleted = :yes, #deletedBy = :token, #due = :due, #dueAt = :now REMOVE #g2pk, #g2sk";
        let meta = Write::update(keys::space_meta(id), expression)
            .when("attribute_not_exists(#deleted)")
            .value(":yes", true)?
            .value(":token", token)?
            .value(":due", keys::due(id.part_of(keys::DUE_PARTS)))?
            .value(":now", now)?;
        match self.table.transact(&[meta, Write::delete(keys::space_head(id))]).await {
            Ok(()) => Ok(()),
            Err(WriteError::Refused(refusal)) => match refusal.there::<SpaceRecord>(&keys::space_meta(id)) {
                Some(there) if there.deleted_by.as_ref() == Some(token) => Ok(()),
                _ => Err(no_such_space()),
            },
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Removes messages of a deleted space; may be repeated. What they asked people must be settled before.
    pub async fn clear_messages(&self, id: SpaceId, seqs: &[u64]) -> Result<()> {
        self.delete_all(seqs.iter().map(|seq| keys::numbered(id, keys::MSG, *seq)).collect()).await
    }

    /// Removes what is left of a deleted space, about `most` items of it: whether all is gone. May be repeated. Its agents must have left before.
    pub async fn clear_space(&self, id: SpaceId, most: usize) -> Result<bool> {
        let (meta, mut gone, mut after) = (keys::space_meta(id), 0, None);
        while gone < most {
            let page = self.table.page(Query::of(keys::space(id)).limit(CLEARED).after(after)).await?;
            let mut keys_left = page.items.iter().map(key_of).collect::<Result<Vec<_>>>()?;
            // Subscriptions go with their connections: who follows the space may not have been told yet.
            keys_left.retain(|key| *key != meta && !key.sk.starts_with(keys::CONN));
            gone += keys_left.len();
            self.delete_all(keys_left).await?;
            after = page.next;
            if after.is_none() {
                // The settings go last: they carry the duty to come back.
                self.table.write_always(Write::delete(meta)).await?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A deleted space of which a part is removed: the rest is not overdue, however long it takes.
    pub async fn go_on_clearing(&self, id: SpaceId, now: Time) -> Result<()> {
        let meta = Write::update(keys::space_meta(id), "SET #dueAt = :then REMOVE #dueCount").when("attribute_exists(#due)");
        self.table.write_where_it_holds(meta.value(":then", now + lease::RUNNING_DUE)?).await
    }

    async fn delete_all(&self, unwanted: Vec<Key>) -> Result<()> {
        for some in unwanted.chunks(SIDE_BY_SIDE) {
            try_join_all(some.iter().map(|key| self.table.write_always(Write::delete(key.clone())))).await?;
        }
        Ok(())
    }

    /// Members of a space that is being removed.
    pub async fn members_left(&self, id: SpaceId) -> Result<Vec<EntityId>> {
        let items = self.table.all(Query::of(keys::space(id)).begins_with(keys::MEMBER)).await?;
        let members = items.into_iter().map(read::<crate::rosters::MemberRecord>).collect::<Result<Vec<_>>>()?;
        Ok(members.into_iter().filter(|member| !member.left).map(|member| member.entity_id).collect())
    }

    /// Names of spaces, from their cards.
    pub async fn cards(&self, ids: &[SpaceId]) -> Result<BTreeMap<SpaceId, Card>> {
        let wanted: Vec<_> = ids.iter().map(|id| keys::space_card(*id)).collect();
        let mut items = self.table.get_all(&wanted).await?;
        let mut cards = BTreeMap::new();
        for (id, key) in ids.iter().zip(&wanted) {
            if let Some(card) = items.take(key)? {
                cards.insert(*id, card);
            }
        }
        Ok(cards)
    }
}
