//! What all parts that work on one run share: the run, its lease, its agent, and the connections to
//! the table, to models and to tools.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use smartspace_domain::{
    Time,
    agents::AgentConfig,
    events::EventKind,
    ids::{LeaseId, SpaceId},
    prices::Prices,
    runs::{Run, RunError},
    steps::SystemMessage,
    triggers::Trigger,
};
use smartspace_egress::Egress;
use smartspace_models::port::Model;
use smartspace_pipeline::Pipeline;
use smartspace_store::{
    Store,
    runs::{RunRecord, steps::CallRecord},
};
use tokio::{sync::watch, time::Instant};

use crate::streaming::{OpenStreams, StreamDeps};

/// One run, as its worker, its loop and its tools see it.
pub(crate) struct RunContext {
    pub(crate) pipeline: Pipeline,
    pub(crate) models: Arc<dyn Model>,
    pub(crate) deps: StreamDeps,
    pub(crate) run: RunRecord,
    pub(crate) lease: LeaseId,
    /// When the invocation ends. `None` if it may take as long as it likes.
    pub(crate) ends_at: Option<Instant>,
    pub(crate) prices: Arc<Prices>,
    pub(crate) config: AgentConfig,
    /// Sends the external requests of tools.
    pub(crate) egress: Egress,
    /// How many external calls are under way. The outcome of one that is cut off is unknown.
    pub(crate) external_calls: watch::Sender<usize>,
    /// The agent's name.
    pub(crate) name: String,
    /// The agent has no other space, so everything that it shows is for this one.
    pub(crate) is_in_one_space: bool,
    pub(crate) trigger: Trigger,
    /// Serializes the writes of the run, including the renewals of its lease.
    pub(crate) writing: tokio::sync::Mutex<()>,
    pub(crate) streams: OpenStreams,
}

impl RunContext {
    pub(crate) fn store(&self) -> &Store {
        &self.pipeline.store
    }

    pub(crate) fn now(&self) -> Time {
        self.pipeline.now()
    }

    /// Whether the invocation has this much time left.
    pub(crate) fn has_time_for(&self, time: Duration) -> bool {
        self.ends_at.is_none_or(|ends_at| Instant::now() + time <= ends_at)
    }

    /// Notifies a space of what the system said to the model: the space that triggered the run, or
    /// else those that the run has entered.
    pub(crate) async fn tell(
        &self,
        step: u32,
        said: &[SystemMessage],
        entered: &BTreeSet<SpaceId>,
    ) {
        let spaces: Vec<_> = self
            .run
            .space_id()
            .map_or_else(|| entered.iter().copied().collect(), |space| vec![space]);
        for SystemMessage { watcher, text } in said {
            for space in &spaces {
                let watcher = watcher.clone();
                let text = text.clone();
                self.pipeline
                    .announce(
                        *space,
                        EventKind::SystemMessage { run_id: self.run.id, step, watcher, text },
                    )
                    .await;
            }
        }
    }

    /// Shows a run that no space triggered in a space that it has entered.
    pub(crate) async fn show_in(&self, space: SpaceId) {
        if let Err(error) = self.store().runs().show_active(&self.run, space).await {
            tracing::warn!(run = %self.run.id, %space, %error, "clients that join the space later \
                do not see that a run is active there");
        }
        let run =
            Run { active_space_id: Some(space), ..self.run.view(self.trigger.hidden(), None) };
        self.pipeline.announce(space, EventKind::RunStarted { run: Box::new(run) }).await;
    }

    /// Sends an event about the run to its spaces.
    pub(crate) async fn announce(
        &self,
        record: &RunRecord,
        error: Option<RunError>,
        what: impl Fn(Box<Run>) -> EventKind,
    ) {
        self.pipeline.announce_run(record, record.view(self.trigger.clone(), error), what).await;
    }

    /// The record of a call with the time at which it expires.
    pub(crate) fn with_expiry(&self, call: CallRecord) -> CallRecord {
        CallRecord { expires_at: self.store().work_expiry(self.now()), ..call }
    }
}
