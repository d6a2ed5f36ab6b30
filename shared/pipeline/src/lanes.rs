//! Follows up on lanes and slots: queues the runs that may start, and notifies spaces of those that
//! wait.

use smartspace_domain::{Error, events::EventKind, ids::EntityId, runs::Run};
use smartspace_store::runs::{RunRecord, lanes::Placement};

use crate::Pipeline;

impl Pipeline {
    /// Follows up on a triggered agent: queues the runs that start, and notifies the space.
    pub async fn follow_placement(&self, placement: Placement) {
        self.queue_runs(placement.jobs).await;
        for run in &placement.superseded {
            self.follow_ended(run).await;
        }
        if let Some((run, position)) = &placement.queued {
            self.announce_queued(run, *position).await;
        }
        if let Some(run) = &placement.never_started {
            self.follow_ended(run).await;
        }
    }

    /// Notifies the space that a run waits for its place in the lane or for a slot.
    pub async fn announce_queued(&self, run: &RunRecord, position: usize) {
        match self.store.runs().get(run).await {
            Ok(view) => {
                let event = |run| EventKind::RunQueued { run, position };
                self.announce_run(run, view, event).await;
            }
            Err(error) => {
                tracing::warn!(run = %run.id, %error, "nobody was notified that a run waits");
            }
        }
    }

    /// Notifies a space of runs that a message did not start.
    pub(crate) async fn announce_waiting(
        &self,
        queued: Vec<(Run, usize)>,
        never_started: Vec<Run>,
    ) {
        for (run, position) in queued {
            if let Some(space) = run.trigger.space_id() {
                let event = EventKind::RunQueued { run: Box::new(run), position };
                self.announce(space, event).await;
            }
        }
        for run in never_started {
            if let Some(space) = run.trigger.space_id() {
                let event = EventKind::RunCanceled { run: Box::new(run), by: None };
                self.announce(space, event).await;
            }
        }
    }

    /// The consequences for a run that a message has ended, or that never started because of one.
    pub(crate) async fn follow_ended(&self, run: &RunRecord) {
        if let Err(error) = self.follow_cancel(run, None).await {
            tracing::warn!(run = %run.id, %error, "nobody was notified that a run was replaced");
        }
    }

    /// Starts runs that wait for a slot, after an agent got more slots.
    pub async fn fill_slots(&self, agent: EntityId) {
        match self.store.runs().fill_slots(agent, self.now()).await {
            Ok(jobs) => self.queue_runs(jobs).await,
            // They start when a run of the agent ends.
            Err(error @ Error::Retry(_)) => {
                tracing::warn!(%agent, %error, "waiting runs were not started at once");
            }
            Err(error) => tracing::error!(%agent, %error, "waiting runs were not started at once"),
        }
    }
}
