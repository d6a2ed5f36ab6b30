//! Spaces without members. A space whose last member has left is due, and ends unless an entity
//! joins it before that. A space that has never had a member stays.

use smartspace_domain::{
    Time,
    ids::{LeaseId, SpaceId},
};

use crate::{
    Error, Result, Spaces, Store,
    shared::space::SpaceRecord,
    table::{keys, write::Write},
};

/// What a departure changes in the item of a space.
pub(super) struct AfterLeaving {
    pub(super) loses_admin: bool,
    /// When the last member leaves. `None` if another one stays.
    pub(super) emptied_at: Option<Time>,
}

impl AfterLeaving {
    /// The write, if something changes. It needs no condition: whatever else changes the members or
    /// the settings raises the version of the roster, too.
    pub(super) fn write(&self, store: &Store, space: SpaceId) -> Result<Option<Write>> {
        let mut sets = Vec::new();
        if self.loses_admin {
            sets.push("#settings.#adminAgentId = :nobody, #rev = #rev + :one");
        }
        if self.emptied_at.is_some() {
            sets.push("#emptiedAt = :emptied, #due = :due, #dueAt = :dueAt");
        }
        if sets.is_empty() {
            return Ok(None);
        }
        let mut write = Write::update(keys::space_meta(space), format!("SET {}", sets.join(", ")));
        if self.loses_admin {
            write = write.value(":nobody", None::<SpaceId>)?.value(":one", 1)?;
        }
        if let Some(at) = self.emptied_at {
            write = write
                .value(":emptied", at)?
                .value(":due", keys::due(space.part_of(keys::DUE_PARTS)))?
                .value(":dueAt", at + store.empty_spaces_kept)?;
        }
        Ok(Some(write))
    }
}

/// The write with which an entity joins a space that has no members, so that the space stays.
pub(super) fn joined(space: &SpaceRecord) -> Option<Write> {
    let stays =
        Write::update(keys::space_meta(space.id), "REMOVE #emptiedAt, #due, #dueAt, #dueCount");
    space.emptied_at.map(|_| stays)
}

impl Spaces<'_> {
    /// Marks a space as deleted whose last member has left long enough ago. Returns whether this is
    /// so. `token` is made before the first try.
    pub async fn end_empty(self, record: &SpaceRecord, token: &LeaseId, now: Time) -> Result<bool> {
        let Some(emptied_at) = record.emptied_at else { return Ok(false) };
        if emptied_at + self.store.empty_spaces_kept > now {
            return Ok(false);
        }
        match self.delete_as(record.id, Some(emptied_at), token, now).await {
            Ok(()) => Ok(true),
            // An entity has joined it, or another job has ended it.
            Err(Error::NotFound(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
