//! Blocks: the words of 100 messages each, which searches read instead of the messages.
//!
//! Block *k* covers the numbers 100*k*+1 to 100*k*+100. It holds words and places, but no text.
//! Blocks are a cache: a message that no block covers is read itself, and losing all blocks loses
//! nothing. They have a partition of their own, so that searches take no read units from appends.
//!
//! An append writes no block. A search that misses blocks lets a job build them. The transaction
//! that edits or deletes a message, or shows in it that a file is deleted, also deletes the block
//! of the message and raises `META.rev`, on which every write of a block has a condition. So no
//! block ever has words that its messages no longer have.

mod building;
mod item;
mod reading;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use smartspace_domain::{Time, ids::SpaceId};

pub use self::{
    building::{BlockDraft, Built},
    reading::{BlockBounds, BlocksRead},
};
use crate::{
    Blocks, Result,
    shared::space::space_exists,
    table::{WriteError, keys, write::Write},
};

/// How long a job that builds blocks is left alone, unless it says that it goes on. Then a search
/// starts another one.
pub const BUILDING_FOR: Duration = Duration::from_secs(15);
/// How long no job is started after one that could build none of the missing blocks.
const BUILT_NONE_FOR: Duration = Duration::from_mins(1);

/// The state of the blocks of a space, as it is stored. A space that was never searched, and in
/// which no message was ever edited or deleted, has none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FindRecord {
    /// How often a block may have lost its messages: one of them was edited or deleted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rev: u64,
    /// Until when a job is expected to build blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub building_until: Option<Time>,
}

impl Blocks<'_> {
    /// Whether the caller has to queue the job that builds the blocks of a space. While one works,
    /// and for a minute after one that could build none, nobody has to. Returns false if the space
    /// is deleted.
    pub async fn claim_building(self, space: SpaceId, now: Time) -> Result<bool> {
        let is_building = |state: &FindRecord| state.building_until.is_some_and(|it| it > now);
        if is_building(&self.state(space).await?) {
            return Ok(false);
        }
        let until = now + BUILDING_FOR;
        let key = keys::find_meta(space);
        let claim = Write::count(key.clone(), "SET #buildingUntil = :until")
            .when("attribute_not_exists(#buildingUntil) OR #buildingUntil <= :now")
            .value(":until", until)?
            .value(":now", now)?;
        match self.store.table.transact(&[claim, space_exists(space)]).await {
            Ok(()) => Ok(true),
            // The first try took effect and its answer was lost, or another search came at the
            // same moment: then two jobs build, which is harmless.
            Err(WriteError::Refused(refusal)) => Ok(refusal
                .existing::<FindRecord>(&key)
                .is_some_and(|state| state.building_until == Some(until))),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Lets searches start no other job while one goes on building, until the returned time.
    pub async fn renew_building(self, space: SpaceId, now: Time) -> Result<Time> {
        let until = now + BUILDING_FOR;
        self.set_building(space, until).await?;
        Ok(until)
    }

    /// Lets searches start no job for a minute: those that are missing can't be built now.
    pub async fn pause_building(self, space: SpaceId, now: Time) -> Result<()> {
        self.set_building(space, now + BUILT_NONE_FOR).await
    }

    /// Lets the next search start a job at once, unless another job has renewed its claim since
    /// this one did so with the result `until`.
    pub async fn end_building(self, space: SpaceId, until: Time) -> Result<()> {
        let write = Write::update(keys::find_meta(space), "REMOVE #buildingUntil")
            .when("#buildingUntil = :until")
            .value(":until", until)?;
        self.store.table.write_where_it_holds(write).await
    }

    async fn set_building(self, space: SpaceId, until: Time) -> Result<()> {
        let write = Write::update(keys::find_meta(space), "SET #buildingUntil = :until")
            .value(":until", until)?;
        self.store.table.write_where_it_holds(write).await
    }

    /// The state of the blocks of a space.
    pub async fn state(self, space: SpaceId) -> Result<FindRecord> {
        let record: Option<FindRecord> = self.store.table.get(&keys::find_meta(space)).await?;
        Ok(record.unwrap_or_default())
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
