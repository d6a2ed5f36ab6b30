//! Who is in a space, as last seen. `HEAD.roster` is the version: a decision made from an older roster never passes its transaction.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    access::Place,
    entities::EntityType,
    ids::{EntityId, SpaceId},
    messages::Sender,
    shares::Minute,
    spaces::{Member, Role},
};

use crate::{
    Error, Result, Store, keys,
    spaces::SpaceRecord,
    summaries::SummaryRecord,
    table::{Query, key_of, read},
};

/// What changes with each message, and the version of the roster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The last message's number.
    pub seq: u64,
    /// The last message's depth.
    pub depth: u32,
    /// Raised by whoever changes who is in the space, or a member's name or role.
    pub roster: u64,
    /// The runs of the last minute in which a message woke somebody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minute: Option<Minute>,
}

/// A member, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemberRecord {
    /// Who.
    pub entity_id: EntityId,
    /// Its name.
    pub name: String,
    /// Person or agent.
    pub kind: EntityType,
    /// What it may do.
    pub role: Role,
    /// An agent's: up to here its completed runs have read.
    pub cursor: u64,
    /// Up to here it says that it has read.
    pub read_seq: u64,
    /// An agent's: when a run that had read on here last completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_run_at: Option<Time>,
    /// Since when.
    pub joined_at: Time,
    /// It was here once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left: bool,
    /// Index of an entity's spaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub g2pk: Option<String>,
    /// Index of an entity's spaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub g2sk: Option<String>,
}

impl MemberRecord {
    /// As a sender of messages.
    pub fn sender(&self) -> Sender {
        Sender { id: self.entity_id, name: self.name.clone(), kind: self.kind }
    }

    /// Where it stands.
    pub fn place(&self) -> Place {
        Place { role: self.role, kind: self.kind }
    }

    /// As the API shows it.
    pub fn view(&self) -> Member {
        let Self { entity_id: id, kind, role, read_seq, joined_at, .. } = *self;
        Member { id, name: self.name.clone(), kind, role, read_seq, joined_at }
    }
}

/// Who is in a space, at one version. Their cursors and read positions may be older.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roster {
    /// The space's head when this was read.
    pub head: Head,
    /// The members, by id.
    pub members: Vec<MemberRecord>,
}

impl Roster {
    /// The member with this id.
    pub fn member(&self, id: EntityId) -> Option<&MemberRecord> {
        self.members.iter().find(|member| member.entity_id == id)
    }

    /// The agents among them.
    pub fn agents(&self) -> impl Iterator<Item = EntityId> {
        self.members.iter().filter(|member| member.kind == EntityType::Agent).map(|member| member.entity_id)
    }
}

/// Rosters as last seen by this process.
#[derive(Debug, Default)]
pub struct RosterCache(Mutex<HashMap<SpaceId, Arc<Roster>>>);

impl RosterCache {
    const MOST: usize = 1_000;

    pub(crate) fn last_seen(&self, space: SpaceId) -> Option<Arc<Roster>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&space).cloned()
    }

    fn saw(&self, space: SpaceId, roster: Arc<Roster>) {
        let mut rosters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if rosters.len() >= Self::MOST {
            rosters.clear();
        }
        rosters.insert(space, roster);
    }
}

impl Store {
    /// Reads who is in a space, and its head. HEAD comes first, so a roster is never older than its version.
    pub async fn roster(&self, space: SpaceId) -> Result<Arc<Roster>> {
        let head = keys::space_head(space).sk;
        let items = self.table.all(Query::of(keys::space(space)).between(&head, &format!("{}~", keys::MEMBER))).await?;
        let mut found = None;
        let mut members = Vec::with_capacity(items.len());
        for item in items {
            match key_of(&item)?.sk.as_str() {
                sk if sk == head => found = Some(read::<Head>(item)?),
                sk if sk.starts_with(keys::MEMBER) => members.push(read::<MemberRecord>(item)?),
                _ => {}
            }
        }
        members.retain(|member| !member.left);
        let head = found.ok_or_else(no_such_space)?;
        let roster = Arc::new(Roster { head, members });
        self.rosters.saw(space, Arc::clone(&roster));
        Ok(roster)
    }

    /// A space's head, as it is now; none where the space is gone. The cheapest way to learn whether the roster changed.
    pub async fn head(&self, space: SpaceId) -> Result<Option<Head>> {
        self.table.get(&keys::space_head(space)).await
    }

    /// A space, and an entity's place in it; none where the entity is not in it, or the space is gone.
    pub async fn place_of(&self, space: SpaceId, entity: EntityId) -> Result<Option<(SpaceRecord, MemberRecord)>> {
        let (meta, member) = (keys::space_meta(space), keys::member(space, entity));
        let mut items = self.table.get_all(&[meta.clone(), member.clone()]).await?;
        let record: Option<SpaceRecord> = items.take(&meta)?;
        let member: Option<MemberRecord> = items.take(&member)?;
        Ok(record.filter(|record| !record.deleted).zip(member.filter(|member| !member.left)))
    }

    /// The same with what is written of the space's older history.
    pub async fn place_with_summary(
        &self,
        space: SpaceId,
        entity: EntityId,
    ) -> Result<Option<(SpaceRecord, MemberRecord, Option<SummaryRecord>)>> {
        let (meta, member, summary) = (keys::space_meta(space), keys::member(space, entity), keys::summary(space));
        let mut items = self.table.get_all(&[meta.clone(), member.clone(), summary.clone()]).await?;
        let record: Option<SpaceRecord> = items.take(&meta)?;
        let member: Option<MemberRecord> = items.take(&member)?;
        let summary: Option<SummaryRecord> = items.take(&summary)?;
        let (Some(record), Some(member)) = (record.filter(|record| !record.deleted), member.filter(|member| !member.left)) else {
            return Ok(None);
        };
        Ok(Some((record, member, summary.filter(SummaryRecord::is_written))))
    }

    /// Whether an entity is, or ever was, a member of a space.
    pub async fn was_member(&self, space: SpaceId, entity: EntityId) -> Result<bool> {
        Ok(self.table.get::<MemberRecord>(&keys::member(space, entity)).await?.is_some())
    }

    /// Who was a member of a space once, and left it.
    pub async fn former_member(&self, space: SpaceId, entity: EntityId) -> Result<Option<MemberRecord>> {
        let member: Option<MemberRecord> = self.table.get(&keys::member(space, entity)).await?;
        Ok(member.filter(|member| member.left))
    }

    /// A member of a space, as it is now.
    pub async fn member(&self, space: SpaceId, entity: EntityId) -> Result<Option<MemberRecord>> {
        let member: Option<MemberRecord> = self.table.get(&keys::member(space, entity)).await?;
        Ok(member.filter(|member| !member.left))
    }
}

pub(crate) fn no_such_space() -> Error {
    Error::NotFound("there is no such space".into())
}
