//! The members of spaces, as last seen by this process. `HEAD.roster` is the version of a roster.
//! The transaction of a decision that is based on an older roster fails.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    append_limits::AppendWindow,
    entities::EntityType,
    ids::{ChainId, EntityId, SpaceId},
    quota::RateWindow,
};

pub use crate::shared::member::MemberRecord;
use crate::{
    Error, Members, Result,
    shared::space::no_such_space,
    table::{Query, key_of, keys, read},
};

/// How long messages do not move a space in the index by activity after one has.
const MOVED_EVERY: Duration = Duration::from_mins(1);

/// The part of a space that changes with each message, and the version of the roster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub seq: u64,
    pub depth: u32,
    /// The chain of the last message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain: Option<ChainId>,
    /// The number of the last outside cause: a message of a person, or of a run that a plan or a
    /// service triggered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<u64>,
    /// How often a message of the space was edited or deleted, or got its first reaction. A reader
    /// that keeps messages in memory reads them again if it differs.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub changed: u64,
    /// The version of the roster. It is raised when an entity joins or leaves, when a member's name
    /// or role changes, with the settings of the space, and when a chain is stopped in it.
    pub roster: u64,
    /// The runs of the last minute in which a message triggered an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minute: Option<RateWindow>,
    /// The messages of the last second in which one was stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<AppendWindow>,
    /// How many messages are tool cards.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cards: u64,
    /// When the last message was stored, or else the space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Time>,
    /// Index of all spaces by activity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub g2pk: Option<String>,
    /// The place there. Messages move it at most once a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub g2sk: Option<String>,
}

impl Head {
    /// The head of a new space.
    pub(crate) fn new(space: SpaceId, now: Time) -> Self {
        Self {
            seq: 0,
            depth: 0,
            chain: None,
            outside: None,
            changed: 0,
            roster: 1,
            minute: None,
            second: None,
            cards: 0,
            at: Some(now),
            g2pk: Some(keys::SPACES_BY_ACTIVITY.to_owned()),
            g2sk: Some(keys::active_space(now, space)),
        }
    }

    /// The place in the index to which a message moves the space, if it moves it.
    pub(crate) fn next_place(&self, space: SpaceId, now: Time) -> Option<String> {
        let place = self.g2sk.as_deref().and_then(|place| place.split('#').next()?.parse().ok());
        let is_due = place.is_none_or(|moved: Time| now.since(moved) >= MOVED_EVERY);
        (is_due || self.seq == 0).then(|| keys::active_space(now, space))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The members of a space at one version. Their cursors and read positions may be out of date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roster {
    /// The space's head when this was read.
    pub head: Head,
    pub members: Vec<MemberRecord>,
}

impl Roster {
    /// The member with this id.
    pub fn member(&self, id: EntityId) -> Option<&MemberRecord> {
        self.members.iter().find(|member| member.entity_id == id)
    }

    /// The members with their names, for mentions.
    pub fn names(&self) -> impl Iterator<Item = (EntityId, &str)> {
        self.members.iter().map(|member| (member.entity_id, member.name.as_str()))
    }

    /// Whether an entity is a member and a person.
    pub fn is_person(&self, id: EntityId) -> bool {
        self.member(id).is_some_and(|member| member.kind == EntityType::Human)
    }

    /// Whether no other person is a member.
    pub fn is_only_person(&self, id: EntityId) -> bool {
        let is_other = |it: &MemberRecord| it.kind == EntityType::Human && it.entity_id != id;
        !self.members.iter().any(is_other)
    }

    /// The members that are agents.
    pub fn agents(&self) -> impl Iterator<Item = EntityId> {
        self.members
            .iter()
            .filter(|member| member.kind == EntityType::Agent)
            .map(|member| member.entity_id)
    }
}

/// Rosters, as last seen by this process.
#[derive(Debug, Default)]
pub struct RosterCache {
    rosters: Mutex<HashMap<SpaceId, Arc<Roster>>>,
    /// The versions without a member that this process has removed.
    removed_at: Mutex<HashMap<SpaceId, u64>>,
}

impl RosterCache {
    const MOST: usize = 1_000;

    pub(crate) fn last_seen(&self, space: SpaceId) -> Option<Arc<Roster>> {
        locked(&self.rosters).get(&space).cloned()
    }

    fn saw(&self, space: SpaceId, roster: Arc<Roster>) {
        put_bounded(&mut locked(&self.rosters), space, roster);
    }

    /// Notes the version of a roster without a member that this process has removed.
    pub(crate) fn removed_at(&self, space: SpaceId, version: u64) {
        put_bounded(&mut locked(&self.removed_at), space, version);
    }
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn put_bounded<T>(known: &mut HashMap<SpaceId, T>, space: SpaceId, value: T) {
    if known.len() >= RosterCache::MOST {
        known.clear();
    }
    known.insert(space, value);
}

impl Members<'_> {
    /// Reads the roster of a space. `HEAD` sorts first, so a roster is never older than its
    /// version.
    pub async fn roster(self, space: SpaceId) -> Result<Arc<Roster>> {
        let head = keys::space_head(space).sk;
        let items = self
            .store
            .table
            .all(Query::of(keys::space(space)).between(&head, &format!("{}~", keys::MEMBER)))
            .await?;
        let mut found = None;
        let mut members = Vec::with_capacity(items.len());
        for item in items {
            match key_of(&item)?.sk.as_str() {
                sk if sk == head => found = Some(read::<Head>(item)?),
                sk if sk.starts_with(keys::MEMBER) => members.push(read::<MemberRecord>(item)?),
                _ => {}
            }
        }
        let head = found.ok_or_else(no_such_space)?;
        let roster = Arc::new(Roster { head, members });
        self.store.rosters.saw(space, Arc::clone(&roster));
        Ok(roster)
    }

    /// The roster of a space whose current version is known. It is read only if this process has
    /// not seen that version.
    pub async fn roster_of(self, space: SpaceId, version: u64) -> Result<Arc<Roster>> {
        match self.store.rosters.last_seen(space) {
            Some(seen) if seen.head.roster == version => Ok(seen),
            _ => self.roster(space).await,
        }
    }

    /// Whether this process has removed a member since the roster had this version. Others may have
    /// removed one, too.
    pub fn has_removed_since(self, space: SpaceId, version: u64) -> bool {
        locked(&self.store.rosters.removed_at).get(&space).is_some_and(|at| *at > version)
    }

    /// The current rosters of spaces, without those of deleted spaces. One batch reads the heads,
    /// and only rosters that have changed since this process saw them are read.
    pub async fn rosters(self, spaces: &[SpaceId]) -> Result<Vec<Arc<Roster>>> {
        let current = self.heads(spaces).await?;
        let rosters = current.into_iter().map(async |(space, head)| {
            match self.roster_of(space, head.roster).await {
                Err(Error::NotFound(_)) => Ok(None),
                read => read.map(Some),
            }
        });
        let rosters = futures::future::join_all(rosters).await;
        rosters.into_iter().filter_map(Result::transpose).collect()
    }

    /// The current heads of spaces, without those of deleted spaces.
    pub async fn heads(self, spaces: &[SpaceId]) -> Result<Vec<(SpaceId, Head)>> {
        let wanted: Vec<_> = spaces.iter().map(|space| keys::space_head(*space)).collect();
        let mut found = self.store.table.get_all(&wanted).await?;
        let mut heads = Vec::with_capacity(spaces.len());
        for (space, key) in spaces.iter().zip(&wanted) {
            let head: Option<Head> = found.take(key)?;
            heads.extend(head.map(|head| (*space, head)));
        }
        Ok(heads)
    }

    /// The current head of a space, or `None` if the space does not exist. This is the cheapest way
    /// to learn whether the roster has changed.
    pub async fn head(self, space: SpaceId) -> Result<Option<Head>> {
        self.store.table.get(&keys::space_head(space)).await
    }
}
