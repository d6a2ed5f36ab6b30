//! The ends of runs: how each one is announced and logged, and the end of one that no worker's loop
//! ends.

use smartspace_domain::{
    Result,
    events::EventKind,
    ids::LeaseId,
    runs::{Run, RunError, RunStatus},
};
use smartspace_store::runs::{RunRecord, endings::Ending};

use crate::Pipeline;

impl Pipeline {
    /// Ends a run under its lease: stores the end, queues the runs that may start now, notifies
    /// the followers, and closes what the run has asked people. Fails with
    /// [`smartspace_domain::Error::LeaseLost`] if the lease does not hold.
    pub async fn end_run(&self, run: &RunRecord, lease: &LeaseId, ending: &Ending) -> Result<Run> {
        let ended = self.store.runs().finish(run, lease, ending, self.now()).await?;
        self.queue_runs(ended.next).await;
        let ended = ended.run;
        if let Some(error) = &ending.error {
            log_failure(&ended, error);
        }
        let run = self.store.runs().get(&ended).await?;
        self.announce_run(&ended, run.clone(), end_event).await;
        self.close_calls_now(&ended).await;
        Ok(run)
    }
}

/// The event that says how a run has ended.
pub fn end_event(run: Box<Run>) -> EventKind {
    match run.status {
        RunStatus::Failed => EventKind::RunFailed { run },
        RunStatus::Canceled => EventKind::RunCanceled { run, by: None },
        _ => EventKind::RunCompleted { run },
    }
}

/// Logs why a run failed.
pub fn log_failure(run: &RunRecord, RunError { code, message }: &RunError) {
    let agent = run.agent_id;
    tracing::warn!(event = "run_failed", run = %run.id, %agent, ?code, message, "a run failed");
}
