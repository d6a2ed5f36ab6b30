//! Cancels runs.

use smartspace_domain::{
    Error, Result,
    events::EventKind,
    ids::{EntityId, RunId, SpaceId},
    messages::Message,
    runs::{EndReason, Run},
};
use smartspace_store::runs::RunRecord;

use crate::Pipeline;

/// How often the runs of a deleted message are read.
const TRIES: usize = 20;

impl Pipeline {
    /// Cancels a run. Its worker can't write anything from then on. Fails with [`Error::Conflict`]
    /// if the run has already ended.
    pub async fn cancel(&self, id: RunId, reason: EndReason) -> Result<Run> {
        let record = self.store.runs().record(id).await?;
        self.cancel_record(&record, reason).await
    }

    pub(crate) async fn cancel_record(&self, record: &RunRecord, reason: EndReason) -> Result<Run> {
        let canceled = self.store.runs().cancel(record, reason, &self.token(), self.now()).await?;
        self.queue_runs(canceled.next).await;
        self.follow_cancel(&canceled.run, None).await
    }

    /// The consequences of a stored cancellation: the worker stops, followers are notified, and
    /// open forms close. `by` is the run that absorbed this one, if any.
    pub async fn follow_cancel(&self, canceled: &RunRecord, by: Option<RunId>) -> Result<Run> {
        // First stop the worker: its model is still writing.
        self.cancel_signal.ring(canceled.id);
        let run = self.store.runs().get(canceled).await?;
        self.announce_run(canceled, run.clone(), |run| EventKind::RunCanceled { run, by }).await;
        self.close_calls_now(canceled).await;
        Ok(run)
    }

    /// Cancels all active runs that a space triggered, or only those of one agent.
    pub(crate) async fn cancel_all(&self, space: SpaceId, agent: Option<EntityId>) -> Result<()> {
        let active = match agent {
            // The agent's items show a new run at once; the index shows it a little later.
            Some(agent) => {
                self.store
                    .runs()
                    .still_active(&self.store.agent_state().active(agent).await?)
                    .await?
            }
            None => self.store.runs().active_in_space(space).await?,
        };
        for record in active.iter().filter(|record| record.space_id() == Some(space)) {
            self.remove_run(record).await?;
        }
        Ok(())
    }

    /// Cancels all active runs of a retired agent.
    pub(crate) async fn cancel_all_of(&self, agent: EntityId) -> Result<()> {
        let active = self.store.agent_state().active(agent).await?;
        for record in self.store.runs().still_active(&active).await? {
            self.remove_run(&record).await?;
        }
        Ok(())
    }

    /// Cancels the active runs that a deleted message has triggered, and that answer no other
    /// message that still exists. May be repeated.
    pub async fn cancel_all_of_deleted(&self, message: &Message) -> Result<()> {
        let Message { space_id: space, seq, .. } = *message;
        let dispatch = message.dispatch.iter().flatten();
        let triggered: Vec<_> = dispatch.filter_map(|decision| decision.run_id).collect();
        let runs = self.store.runs();
        for _ in 0..TRIES {
            let mut has_changed = false;
            for run in runs.left_by_deleted(space, seq, &triggered).await? {
                match runs.cancel_deleted(&run, &self.token(), self.now()).await {
                    Ok(Some(canceled)) => {
                        self.queue_runs(canceled.next).await;
                        self.follow_cancel(&canceled.run, None).await?;
                    }
                    // It has done something since it was read, or another message has joined it.
                    Ok(None) => has_changed = true,
                    // The run ended meanwhile.
                    Err(Error::Conflict(_) | Error::NotFound(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            if !has_changed {
                return Ok(());
            }
        }
        Err(Error::Retry("the runs of this message change all the time".into()))
    }

    async fn remove_run(&self, record: &RunRecord) -> Result<()> {
        match self.cancel_record(record, EndReason::Removed).await {
            // The run ended or was deleted meanwhile.
            Ok(_) | Err(Error::Conflict(_) | Error::NotFound(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
