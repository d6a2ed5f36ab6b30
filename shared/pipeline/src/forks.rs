//! Forks runs.

use smartspace_domain::{Result, agents::ForkChanges, ids::RunId, runs::Run};
use smartspace_store::{idempotency::PostKey, runs::RunRecord};

use crate::Pipeline;

impl Pipeline {
    /// Makes a dry run that replays the steps of `of` before `step`, and queues it. A second
    /// request with the same key returns the run that the first one made.
    pub async fn fork(
        &self,
        of: &RunRecord,
        step: u32,
        changes: &ForkChanges,
        key: &PostKey,
    ) -> Result<Run> {
        let id = RunId::new(self.now(), self.ids.random());
        let fork = self.store.runs().fork(of, step, changes, id, key, self.now()).await?;
        if fork.status.is_active() {
            self.queue_runs(vec![fork.job()]).await;
        }
        self.store.runs().get(&fork).await
    }
}
