//! The context of one run, which its worker, its loop and its tools share: the run, its lease, its
//! agent, and the connections to the table, to models and to tools.

mod announcements;
mod step_view;

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicU32},
    time::Duration,
};

use smartspace_domain::{
    Time,
    agents::{AgentConfig, ModelConfig},
    ids::{CallId, LeaseId, RunId, SpaceId},
    prices::Prices,
    triggers::Trigger,
};
use smartspace_egress::{Egress, TraceContext};
use smartspace_models::port::Model;
use smartspace_pipeline::{Pipeline, spending::Spending};
use smartspace_ports::trace::{self, TraceParent, span_of};
use smartspace_store::{
    Store,
    runs::{
        RunRecord,
        steps::{CallRecord, StepRecord},
    },
};
use tokio::{sync::watch, time::Instant};

use crate::{
    dry_run::DryRun,
    model_files::FileLoader,
    streaming::{DirectBroadcasts, LiveSteps, OpenStreams, StreamDeps},
};

/// A run that a worker has claimed, with everything that work on it needs.
pub(crate) struct RunContext {
    /// Its broadcasts queue is `broadcasts`.
    pub(crate) pipeline: Pipeline,
    pub(crate) broadcasts: Arc<DirectBroadcasts>,
    pub(crate) models: Arc<dyn Model>,
    pub(crate) stream_deps: StreamDeps,
    pub(crate) run: RunRecord,
    pub(crate) lease: LeaseId,
    /// When the invocation ends. `None` if its time is not limited.
    pub(crate) ends_at: Option<Instant>,
    pub(crate) prices: Arc<Prices>,
    /// Pays for the run's model calls.
    pub(crate) spending: Spending,
    pub(crate) config: AgentConfig,
    pub(crate) model: ModelConfig,
    /// Sends the external requests of tools.
    pub(crate) egress: Egress,
    /// Limits how many pictures are drawn at the same time, because they are large.
    pub(crate) drawing: tokio::sync::Semaphore,
    /// How many external calls are under way. The outcome of one that is cut off is unknown.
    pub(crate) external_calls: watch::Sender<usize>,
    /// The name of the agent.
    pub(crate) name: String,
    /// The agent has no other space, so everything that it shows is for this one.
    pub(crate) is_in_one_space: bool,
    /// The agent has the tool that searches messages.
    pub(crate) searches: bool,
    /// How many searches the run has made.
    pub(crate) searches_made: AtomicU32,
    pub(crate) trigger: Trigger,
    /// The spaces in which the run was announced, if no space triggered it.
    pub(crate) announced_in: AnnouncedSpaces,
    /// Serializes the writes of the run, including the renewals of its lease.
    pub(crate) writing: tokio::sync::Mutex<()>,
    /// The files that its model has got.
    pub(crate) files: FileLoader,
    pub(crate) streams: OpenStreams,
    pub(crate) live_steps: LiveSteps,
    pub(crate) unstored_answer: UnstoredAnswer,
    /// The run that this one replays, if it changes nothing.
    pub(crate) dry_run: Option<DryRun>,
}

/// The answer that the model is writing, or has written, until it is stored. The loop may be
/// dropped at any point; then the worker stores the answer as a partial one.
#[derive(Debug, Default)]
pub(crate) struct UnstoredAnswer(Mutex<Option<StepRecord>>);

impl UnstoredAnswer {
    pub(crate) fn set(&self, answer: Option<StepRecord>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = answer;
    }

    pub(crate) fn take(&self) -> Option<StepRecord> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Spaces in which a run was announced.
#[derive(Debug, Default)]
pub(crate) struct AnnouncedSpaces(Mutex<BTreeSet<SpaceId>>);

impl AnnouncedSpaces {
    /// Adds a space. Returns whether it is new.
    pub(crate) fn insert(&self, space: SpaceId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(space)
    }
}

/// The run that makes requests, its trace, and the chain depth of what they cause.
pub(crate) fn trace_context(run: &RunRecord) -> TraceContext {
    TraceContext { run: run.id, trace: trace_of(run), depth: run.chain_depth + 1 }
}

/// The trace of a run, if traces are exported.
fn trace_of(run: &RunRecord) -> Option<TraceParent> {
    run.trace.as_deref().and_then(TraceParent::read)
}

/// Identifies a question to a model, among those of all runs, to the budgets that pay for it.
pub(crate) fn call_id(run: RunId, step: u32, attempt: u32) -> String {
    format!("{run}_{step}_{attempt}")
}

/// The same for a picture that a call of a step draws.
pub(crate) fn image_call_id(run: RunId, step: u32, index: u32) -> String {
    format!("{run}_{step}_image{index}")
}

impl RunContext {
    /// Does the `work` of a call. The trace of the run shows the call as the cause of everything
    /// that the work does.
    pub(crate) async fn caused_by<T>(&self, call: CallId, work: impl Future<Output = T>) -> T {
        match trace_of(&self.run) {
            Some(trace) => trace::within(trace.caused_by(span_of(&call.to_string())), work).await,
            None => work.await,
        }
    }

    pub(crate) fn store(&self) -> &Store {
        &self.pipeline.store
    }

    pub(crate) fn now(&self) -> Time {
        self.pipeline.now()
    }

    /// The context window of the run's model, in tokens.
    pub(crate) fn window(&self) -> u32 {
        let named = self.models.window(&self.model);
        named.unwrap_or(self.model.context_window)
    }

    /// Whether the invocation has this much time left.
    pub(crate) fn has_time_for(&self, time: Duration) -> bool {
        self.ends_at.is_none_or(|ends_at| Instant::now() + time <= ends_at)
    }

    /// The record of a call with the time at which it expires.
    pub(crate) fn with_expiry(&self, call: CallRecord) -> CallRecord {
        CallRecord { expires_at: self.store().work_expiry(self.now()), ..call }
    }
}
