//! The messages and runs with which a turn starts.

use std::collections::BTreeMap;

use smartspace_client::Refusal;
use smartspace_domain::{
    ids::{MessageId, RunId},
    messages::Message,
    runs::{Run, RunStatus},
};

use super::TurnSetup;
use crate::turn::{TurnTracker, cards::waits_for_answer, reads};

impl TurnSetup {
    /// Starts the turn with the message that has caused a working run: the newest such message of
    /// the caller, or else of another person. Returns its id, or `None` if no run works.
    pub(crate) async fn start_with_active_run(&mut self) -> Result<Option<MessageId>, Refusal> {
        let runs = self.runs().await?;
        let works = |run: &&Run| matches!(run.status, RunStatus::Queued | RunStatus::Running);
        let triggers: BTreeMap<RunId, MessageId> =
            runs.iter().filter_map(|run| Some((run.id, run.trigger.message_id()?))).collect();
        // An agent's message may have triggered the run. The client's request posted the message
        // at the head of that chain.
        let roots = runs.iter().filter(works).filter_map(|run| {
            let mut message = self.message(run.trigger.message_id()?)?;
            while let Some(earlier) = message.run_id.and_then(|run| triggers.get(&run)) {
                message = self.message(*earlier)?;
            }
            Some((run, message.clone()))
        });
        // In the order of the runs, of which the newest comes first.
        let roots: Vec<_> = roots.collect();
        let own = roots.iter().find(|(_, root)| root.sender.id == self.caller);
        let Some((_, root)) = own.or_else(|| roots.first()) else { return Ok(None) };
        // A retried run is in no message's dispatch, so the root does not lead to it.
        let retried = roots.iter().filter(|(run, of)| of.id == root.id && run.retry_of.is_some());
        self.followed.extend(retried.map(|(run, _)| run.id));
        self.roots = vec![root.clone()];
        Ok(Some(root.id))
    }

    fn message(&self, id: MessageId) -> Option<&Message> {
        self.messages.iter().find(|known| known.id == id)
    }

    /// The turn that starts with what was posted and answered, or else with the active `runs`.
    pub(super) fn tracker(&self, runs: &[Run]) -> TurnTracker {
        let mut tracker = TurnTracker::default();
        for root in &self.roots {
            tracker.add_message(root);
        }
        for run in &self.followed {
            tracker.add_run_by_id(*run);
        }
        for run in &self.answered {
            let forms = self
                .messages
                .iter()
                .filter(|message| waits_for_answer(message) && message.run_id == Some(*run));
            let answers = self.answered.iter().filter(|answered| *answered == run);
            // A run continues after the answer to its last form. While one is open, the turn is
            // over at once and the client gets that form.
            if forms.count() <= answers.count() {
                tracker.add_answered_run(*run);
            } else {
                tracker.add_run_by_id(*run);
            }
        }
        if self.roots.is_empty() && self.followed.is_empty() && self.answered.is_empty() {
            for run in runs.iter().filter(|run| run.status.is_active()) {
                tracker.add_run(run);
            }
        }
        tracker
    }

    /// The runs of the space. Empty without a call if the turn has only new messages: then no run
    /// of it existed when the space was read.
    pub(super) async fn runs_of_turn(&self) -> Result<Vec<Run>, Refusal> {
        let is_new = |root: &Message| self.posted.contains(&root.id);
        let is_all_new = self.answered.is_empty()
            && self.followed.is_empty()
            && !self.roots.is_empty()
            && self.roots.iter().all(is_new);
        if is_all_new { Ok(Vec::new()) } else { self.runs().await }
    }

    pub(super) async fn runs(&self) -> Result<Vec<Run>, Refusal> {
        reads::runs(&self.api, self.space.id).await
    }
}
