//! Assembles the worker of a claimed run, and lets it work.

use std::sync::Arc;

use smartspace_domain::{
    Result,
    agents::{AgentConfig, Builtins, ModelConfig},
    ids::LeaseId,
    runs::{FailureCode, RunError, RunStatus},
    triggers::Trigger,
};
use smartspace_pipeline::{Pipeline, spending::Spending};
use smartspace_ports::queues::ReceivedJob;
use smartspace_store::runs::{RunRecord, steps::Progress};
use tokio::{
    sync::{Semaphore, watch},
    time::Instant,
};

use crate::{
    agent_loop::worker::{ClaimKind, Worker},
    claiming::{
        deps::{Claimed, RunDeps},
        early_end::{end, end_early},
    },
    dry_run::DryRun,
    model_files::FileLoader,
    prompt::reading::PromptSources,
    run_context::{LastUnfinished, RunContext, ShownIn, trace_context},
    streaming::{DirectBroadcasts, LastRead, LiveSteps, OpenStreams, StreamDeps},
    tools::{configured::mcp::McpTools, toolbox::Toolbox},
};

/// How many pictures a run draws at the same time.
const DRAWN_AT_ONCE: usize = 3;

/// The state of a run from which its worker continues.
pub(super) struct Work {
    pub(super) progress: Progress,
    pub(super) trigger: Trigger,
    pub(super) dry: Option<DryRun>,
}

/// Works on a claimed run.
pub(super) async fn work_on(
    deps: &RunDeps,
    claimed: Claimed,
    sources: PromptSources,
    delivery: &dyn ReceivedJob,
) -> Result<()> {
    let run = &claimed.run;
    // A new run has no stored steps.
    let progress = if claimed.kind == ClaimKind::First {
        Progress::default()
    } else {
        deps.pipeline.store.steps().progress(run.id).await?
    };
    let trigger = deps.trigger(run, &sources).await?;
    let continued = Work { progress, trigger, dry: None };
    Box::pin(work(deps, claimed, sources, continued, delivery)).await
}

/// Continues a claimed run from `work`, if its agent is still configured for that.
pub(super) async fn work(
    deps: &RunDeps,
    claimed: Claimed,
    sources: PromptSources,
    work: Work,
    delivery: &dyn ReceivedJob,
) -> Result<()> {
    let Claimed { run, lease, at, kind } = claimed;
    let Work { progress, trigger, dry } = work;
    let Some(config) = sources.agent.agent.clone() else {
        return end_early(deps, &run, &lease, RunStatus::Canceled).await;
    };
    let Some(model) = config.model.clone() else {
        let error = RunError {
            code: FailureCode::NotConfigured,
            message: "the agent has no model and no runtime that this version knows".into(),
        };
        return end(deps, &run, &lease, RunStatus::Failed, Some(error)).await;
    };
    let may_delegate = sources.is_admin() && config.builtins.delegate;
    let builtins = Builtins { delegate: may_delegate, ..config.builtins };
    let trace = trace_context(&run);
    let mut servers = McpTools::list(&deps.mcp, &config.mcp.servers, &trace).await;
    let start = Start { run, lease, config, model, trigger, dry, ends_at: delivery.ends_at() };
    let context = context(deps, start, &sources);
    let worker = Worker {
        tools: Toolbox::new(builtins, &context.config.tools, std::mem::take(&mut servers.tools)),
        mcp_problems: std::mem::take(&mut servers.problems),
        stopping: deps.stopping.clone(),
        claimed_at: at,
        context,
    };
    let result = Box::pin(worker.work(&sources, progress, kind, delivery)).await;
    servers.close().await;
    result
}

/// The parts of a run's context that come from its claim and its agent.
struct Start {
    run: RunRecord,
    lease: LeaseId,
    config: AgentConfig,
    model: ModelConfig,
    trigger: Trigger,
    dry: Option<DryRun>,
    ends_at: Option<Instant>,
}

fn context(deps: &RunDeps, start: Start, sources: &PromptSources) -> RunContext {
    let Start { run, lease, config, model, trigger, dry, ends_at } = start;
    let space = sources.trigger_space.as_ref().map(|place| &place.space);
    let space_budget = space.map(|space| (space.id, &space.settings.budget));
    let budgets = deps.pipeline.budgets(Some((run.agent_id, &config.budget)), space_budget);
    let spending = Spending::new(&deps.pipeline, &deps.prices, budgets, Some(run.id));
    let stream_deps = stream_deps(deps);
    let broadcasts = Arc::new(DirectBroadcasts::new(stream_deps.clone(), run.space_id()));
    RunContext {
        spending,
        // Events of the run skip the broadcasts queue if few connections follow the space.
        pipeline: Pipeline { broadcasts: broadcasts.clone(), ..deps.pipeline.clone() },
        broadcasts,
        models: Arc::clone(&deps.models),
        deps: stream_deps,
        run,
        lease,
        ends_at,
        prices: Arc::clone(&deps.prices),
        egress: deps.egress.clone(),
        drawing: Semaphore::new(DRAWN_AT_ONCE),
        external_calls: watch::Sender::new(0),
        name: sources.agent.name.clone(),
        is_in_one_space: sources.space_count == 1,
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
    }
}

fn stream_deps(deps: &RunDeps) -> StreamDeps {
    StreamDeps {
        store: deps.pipeline.store.clone(),
        sockets: Arc::clone(&deps.sockets),
        clock: Arc::clone(&deps.pipeline.clock),
        broadcasts: Arc::clone(&deps.pipeline.broadcasts),
        last_read: LastRead::default(),
    }
}
