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
        self.announce(canceled.space_id, Happening::RunCanceled { run: Box::new(run.clone()), by }).await;
        self.close_calls_now(canceled).await;
        Ok(run)
    }

    /// Cancels all active runs of a space, or those of one agent there.
    pub(crate) async fn cancel_all(&self, space: SpaceId, agent: Option<EntityId>) -> Result<()> {
        for record in self.store.active_in_space(space).await? {
            if agent.is_none_or(|agent| record.agent_id == agent) {
                match self.cancel_record(&record, EndReason::Removed).await {
                    // It ended by itself meanwhile.
                    Ok(_) | Err(Error::Conflict(_) | Error::NotFound(_)) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }
}
