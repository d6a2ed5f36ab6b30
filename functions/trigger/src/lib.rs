//! Work that takes longer than a request: asking a router, triggering more agents than fit into a
//! transaction, finishing changes, and exporting traces. It also handles alarms: plans that fire
//! and forms that expire, and questions that nobody has answered.
//!
//! `docs/internals/plans-and-webhooks.md` and `docs/internals/traces.md` say more.

pub mod router;
pub mod traces;

use futures::future::{BoxFuture, join_all};
use smartspace_domain::{
    Error, Result,
    dispatch::Routing,
    entities::EntityType,
    events::EventKind,
    ids::{EntityId, RunId, SpaceId},
    jobs::TriggerJob,
    messages::Message,
    quota::{Bucket, QuotaUser},
};
use smartspace_pipeline::Pipeline;
use smartspace_ports::trace::{self, TraceParent};
use smartspace_store::{
    messages::{MessageRecord, append::Stored},
    optimistic_retry::RETRIED_FOR,
    runs::{ActiveRecord, RunRecord},
    spaces::LineAt,
};
use tokio::time::Instant;

use self::{
    router::{RouterOutcome, Routers},
    traces::Traces,
};

/// The number of runs that are written concurrently.
const CONCURRENT_WRITES: usize = 16;

/// The dependencies of the function.
#[derive(Clone)]
pub struct Triggers {
    /// The table and the queues.
    pub pipeline: Pipeline,
    pub routers: Routers,
    /// Where the traces of runs go. `None` if nowhere.
    pub traces: Option<Traces>,
}

impl Triggers {
    /// Handles one job. It may be repeated.
    ///
    /// Boxed here, so that the crates that call it need not compile it once more.
    pub fn handle<'a>(&'a self, job: &'a TriggerJob) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.handle_job(job))
    }

    async fn handle_job(&self, job: &TriggerJob) -> Result<()> {
        match job {
            TriggerJob::Dispatch { space_id, seq } => {
                match Box::pin(self.dispatch(*space_id, *seq)).await {
                    // The space was deleted meanwhile, which ends its runs.
                    Err(Error::NotFound(_)) => Ok(()),
                    dispatched => dispatched,
                }
            }
            TriggerJob::SettleRun { run_id } => Box::pin(self.settle_run(*run_id)).await,
            TriggerJob::FirePlan { agent_id, plan_id, at } => {
                // Not the trace in which the plan was made: it fires again and again.
                let firing = self.pipeline.fire_plan(*agent_id, *plan_id, *at);
                trace::within(TraceParent::begin(), firing).await
            }
            TriggerJob::WakeRun { run_id } => {
                self.pipeline.wake(*run_id).await;
                Ok(())
            }
            TriggerJob::SettleEntity { entity_id } => self.pipeline.settle_entity(*entity_id).await,
            TriggerJob::ShowReads { space_id } => self.pipeline.show_reads(*space_id).await,
            TriggerJob::ShowReactions { space_id } => self.pipeline.show_reactions(*space_id).await,
            TriggerJob::ShowPresence { space_id } => {
                self.pipeline.show_due_presence(*space_id).await
            }
            TriggerJob::ExportTrace { run_id, failed } => {
                Box::pin(self.export_trace(*run_id, *failed)).await
            }
            TriggerJob::SettleFile { space_id, attachment_id } => {
                self.pipeline.settle_file(*space_id, *attachment_id).await
            }
            TriggerJob::ExpireFile { space_id, attachment_id } => {
                self.pipeline.expire_file(*space_id, *attachment_id).await
            }
            TriggerJob::ForgetMessage { space_id, seq } => {
                Box::pin(self.pipeline.forget_message(*space_id, *seq)).await
            }
            TriggerJob::IndexMessages { space_id, below } => {
                Box::pin(self.pipeline.index_messages(*space_id, *below)).await
            }
            TriggerJob::FinishStop { space_id, after_seq: after, line_id: id } => {
                Box::pin(self.pipeline.finish_stop(*space_id, LineAt { after: *after, id: *id }))
                    .await
            }
            TriggerJob::SettleSpace { space_id } => self.pipeline.settle_space(*space_id).await,
        }
    }

    /// Closes the tool calls that an ended run left open, and looks after its questions. Their
    /// space may be deleted: then nothing else finds the run.
    async fn settle_run(&self, run: RunId) -> Result<()> {
        let run = match self.pipeline.store.runs().record(run).await {
            // The run has been deleted.
            Err(Error::NotFound(_)) => return Ok(()),
            run => run?,
        };
        // An earlier job has settled it.
        if run.due.is_none() {
            return Ok(());
        }
        self.pipeline.close_calls(&run).await?;
        Box::pin(self.pipeline.look_after(&run)).await
    }

    /// Decides which agents a message triggers, unless that is decided already. Then it creates the
    /// runs of the stored decision, so that a repeated job has the same effect.
    ///
    /// A settled message is left alone: its runs may have expired, and would be created again.
    async fn dispatch(&self, space: SpaceId, seq: u64) -> Result<()> {
        let store = &self.pipeline.store;
        let Some(record) = store.messages().record(space, seq).await? else { return Ok(()) };
        if record.is_settled() || record.deleted.is_some() {
            return Ok(());
        }
        if !record.is_decided() {
            let taken = Box::pin(self.decide(space, &record)).await?;
            let user = QuotaUser::member(record.sender.id, record.sender.kind == EntityType::Human);
            store.quota().count_runs(&taken, &user, self.pipeline.now()).await;
        }
        let Some(record) = store.messages().record(space, seq).await? else { return Ok(()) };
        if record.deleted.is_some() {
            return Ok(());
        }
        let message = store.messages().with_long_texts(space, vec![record.clone()]).await?.pop();
        let Some(message) = message else { return Ok(()) };
        let created = self.create_runs(space, &record, &message).await;
        // The worker that decided may have died before it announced this.
        self.pipeline.announce(space, EventKind::MessageUpdated { message }).await;
        created?;
        store.messages().settled(space, seq).await
    }

    /// Creates the runs of a stored decision.
    async fn create_runs(
        &self,
        space: SpaceId,
        record: &MessageRecord,
        message: &Message,
    ) -> Result<()> {
        let store = &self.pipeline.store;
        let name = store.spaces().record(space).await?.settings.name;
        let triggered =
            message.dispatch.iter().flatten().filter_map(|decision| {
                Some((decision.agent_id, decision.run_id?, decision.source?))
            });
        let runs: Vec<_> = triggered
            .map(|(agent, run, source)| {
                RunRecord::triggered(run, agent, space, record, source, self.pipeline.now())
            })
            .collect();
        let since = record.auto_since;
        let agents: Vec<_> = runs.iter().map(|run| run.agent_id).collect();
        let modes = store.runs().modes(&agents).await?;
        let runs: Vec<_> = runs.into_iter().zip(modes).collect();
        let mut failed = Ok(());
        for chunk in runs.chunks(CONCURRENT_WRITES) {
            let writes = chunk.iter().map(|(run, mode)| {
                let active = ActiveRecord::triggered(run, space, &name, record);
                let now = self.pipeline.now();
                async move { store.runs().create(run, &active, *mode, since, now).await }
            });
            // The runs of the other agents start even if one of them can't be created now.
            let mut placed = Vec::with_capacity(chunk.len());
            for placement in join_all(writes).await {
                match placement {
                    Ok(placement) => placed.push(placement),
                    Err(error) => failed = Err(error),
                }
            }
            let created: Vec<_> = chunk.iter().map(|(run, _)| run.id).collect();
            let chain = record.chain_id();
            for placement in self.pipeline.unless_stopped(space, chain, &created, placed).await? {
                self.pipeline.follow_placement(placement).await;
            }
        }
        failed
    }

    /// Decides which agents a message triggers, and asks the space's router where its policy says
    /// so. Returns the agents whose runs are to be counted.
    async fn decide(
        &self,
        space: SpaceId,
        record: &MessageRecord,
    ) -> Result<Vec<(EntityId, Bucket)>> {
        let Pipeline { store, .. } = &self.pipeline;
        let now = || self.pipeline.now();
        let mut asked = None;
        let mut until = Instant::now() + RETRIED_FOR;
        while Instant::now() < until {
            let routing = asked.as_ref().map_or(Routing::Unasked, RouterOutcome::routing);
            let late = store.messages().decide_late(space, record, routing, now()).await?;
            if !late.decided.asks_router.is_empty() {
                // When it has answered, agents may have joined, left or been paused.
                let asking = self.routers.ask(&self.pipeline, space, record, &late.decided);
                asked = Some(Box::pin(asking).await?);
                until = Instant::now() + RETRIED_FOR;
                continue;
            }
            let routed = asked.as_ref().map(|asked| &asked.routed);
            match store.messages().store_decision(&late, routed, now()).await? {
                Stored::Now => return Ok(late.decided.taken),
                Stored::Before => return Ok(Vec::new()),
                Stored::Outdated => {}
            }
        }
        Err(Error::Retry("the runs of the space change all the time".into()))
    }
}
