//! Builds the blocks of words that searches read instead of messages. A search that misses some
//! starts a job, which builds them from the newest messages on. Each step may be repeated. A lost
//! job loses nothing: the next search starts another one.

use std::time::Duration;

use futures::future::try_join_all;
use smartspace_domain::{
    Error, Result, Time, ids::SpaceId, jobs::TriggerJob, search::BLOCK_MESSAGES,
};
use smartspace_store::search::Built;
use tokio::time::Instant;

use crate::Pipeline;

/// How many blocks one job builds, and how long it works.
const BLOCKS: usize = 200;
const WORKS_FOR: Duration = Duration::from_secs(40);
/// How many blocks are looked for at once.
const LOOKED_FOR: u64 = 64;
/// How many blocks are read at the same time. They are stored one after the other, because each
/// has a condition on the same item.
const READ_AT_ONCE: usize = 4;
/// How often a block is read again because messages of the space were edited or deleted meanwhile.
const TRIES: usize = 3;
/// A claim that lasts longer than this needs no renewal yet.
const CLAIM_LEFT: Duration = Duration::from_secs(10);

impl Pipeline {
    /// Builds the blocks of a space that are not stored, or those of them with numbers lower than
    /// `below`. Other jobs go on after 200 blocks or 40 seconds.
    pub async fn index_messages(&self, space: SpaceId, below: Option<u64>) -> Result<()> {
        match self.build_missing(space, below).await {
            Ok(None) => Ok(()),
            Ok(below) => {
                let next = TriggerJob::IndexMessages { space_id: space, below };
                self.queue_triggers(vec![next]).await;
                Ok(())
            }
            // The space was deleted meanwhile, and its blocks with it.
            Err(Error::NotFound(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Returns below which block another job goes on, if there are more.
    async fn build_missing(&self, space: SpaceId, below: Option<u64>) -> Result<Option<u64>> {
        let Some(head) = self.store.members().head(space).await? else { return Ok(None) };
        let full = head.seq / BLOCK_MESSAGES;
        let mut below = below.map_or(full, |below| below.min(full));
        if below == 0 {
            return Ok(None);
        }
        let blocks = self.store.blocks();
        let mut claim = blocks.renew_building(space, self.now()).await?;
        let until = Instant::now() + WORKS_FOR;
        let (mut tried, mut built) = (0, 0);
        while below > 0 {
            let first = below.saturating_sub(LOOKED_FOR);
            let missing = blocks.missing(space, first, below - 1).await?;
            for numbers in missing.chunks(READ_AT_ONCE) {
                if tried >= BLOCKS || Instant::now() >= until {
                    blocks.renew_building(space, self.now()).await?;
                    return Ok(numbers.first().map(|newest| newest + 1));
                }
                claim = self.keep_building(space, claim).await?;
                built += self.build_these(space, numbers).await?;
                tried += numbers.len();
            }
            below = first;
        }
        if tried > 0 && built == 0 {
            // Every search of the space would start a job that builds nothing, too.
            blocks.pause_building(space, self.now()).await?;
        } else {
            blocks.end_building(space, claim).await?;
        }
        Ok(None)
    }

    /// Renews the claim of a job that goes on, if it ends soon.
    async fn keep_building(&self, space: SpaceId, claim: Time) -> Result<Time> {
        if claim > self.now() + CLAIM_LEFT {
            return Ok(claim);
        }
        self.store.blocks().renew_building(space, self.now()).await
    }

    /// Builds some blocks, and returns how many of them are stored now. Those whose messages change
    /// all the time are left to a later search.
    async fn build_these(&self, space: SpaceId, numbers: &[u64]) -> Result<usize> {
        let blocks = self.store.blocks();
        let mut left = numbers.to_vec();
        let mut built = 0;
        for _ in 0..TRIES {
            let drafts = left.iter().map(|number| blocks.draft(space, *number));
            let drafts = try_join_all(drafts).await?;
            let drafts: Vec<_> = left.drain(..).zip(drafts).collect();
            for (number, draft) in drafts {
                let Some(draft) = draft else { continue };
                match blocks.store(draft).await? {
                    Built::Now | Built::Before => built += 1,
                    Built::Outdated => left.push(number),
                }
            }
            if left.is_empty() {
                break;
            }
        }
        Ok(built)
    }
}
