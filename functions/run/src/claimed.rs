//! A claimed run: gets everything that its worker needs, and lets it work.

use std::sync::Arc;

use smartspace_domain::{
    Result, agents::Builtins, ids::LeaseId, runs::RunStatus, triggers::Trigger,
};
use smartspace_egress::TraceContext;
use smartspace_pipeline::budgets::Spending;
use smartspace_ports::queues::Delivery;
use smartspace_store::runs::{RunRecord, steps::Progress, triggers};
use tokio::{sync::watch, time::Instant};

use crate::{
    Runs,
    agent_loop::worker::{ClaimKind, Worker},
    prompt::reading::Gathered,
    run_context::{LastUnfinished, RunContext, ShownIn},
    streaming::{OpenStreams, StreamDeps},
    tools::{configured::mcp::McpTools, toolbox::Toolbox},
};

/// A claimed run.
pub(crate) struct Claimed {
    pub(crate) run: RunRecord,
    pub(crate) lease: LeaseId,
    /// When the claim began.
    pub(crate) at: Instant,
    pub(crate) kind: ClaimKind,
}

impl Runs {
    /// Works on a claimed run.
    pub(crate) async fn work_on(
        &self,
        claimed: Claimed,
        gathered: Gathered,
        delivery: &dyn Delivery,
    ) -> Result<()> {
        let Claimed { run, lease, at, kind } = claimed;
        // A new run has no stored steps.
        let progress = if kind == ClaimKind::First {
            Progress::default()
        } else {
            self.pipeline.store.steps().progress(run.id).await?
        };
        let Some(config) = gathered.agent.agent.clone() else {
            return self.end_early(&run, &lease, RunStatus::Canceled).await;
        };
        let may_delegate = gathered.is_admin() && config.builtins.delegate;
        let builtins = Builtins { delegate: may_delegate, ..config.builtins };
        let trigger = self.trigger(&run, &gathered).await?;
        let trace = TraceContext { run: run.id, depth: run.chain_depth + 1 };
        let mut servers = McpTools::list(&self.mcp, &config.mcp.servers, &trace).await;
        let space = gathered.place.as_ref().map(|place| &place.space);
        let budgets = self.pipeline.budgets(
            Some((run.agent_id, &config.budget)),
            space.map(|space| (space.id, &space.settings.budget)),
        );
        let spending = Spending::new(&self.pipeline, &self.prices, budgets, Some(run.id));
        let context = RunContext {
            spending,
            pipeline: self.pipeline.clone(),
            models: Arc::clone(&self.models),
            deps: self.stream_deps(),
            run,
            lease,
            ends_at: delivery.ends_at(),
            prices: Arc::clone(&self.prices),
            egress: self.egress.clone(),
            external_calls: watch::Sender::new(0),
            name: gathered.agent.name.clone(),
            is_in_one_space: gathered.space_count == 1,
            config,
            trigger,
            shown_in: ShownIn::default(),
            writing: tokio::sync::Mutex::default(),
            streams: OpenStreams::default(),
            unfinished: LastUnfinished::default(),
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
        }
    }

    /// The trigger of a run. Mostly it is a message that was read with the history.
    async fn trigger(&self, run: &RunRecord, gathered: &Gathered) -> Result<Trigger> {
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
