//! Read positions. The entity's own connections learn of a position at once, the followers of the
//! space within two seconds, together with all others that moved meanwhile.

use futures::future::join;
use smartspace_domain::{
    Error, Result,
    events::{Event, EventKind, ReadPosition},
    ids::{EntityId, SpaceId},
    jobs::{BroadcastJob, TriggerJob},
    spaces::Looked,
};
use smartspace_store::spaces::members::ReadUpTo;

use crate::{Pipeline, queue};

/// The greatest number of positions in one event. More do not fit a frame.
const READS_OF_EVENT: usize = 200;

impl Pipeline {
    /// Moves a member's read position forward to `seq`, and announces it. Returns the position.
    pub async fn read_up_to(&self, space: SpaceId, entity: EntityId, seq: u64) -> Result<Looked> {
        let read = self.store.members().read_up_to(space, entity, seq).await?;
        let ReadUpTo { seq, cards, moved } = read;
        if moved {
            let read = ReadPosition { entity_id: entity, seq };
            let (space_id, entity_id, cards) = (space, entity, Some(cards));
            let own = BroadcastJob::OwnRead { space_id, entity_id, seq, cards };
            join(queue(&*self.broadcasts, vec![own]), self.announce_read(space, read)).await;
        }
        Ok(Looked { seq, cards })
    }

    /// Lets the followers of a space know of a read position within two seconds.
    pub(crate) async fn announce_read(&self, space: SpaceId, read: ReadPosition) {
        let ReadPosition { entity_id, seq } = read;
        match self.store.members().note_read(space, entity_id, seq, self.now()).await {
            Ok(Some(at)) => self.alarms.set(at, TriggerJob::ShowReads { space_id: space }).await,
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(%space, %error, "a read position could not be joined with others");
                self.announce(space, EventKind::read(read, &[])).await;
            }
        }
    }

    /// Sends the followers of a space the read positions that wait for it.
    pub async fn show_reads(&self, space: SpaceId) -> Result<()> {
        let Some(unshown) = self.store.members().unshown_reads(space).await? else {
            return Ok(());
        };
        let jobs = unshown.reads.chunks(READS_OF_EVENT).filter_map(|reads| {
            let (first, others) = reads.split_first()?;
            let what = EventKind::read(*first, others);
            let event = Event { space_id: space, at: self.now(), what };
            Some(event.into())
        });
        self.broadcasts
            .send(jobs.collect())
            .await
            .map_err(|error| Error::Retry(error.to_string()))?;
        let next = self.store.members().forget_shown_reads(space, &unshown, self.now()).await?;
        if let Some(at) = next {
            self.alarms.set(at, TriggerJob::ShowReads { space_id: space }).await;
        }
        Ok(())
    }
}
