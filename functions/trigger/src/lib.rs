//! What takes longer than a request: waking more agents than a transaction holds, and finishing what a change began; and what comes at its time: plans,
//! and forms that expire.

use futures::future::try_join_all;
use smartspace_domain::{
    Error, Result,
    entities::EntityType,
    events::Happening,
    ids::{RunId, SpaceId},
    jobs::{RunJob, TriggerJob},
    shares::Cause,
};
use smartspace_pipeline::Pipeline;
use smartspace_store::{
    messages::MessageRecord,
    runs::{ActiveRecord, RunRecord},
};

/// How many runs are written side by side.
const SIDE_BY_SIDE: usize = 16;

/// What this function needs.
#[derive(Clone, Debug)]
pub struct Triggers {
    /// The table and the queues.
    pub pipeline: Pipeline,
}

impl Triggers {
    /// Does one job; may be repeated.
    pub async fn handle(&self, job: &TriggerJob) -> Result<()> {
        match job {
            TriggerJob::Dispatch { space_id, seq } => self.dispatch(*space_id, *seq).await,
            TriggerJob::CloseCalls { run_id } => Box::pin(self.close_calls(*run_id)).await,
            TriggerJob::FirePlan { agent_id, plan_id, at } => self.pipeline.fire_plan(*agent_id, *plan_id, *at).await,
            TriggerJob::WakeRun { run_id } => {
                self.pipeline.wake(*run_id).await;
                Ok(())
            }
            TriggerJob::SettleEntity { entity_id } => self.pipeline.settle_entity(*entity_id).await,
            TriggerJob::SettleSpace { space_id } => self.pipeline.settle_space(*space_id).await,
        }
    }

    /// Closes the calls that a run which has ended left open.
    async fn close_calls(&self, run: RunId) -> Result<()> {
        match self.pipeline.store.run_record(run).await {
            Ok(run) => self.pipeline.close_calls(&run).await,
            // It was dropped.
            Err(Error::NotFound(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Decides whom a message wakes, unless that is decided; then works from what is stored, however often it is repeated.
    async fn dispatch(&self, space: SpaceId, seq: u64) -> Result<()> {
        let store = &self.pipeline.store;
        let Some(record) = store.message_record(space, seq).await? else { return Ok(()) };
        let decides = !record.is_decided();
        let mut taken = Vec::new();
        if decides {
            let decided = store.decide_late(space, &record, self.pipeline.now()).await?;
            store.decide_message(space, seq, &decided.dispatch, self.pipeline.now()).await?;
            taken = decided.taken;
        }
        let Some(record) = store.message_record(space, seq).await? else { return Ok(()) };
        let message = store.whole(space, vec![record.clone()]).await?.pop();
        let Some(message) = message else { return Ok(()) };
        let name = store.space_record(space).await?.settings.name;
        let woken = message.dispatch.iter().flatten().filter_map(|it| Some((it.agent_id, it.run_id?, it.source?)));
        let runs: Vec<_> =
            woken.map(|(agent, run, source)| RunRecord::woken(run, agent, space, &record, source, self.pipeline.now())).collect();
        let mut jobs = Vec::with_capacity(runs.len());
        for some in runs.chunks(SIDE_BY_SIDE) {
            let writes: Vec<_> = some.iter().map(|run| self.wake(run, space, &name, &record)).collect();
            jobs.extend(try_join_all(writes).await?.into_iter().flatten());
        }
        self.pipeline.queue_runs(jobs).await;
        store.message_settled(space, seq).await?;
        let cause = Cause::member(record.sender.id, record.sender.kind == EntityType::Human);
        store.count_runs(&taken, &cause, self.pipeline.now()).await;
        if decides {
            self.pipeline.announce(space, Happening::MessageUpdated { message }).await;
        }
        Ok(())
    }

    /// Writes one run. The job that goes on with it; none where it is past being queued.
    async fn wake(&self, run: &RunRecord, space: SpaceId, space_name: &str, message: &MessageRecord) -> Result<Option<RunJob>> {
        let active = ActiveRecord::woken(run, space, space_name, message);
        Ok(self.pipeline.store.create_run(run, &active).await?.then(|| run.job()))
    }
}
