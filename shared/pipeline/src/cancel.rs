//! The end of a run from outside.

use smartspace_domain::{
    Error, Result,
    events::Happening,
    ids::{EntityId, RunId, SpaceId},
    runs::{EndReason, Run},
};
use smartspace_store::runs::RunRecord;

use crate::Pipeline;

impl Pipeline {
    /// Cancels a run; its worker writes nothing more. [`Error::Conflict`] where it had ended.
    pub async fn cancel(&self, id: RunId, reason: EndReason) -> Result<Run> {
        let record = self.store.run_record(id).await?;
        self.cancel_record(&record, reason).await
    }

    async fn cancel_record(&self, record: &RunRecord, reason: EndReason) -> Result<Run> {
        let canceled = self.store.cancel(record, reason, &self.token(), self.now()).await?;
        self.follow_cancel(&canceled, None).await
    }

    /// What follows once a run was ended from outside: its worker stops, everyone is told, its forms close. `by` is the run that absorbed it.
    pub async fn follow_cancel(&self, canceled: &RunRecord, by: Option<RunId>) -> Result<Run> {
        // First of all: its model is still writing.
        self.bell.ring(canceled.id);
        let run = self.store.run(canceled).await?;
        self.announce_run(canceled, run.clone(), |run| Happening::RunCanceled { run, by }).await;
        self.close_calls_now(canceled).await;
        Ok(run)
    }

    /// Cancels all active runs that a space woke, or those of one agent there.
    pub(crate) async fn cancel_all(&self, space: SpaceId, agent: Option<EntityId>) -> Result<()> {
        let active = match agent {
            // An agent's own items show a run at once that the index shows a little later.
            Some(agent) => self.store.records_of(&self.store.agent_context(agent).await?.active).await?,
            None => self.store.active_in_space(space).await?,
        };
        for record in active.iter().filter(|record| record.space_id() == Some(space)) {
            self.remove_run(record).await?;
        }
        Ok(())
    }

    /// Cancels all active runs of an agent that is retired.
    pub(crate) async fn cancel_all_of(&self, agent: EntityId) -> Result<()> {
        let active = self.store.agent_context(agent).await?.active;
        for record in self.store.records_of(&active).await? {
            self.remove_run(&record).await?;
        }
        Ok(())
    }

    async fn remove_run(&self, record: &RunRecord) -> Result<()> {
        match self.cancel_record(record, EndReason::Removed).await {
            // It ended by itself meanwhile.
            Ok(_) | Err(Error::Conflict(_) | Error::NotFound(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
