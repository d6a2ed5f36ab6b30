//! A claimed run: gets everything that its worker needs, and lets it work.

use std::sync::Arc;

use smartspace_domain::{
    Error, Result,
    agents::Builtins,
    ids::LeaseId,
    jobs::RunRef,
    runs::{FailureCode, ForkOf, RunError, RunStatus},
    triggers::Trigger,
};
use smartspace_pipeline::{Pipeline, budgets::Spending};
use smartspace_ports::queues::Delivery;
use smartspace_store::runs::{RunRecord, steps::Progress, triggers};
use tokio::{
    sync::{Semaphore, oneshot, watch},
    time::Instant,
};

use crate::{
    Runs,
    agent_loop::worker::{ClaimKind, Worker},
    dry_run::DryRun,
    model_files::FileLoader,
    prompt::reading::Gathered,
    run_context::{LastUnfinished, RunContext, ShownIn, trace_context},
    streaming::{DirectBroadcasts, LastRead, LiveSteps, OpenStreams, StreamDeps},
    tools::{configured::mcp::McpTools, toolbox::Toolbox},
};

/// How many pictures a run draws at the same time.
const DRAWN_AT_ONCE: usize = 3;

/// A claimed run.
pub(crate) struct Claimed {
    pub(crate) run: RunRecord,
    pub(crate) lease: LeaseId,
    /// When the claim began.
    pub(crate) at: Instant,
    pub(crate) kind: ClaimKind,
}

/// What a worker continues.
struct Work {
    progress: Progress,
    trigger: Trigger,
    dry: Option<DryRun>,
}

impl Runs {
    /// Works on a claimed run.
    pub(crate) async fn work_on(
        &self,
        claimed: Claimed,
        gathered: Gathered,
        delivery: &dyn Delivery,
    ) -> Result<()> {
        let config = gathered.agent.agent.as_ref();
        if let Some(runtime) = config.and_then(|config| config.runtime.clone()) {
            return Box::pin(self.hand_to_remote(claimed, &gathered, &runtime)).await;
        }
        let run = &claimed.run;
        // A new run has no stored steps.
        let progress = if claimed.kind == ClaimKind::First {
            Progress::default()
        } else {
            self.pipeline.store.steps().progress(run.id).await?
        };
        let trigger = self.trigger(run, &gathered).await?;
        let work = Work { progress, trigger, dry: None };
        Box::pin(self.work(claimed, gathered, work, delivery)).await
    }

    /// Works on a fork: on the prompt and the steps of the run that it replays.
    pub(crate) async fn work_on_fork(
        &self,
        claimed: Claimed,
        fork: ForkOf,
        delivery: &dyn Delivery,
    ) -> Result<()> {
        let Claimed { run, lease, .. } = &claimed;
        match Box::pin(self.replayed(run, fork)).await {
            Ok(Some((gathered, work))) => {
                Box::pin(self.work(claimed, gathered, work, delivery)).await
            }
            Ok(None) => self.end_early(run, lease, RunStatus::Canceled).await,
            Err(error) => {
                self.pipeline.store.runs().give_back(run.id, lease, self.pipeline.now()).await?;
                Err(error)
            }
        }
    }

    /// What a fork continues. `None` if the other run, its agent or its space is gone.
    async fn replayed(&self, run: &RunRecord, fork: ForkOf) -> Result<Option<(Gathered, Work)>> {
        let store = &self.pipeline.store;
        let original = match store.runs().record(fork.run_id).await {
            Err(Error::NotFound(_)) => return Ok(None),
            found => found?,
        };
        let sources = RunRef { run_id: run.id, ..original.to_ref() };
        let gathered = self.gather(sources, oneshot::channel().0).await?;
        let Some(mut gathered) = gathered else { return Ok(None) };
        let (changes, own, replayed, trigger) = futures::try_join!(
            store.runs().fork_changes(run.id),
            store.steps().progress(run.id),
            store.steps().progress(original.id),
            store.triggers().of(&original),
        )?;
        let dry = DryRun::new(fork, &original, &replayed, &changes);
        if let Some(config) = &mut gathered.agent.agent {
            changes.apply(config);
        }
        let work = Work { progress: replayed.forked(fork, own), trigger, dry: Some(dry) };
        Ok(Some((gathered, work)))
    }

    async fn work(
        &self,
        claimed: Claimed,
        gathered: Gathered,
        work: Work,
        delivery: &dyn Delivery,
    ) -> Result<()> {
        let Claimed { run, lease, at, kind } = claimed;
        let Work { progress, trigger, dry } = work;
        let Some(config) = gathered.agent.agent.clone() else {
            return self.end_early(&run, &lease, RunStatus::Canceled).await;
        };
        let Some(model) = config.model.clone() else {
            let error = RunError {
                code: FailureCode::NotConfigured,
                message: "the agent has no model and no runtime that this version knows".into(),
            };
            return self.end(&run, &lease, RunStatus::Failed, Some(error)).await;
        };
        let may_delegate = gathered.is_admin() && config.builtins.delegate;
        let builtins = Builtins { delegate: may_delegate, ..config.builtins };
        let trace = trace_context(&run);
        let mut servers = McpTools::list(&self.mcp, &config.mcp.servers, &trace).await;
        let space = gathered.place.as_ref().map(|place| &place.space);
        let space_budget = space.map(|space| (space.id, &space.settings.budget));
        let budgets = self.pipeline.budgets(Some((run.agent_id, &config.budget)), space_budget);
        let spending = Spending::new(&self.pipeline, &self.prices, budgets, Some(run.id));
        let deps = self.stream_deps();
        let broadcasts = Arc::new(DirectBroadcasts::new(deps.clone(), run.space_id()));
        let context = RunContext {
            spending,
            pipeline: Pipeline { broadcasts: broadcasts.clone(), ..self.pipeline.clone() },
            broadcasts,
            models: Arc::clone(&self.models),
            deps,
            run,
            lease,
            ends_at: delivery.ends_at(),
            prices: Arc::clone(&self.prices),
            egress: self.egress.clone(),
            drawing: Semaphore::new(DRAWN_AT_ONCE),
            external_calls: watch::Sender::new(0),
            name: gathered.agent.name.clone(),
            is_in_one_space: gathered.space_count == 1,
            config,
            model,
            trigger,
            shown_in: ShownIn::default(),
            writing: tokio::sync::Mutex::default(),
            files: FileLoader::default(),
            streams: OpenStreams::default(),
            live_steps: LiveSteps::default(),
            unfinished: LastUnfinished::default(),
            dry,
        };
        let worker = Worker {
            tools: Toolbox::new(
                builtins,
                &context.config.tools,
                std::mem::take(&mut servers.tools),
            ),
            mcp_problems: std::mem::take(&mut servers.problems),
            stopping: self.stopping.clone(),
            claimed_at: at,
            context,
        };
        let result = Box::pin(worker.work(&gathered, progress, kind, delivery)).await;
        servers.close().await;
        result
    }

    fn stream_deps(&self) -> StreamDeps {
        StreamDeps {
            store: self.pipeline.store.clone(),
            sockets: Arc::clone(&self.sockets),
            clock: Arc::clone(&self.pipeline.clock),
            broadcasts: Arc::clone(&self.pipeline.broadcasts),
            last_read: LastRead::default(),
        }
    }

    /// The trigger of a run. Mostly it is a message that was read with the history.
    pub(crate) async fn trigger(&self, run: &RunRecord, gathered: &Gathered) -> Result<Trigger> {
        let store = &self.pipeline.store;
        match &gathered.place {
            Some(place) => Ok(triggers::of_message(
                run,
                &place.space.settings.name,
                &place.trigger,
                store.runs().delegation(run).await?,
            )),
            None => store.triggers().of(run).await,
        }
    }
}
