//! The ends of runs: how each one is announced and logged, and the end of one that no worker's loop
//! ends.

use futures::future::join_all;
use smartspace_domain::{
    Result,
    events::{EventKind, ReadPosition},
    ids::LeaseId,
    runs::{Run, RunError, RunStatus},
};
use smartspace_store::runs::{RunRecord, endings::Ending, steps::Marks};

use crate::Pipeline;

impl Pipeline {
    /// Ends a run under its lease: stores the end, queues the runs that may start now, notifies
    /// the followers, closes what the run has asked people, and looks after the question that it
    /// has left to silence. Fails with
    /// [`smartspace_domain::Error::LeaseLost`] if the lease does not hold.
    pub async fn end_run(&self, run: &RunRecord, lease: &LeaseId, ending: &Ending) -> Result<Run> {
        let ended = self.store.runs().finish(run, lease, ending, self.now()).await?;
        self.queue_runs(ended.next).await;
        log_end(&ended.run, ending.error.as_ref());
        let run = self.store.runs().get(&ended.run).await?;
        self.announce_end(&ended.run, run.clone(), &ended.read).await;
        self.close_calls_now(&ended.run).await;
        self.look_after_now(&ended.run).await;
        Ok(run)
    }

    /// Notifies the followers of every space that shows a run of its end, and of how far its agent
    /// has read there. In a space that does not show the run, nothing else says that the agent has
    /// read it.
    pub async fn announce_end(&self, record: &RunRecord, run: Run, read: &Marks) {
        let event = |space, run| end_event(run, read.get(&space).copied());
        let shown = self.announce_where_shown(record, run, event).await;
        let others = read.iter().filter(|read| !shown.contains(read.0));
        join_all(others.map(|(space, seq)| {
            self.announce_read(*space, ReadPosition { entity_id: record.agent_id, seq: *seq })
        }))
        .await;
    }
}

/// The event that says how a run has ended, in a space that its agent has read up to `read_seq`.
fn end_event(run: Box<Run>, read_seq: Option<u64>) -> EventKind {
    match run.status {
        RunStatus::Failed => EventKind::RunFailed { run },
        RunStatus::Canceled => EventKind::RunCanceled { run, by: None },
        _ => EventKind::RunCompleted { run, read_seq },
    }
}

/// Logs how a run ended. An alarm compares the number of failed runs with that of all that ended.
pub fn log_end(run: &RunRecord, error: Option<&RunError>) {
    let agent = run.agent_id;
    match (run.status, error) {
        (RunStatus::Failed, Some(RunError { code, message })) => tracing::warn!(
            event = "run_failed", run = %run.id, %agent, ?code, message, "a run failed"
        ),
        (RunStatus::Completed, _) => {
            tracing::info!(event = "run_completed", run = %run.id, %agent, "a run completed");
        }
        _ => {}
    }
}
