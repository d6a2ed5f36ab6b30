//! Announces a run and its system messages in the spaces that show it.

use std::collections::BTreeSet;

use smartspace_domain::{
    events::EventKind,
    ids::SpaceId,
    runs::{Run, RunError},
    steps::SystemMessage,
};
use smartspace_store::runs::{RunRecord, steps::Marks};

use crate::run_context::RunContext;

impl RunContext {
    /// Sends the events of system messages to the space that triggered the run. If no space did,
    /// they go to the spaces that the run has entered, and not to a space that only shows a card:
    /// its members may not know the work of the run in other spaces.
    pub(crate) async fn announce_system_messages(
        &self,
        step: u32,
        messages: &[SystemMessage],
        entered: &BTreeSet<SpaceId>,
    ) {
        if self.dry_run.is_some() {
            return;
        }
        let spaces: Vec<_> = self
            .run
            .space_id()
            .map_or_else(|| entered.iter().copied().collect(), |space| vec![space]);
        let run_id = self.run.id;
        for message in messages {
            let private = message.is_for_operator();
            for space in &spaces {
                let SystemMessage { watcher, text } = message.clone();
                let event = EventKind::SystemMessage { run_id, step, watcher, text, private };
                self.pipeline.announce(*space, event).await;
            }
        }
    }

    /// Shows a run that no space triggered in a space that it has entered, or in which it has shown
    /// a card. Each worker does that once for a space.
    pub(crate) async fn show_in(&self, space: SpaceId, active_space_id: Option<SpaceId>) {
        if self.dry_run.is_some()
            || self.run.space_id().is_some()
            || !self.announced_in.insert(space)
        {
            return;
        }
        if let Err(error) = self.store().runs().show_active(&self.run, space, self.now()).await {
            tracing::warn!(run = %self.run.id, %space, %error, "clients that join the space later \
                do not see that a run is active there");
        }
        let run = Run { active_space_id, ..self.run.view(self.trigger.clone(), None) };
        self.pipeline.announce(space, EventKind::RunStarted { run: Box::new(run) }).await;
    }

    /// Sends the event of the run's end to its spaces, and how far the agent has read.
    pub(crate) async fn announce_end(
        &self,
        record: &RunRecord,
        error: Option<RunError>,
        read: &Marks,
    ) {
        let run = record.view(self.trigger.clone(), error);
        self.pipeline.announce_end(record, run, read).await;
    }

    /// Sends an event about the run to its spaces.
    pub(crate) async fn announce(&self, record: &RunRecord, event: impl Fn(Box<Run>) -> EventKind) {
        self.pipeline.announce_run(record, record.view(self.trigger.clone(), None), event).await;
    }
}
