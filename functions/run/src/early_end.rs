//! Ends a run before a worker works on it.

use smartspace_domain::{
    Error, Result,
    events::EventKind,
    ids::LeaseId,
    runs::{EndReason, FailureCode, RunError, RunStatus},
};
use smartspace_store::runs::{RunRecord, endings::Ending, steps::Marks};

use crate::Runs;

impl Runs {
    /// Ends a run that can't be worked on: its workers died too often, or its agent was deleted.
    pub(crate) async fn end_early(
        &self,
        run: &RunRecord,
        lease: &LeaseId,
        status: RunStatus,
    ) -> Result<()> {
        let failed = status == RunStatus::Failed;
        let error = failed.then(|| RunError {
            code: FailureCode::Attempts,
            message:
                "the run was given up: it was started five times, and its process died each time"
                    .into(),
        });
        let ending = Ending {
            status,
            reason: (!failed).then_some(EndReason::Removed),
            skip_reason: None,
            error,
            used: run.used.clone(),
            last_step: None,
            prompt: None,
            marks: Marks::new(),
        };
        let ended =
            match self.pipeline.store.runs().finish(run, lease, &ending, self.pipeline.now()).await
            {
                Ok(ended) => ended,
                Err(Error::LeaseLost) => return Ok(()),
                Err(error) => return Err(error),
            };
        self.pipeline.queue_runs(ended.next).await;
        let ended = ended.run;
        let run = self.pipeline.store.runs().get(&ended).await?;
        let event = |run| {
            if failed {
                EventKind::RunFailed { run }
            } else {
                EventKind::RunCanceled { run, by: None }
            }
        };
        self.pipeline.announce_run(&ended, run, event).await;
        self.pipeline.close_calls_now(&ended).await;
        Ok(())
    }
}
