//! The active runs that a deleted message has triggered.

use smartspace_domain::{
    ids::{RunId, SpaceId},
    jobs::MessageRef,
};

use crate::{Result, Runs, runs::RunRecord};

impl Runs<'_> {
    /// The active runs that the deleted message `seq` has triggered or joined, and that have no
    /// other message that still exists. `triggered` are the runs of its dispatch: the index shows
    /// others a little later.
    pub async fn left_by_deleted(
        self,
        space: SpaceId,
        seq: u64,
        triggered: &[RunId],
    ) -> Result<Vec<RunRecord>> {
        let (of_dispatch, listed) = futures::try_join!(
            self.records(triggered.iter().copied()),
            self.active_in_space(space)
        )?;
        let joined: Vec<_> = of_dispatch.iter().filter_map(|run| run.into_run_id).collect();
        let joined = if joined.is_empty() { Vec::new() } else { self.records(joined).await? };
        let mut found: Vec<RunRecord> = Vec::new();
        for run in of_dispatch.into_iter().chain(joined).chain(listed) {
            let is_known = found.iter().any(|known| known.id == run.id);
            if !is_known && run.status.is_active() && messages_of(&run, space).contains(&seq) {
                found.push(run);
            }
        }
        let mut left = Vec::new();
        for run in found {
            let others: Vec<_> = messages_of(&run, space)
                .into_iter()
                .filter(|other| *other != seq)
                .map(|other| (space, other))
                .collect();
            let others = self.store.messages().at(&others).await?;
            if others.iter().flatten().all(|message| message.deleted.is_some()) {
                left.push(run);
            }
        }
        Ok(left)
    }
}

/// The messages of a space that a run answers.
fn messages_of(run: &RunRecord, space: SpaceId) -> Vec<u64> {
    match run.place() {
        Some(MessageRef { space_id, seq }) if space_id == space => {
            run.joined.iter().copied().chain([seq]).collect()
        }
        _ => Vec::new(),
    }
}
