//! Assembles the worker of a claimed run, and runs it.

use std::sync::{Arc, atomic::AtomicU32};

use smartspace_domain::{
    Result,
    agents::{AgentConfig, Builtins, ModelConfig},
    ids::LeaseId,
    runs::{FailureCode, RunError, RunStatus},
    tools::{BUILT_IN, SEARCH_MESSAGES, Tool},
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
        early_end::{cancel_removed, end_run},
    },
    dry_run::DryRun,
    model_files::FileLoader,
    prompt::reading::{PromptSources, SpaceContext},
    run_context::{AnnouncedSpaces, RunContext, UnstoredAnswer, trace_context},
    streaming::{DirectBroadcasts, LastRead, LiveSteps, OpenStreams, StreamDeps},
    tools::{
        configured::{Configured, mcp::McpTools, page::of_pages},
        toolbox::Toolbox,
    },
};

/// How many pictures a run draws at the same time.
const MAX_IMAGES_AT_ONCE: usize = 3;

/// The point from which a worker continues a run: the stored steps, and what triggered it.
pub(super) struct ResumePoint {
    pub(super) progress: Progress,
    pub(super) trigger: Trigger,
    pub(super) dry_run: Option<DryRun>,
}

/// Loads the stored steps of a claimed run, and continues it after the last one.
pub(super) async fn start_worker(
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
    let resume_point = ResumePoint { progress, trigger, dry_run: None };
    Box::pin(run_worker(deps, claimed, sources, resume_point, delivery)).await
}

/// Continues a claimed run from this point, if its agent is still configured for that.
pub(super) async fn run_worker(
    deps: &RunDeps,
    claimed: Claimed,
    sources: PromptSources,
    resume_point: ResumePoint,
    delivery: &dyn ReceivedJob,
) -> Result<()> {
    let Claimed { run, lease, at, kind } = claimed;
    let ResumePoint { progress, trigger, dry_run } = resume_point;
    let Some(config) = sources.agent.agent.clone() else {
        return cancel_removed(deps, &run, &lease).await;
    };
    let Some(model) = config.model.clone() else {
        let error = RunError {
            code: FailureCode::NotConfigured,
            message: "the agent has no model and no runtime that this version knows".into(),
        };
        return end_run(deps, &run, &lease, RunStatus::Failed, Some(error)).await;
    };
    let may_delegate = sources.is_admin() && config.builtins.delegate;
    let builtins = Builtins { delegate: may_delegate, search: sources.searches, ..config.builtins };
    let trace = trace_context(&run);
    let mut servers = McpTools::list(&deps.mcp, &config.mcp.servers, &trace).await;
    let ends_at = delivery.ends_at();
    let searches_made = searches_made(&progress);
    let parts =
        ContextParts { run, lease, config, model, trigger, dry_run, ends_at, searches_made };
    let context = run_context(deps, parts, &sources);
    let config = &context.config;
    let mut of_others = std::mem::take(&mut servers.tools);
    let of_pages = tools_of_pages(&sources, &config.tools, &of_others);
    of_others.extend(of_pages);
    let tools = Toolbox::new(builtins, &config.tools, of_others)
        .ending_after_send(config.run_loop.end_after_send)
        .with_rules(&config.approvals);
    let worker = Worker {
        tools,
        mcp_problems: std::mem::take(&mut servers.problems),
        stopping: deps.stopping.clone(),
        claimed_at: at,
        context,
    };
    let result = Box::pin(worker.run(&sources, progress, kind, delivery)).await;
    servers.close().await;
    result
}

/// The tools of the pages of the members whose messages the run answers.
fn tools_of_pages(
    sources: &PromptSources,
    configured: &[Tool],
    of_servers: &[Configured],
) -> Vec<Configured> {
    let Some(SpaceContext { space, pages, .. }) = &sources.trigger_space else {
        return Vec::new();
    };
    of_pages(pages, space.id, |name| {
        BUILT_IN.contains(&name)
            || configured.iter().any(|tool| tool.name == name)
            || of_servers.iter().any(|tool| tool.name == name)
    })
}

/// The parts of a run's context that come from its claim and its agent.
struct ContextParts {
    run: RunRecord,
    lease: LeaseId,
    config: AgentConfig,
    model: ModelConfig,
    trigger: Trigger,
    dry_run: Option<DryRun>,
    ends_at: Option<Instant>,
    searches_made: u32,
}

/// How many searches the run has made so far.
fn searches_made(progress: &Progress) -> u32 {
    let searches = progress.calls.values().filter(|call| call.name == SEARCH_MESSAGES);
    searches.count() as u32
}

fn run_context(deps: &RunDeps, parts: ContextParts, sources: &PromptSources) -> RunContext {
    let ContextParts { mut run, lease, config, model, trigger, dry_run, .. } = parts;
    let ContextParts { ends_at, searches_made, .. } = parts;
    run.config_revision = sources.agent.revision;
    let space = sources.trigger_space.as_ref().map(|it| &it.space);
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
        stream_deps,
        run,
        lease,
        ends_at,
        prices: Arc::clone(&deps.prices),
        egress: deps.egress.clone(),
        drawing: Semaphore::new(MAX_IMAGES_AT_ONCE),
        external_calls: watch::Sender::new(0),
        name: sources.agent.name.clone(),
        is_in_one_space: sources.space_count == 1,
        searches: sources.searches,
        searches_made: AtomicU32::new(searches_made),
        config,
        model,
        trigger,
        announced_in: AnnouncedSpaces::default(),
        writing: tokio::sync::Mutex::default(),
        files: FileLoader::default(),
        streams: OpenStreams::default(),
        live_steps: LiveSteps::default(),
        unstored_answer: UnstoredAnswer::default(),
        dry_run,
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
