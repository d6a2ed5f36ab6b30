//! Read positions that wait to be sent to the followers of a space: see [`super::unshown`].

use smartspace_domain::{
    Time,
    events::ReadPosition,
    ids::{EntityId, SpaceId},
};

use crate::{
    Members, Result,
    spaces::unshown::{ShownItem, UnshownItem},
    table::keys,
};

/// The read positions that are not sent yet. The position of the entity `e` is the attribute `r_e`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnshownReads {
    /// The positions, in the order of the entities' ids.
    pub reads: Vec<ReadPosition>,
    state: ShownItem,
}

impl UnshownReads {
    fn of(item: &UnshownItem) -> Self {
        let position = |(entity, seq): (&str, u64)| {
            Some(ReadPosition { entity_id: entity.parse().ok()?, seq })
        };
        let mut reads: Vec<_> = item.with_prefix("r_").filter_map(position).collect();
        reads.sort_unstable_by_key(|read| read.entity_id);
        Self { reads, state: item.shown() }
    }
}

impl Members<'_> {
    /// Notes a read position to be sent. Returns when the caller has to start the job that sends
    /// it, or `None` if another caller starts it.
    pub async fn note_read(
        self,
        space: SpaceId,
        entity: EntityId,
        seq: u64,
        now: Time,
    ) -> Result<Option<Time>> {
        let attribute = format!("r_{entity}");
        self.store.note_unshown(keys::unshown_reads(space), &attribute, seq, now).await
    }

    /// The read positions that are not sent yet.
    pub async fn unshown_reads(self, space: SpaceId) -> Result<Option<UnshownReads>> {
        let item = self.store.unshown(&keys::unshown_reads(space)).await?;
        Ok(item.as_ref().map(UnshownReads::of))
    }

    /// Deletes positions that have been sent. Returns when the caller has to start the next job, if
    /// a position has moved in between.
    pub async fn forget_shown_reads(
        self,
        space: SpaceId,
        shown: &UnshownReads,
        now: Time,
    ) -> Result<Option<Time>> {
        self.store.forget_shown(keys::unshown_reads(space), shown.state, now).await
    }
}
