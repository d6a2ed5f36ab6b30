//! The context of one run, which its worker, its loop and its tools share: the run, its lease, its
//! agent, and the connections to the table, to models and to tools.

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

/// A run that a worker has claimed, with everything that work on it needs.
pub(crate) struct RunContext {
    pub(crate) pipeline: Pipeline,
    pub(crate) models: Arc<dyn Model>,
    pub(crate) deps: StreamDeps,
    pub(crate) run: RunRecord,
    pub(crate) lease: LeaseId,
    /// When the invocation ends. `None` if its time is not limited.
    pub(crate) ends_at: Option<Instant>,
    pub(crate) prices: Arc<Prices>,
    pub(crate) config: AgentConfig,
    /// Sends the external requests of tools.
    pub(crate) egress: Egress,
    /// How many external calls are under way. The outcome of one that is cut off is unknown.
    pub(crate) external_calls: watch::Sender<usize>,
    /// The name of the agent.
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

    /// Sends the events of system messages to the space that triggered the run. If no space did,
    /// they go to the spaces that the run has entered.
    pub(crate) async fn announce_system_messages(
        &self,
        step: u32,
        messages: &[SystemMessage],
        entered: &BTreeSet<SpaceId>,
    ) {
        let spaces: Vec<_> = self
            .run
            .space_id()
            .map_or_else(|| entered.iter().copied().collect(), |space| vec![space]);
        for SystemMessage { watcher, text } in messages {
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
        event: impl Fn(Box<Run>) -> EventKind,
    ) {
        self.pipeline.announce_run(record, record.view(self.trigger.clone(), error), event).await;
    }

    /// The record of a call with the time at which it expires.
    pub(crate) fn with_expiry(&self, call: CallRecord) -> CallRecord {
        CallRecord { expires_at: self.store().work_expiry(self.now()), ..call }
    }
}
