//! Which messages and runs belong to a turn, and whether it is over.
//!
//! Frames come in any order, and some are lost. So [`TurnTracker`] concludes nothing from the order
//! of events. It stores the state of all messages and runs that it sees, of other turns too, and
//! finds the parts of the turn anew, from its roots.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::OnceLock,
};

use smartspace_domain::{
    events::EventKind,
    ids::{MessageId, RunId},
    messages::Message,
    runs::{EndReason, Run, RunStatus},
    triggers::Source,
};

/// The messages and runs of a space that were seen during a turn.
#[derive(Debug, Default)]
pub(crate) struct TurnTracker {
    roots: TurnParts,
    /// Whether the turn is a single run, without the effects of it.
    is_single_run: bool,
    /// The parts of the turn. Emptied when a message or a run changes. Most events are parts of
    /// texts, which change nothing here.
    parts: OnceLock<TurnParts>,
    /// Runs whose forms are all answered and that have not continued yet.
    continuing: BTreeSet<RunId>,
    /// Runs that are no longer stored.
    expired: BTreeSet<RunId>,
    messages: BTreeMap<MessageId, SeenMessage>,
    runs: BTreeMap<RunId, SeenRun>,
}

#[derive(Debug)]
struct SeenMessage {
    /// The run that has sent it.
    sent_by: Option<RunId>,
    /// The runs that it has triggered. `None` until the dispatch is decided.
    triggered: Option<Vec<RunId>>,
}

#[derive(Debug)]
struct SeenRun {
    status: RunStatus,
    steps: u32,
    /// The run that answers its message instead.
    into: Option<RunId>,
    /// The message that triggered it.
    message: Option<MessageId>,
    /// Whether another agent has delegated the message to it.
    is_delegated: bool,
    /// Whether it has delegated its message to another agent.
    has_delegated: bool,
}

/// The messages and runs of a turn.
#[derive(Clone, Debug, Default)]
struct TurnParts {
    messages: BTreeSet<MessageId>,
    runs: BTreeSet<RunId>,
}

impl TurnTracker {
    pub(crate) fn starting_with(message: &Message) -> Self {
        let mut tracker = Self::default();
        tracker.add_message(message);
        tracker
    }

    /// Adds a message and its effects to the turn.
    pub(crate) fn add_message(&mut self, message: &Message) {
        self.roots.messages.insert(message.id);
        self.parts.take();
        self.see_message(message);
    }

    /// Adds a run and its effects to the turn.
    pub(crate) fn add_run(&mut self, run: &Run) {
        self.roots.runs.insert(run.id);
        self.parts.take();
        self.see_run(run);
    }

    /// Reduces the turn to one run, or the run that answers its message instead.
    #[must_use]
    pub(crate) fn only_run(self, run: RunId) -> Self {
        let roots = TurnParts { runs: BTreeSet::from([run]), ..TurnParts::default() };
        Self { roots, is_single_run: true, parts: OnceLock::new(), ..self }
    }

    /// Adds a run and its effects to the turn, if only the id of the run is known.
    pub(crate) fn add_run_by_id(&mut self, run: RunId) {
        self.roots.runs.insert(run);
        self.parts.take();
    }

    /// Adds a run whose forms are all answered now, so that it continues.
    pub(crate) fn add_answered_run(&mut self, run: RunId) {
        self.add_run_by_id(run);
        // The API accepts the answer before a worker resumes the run. Until then the run's status
        // is still `waiting_tool`, with which the turn would be over.
        self.continuing.insert(run);
    }

    /// Adds the state of messages and runs that were read over HTTP.
    pub(crate) fn sync<'a>(
        &mut self,
        messages: impl IntoIterator<Item = &'a Message>,
        runs: &[Run],
    ) {
        for message in messages {
            self.see_message(message);
        }
        for run in runs {
            self.see_run(run);
        }
    }

    /// Adds an event of the space.
    pub(crate) fn on_event(&mut self, event: &EventKind) {
        if let EventKind::MessageCreated { message } | EventKind::MessageUpdated { message } = event
        {
            self.see_message(message);
        }
        if let Some(run) = event.run() {
            self.see_run(run);
        }
    }

    fn see_message(&mut self, message: &Message) {
        self.parts.take();
        let triggered = message.dispatch.as_ref();
        let triggered = triggered.map(|all| all.iter().filter_map(|one| one.run_id).collect());
        let seen = self
            .messages
            .entry(message.id)
            .or_insert(SeenMessage { sent_by: message.run_id, triggered: None });
        // The dispatch is decided once. A late frame from before the decision has none, and must
        // not take it back.
        if seen.triggered.is_none() {
            seen.triggered = triggered;
        }
    }

    fn see_run(&mut self, run: &Run) {
        // A run that has ended stays so: a frame of an earlier status can come later. A frame from
        // before a question counts fewer steps.
        let is_late = |seen: &SeenRun| {
            has_ended(seen.status) || run.status.is_active() && run.step_count < seen.steps
        };
        if self.runs.get(&run.id).is_some_and(is_late) {
            return;
        }
        self.parts.take();
        if run.status != RunStatus::WaitingTool {
            self.continuing.remove(&run.id);
        }
        let seen = SeenRun {
            status: run.status,
            steps: run.step_count,
            into: run.into_run_id,
            message: run.trigger.message_id(),
            is_delegated: run.trigger.source() == Some(Source::Delegated),
            has_delegated: run.end_reason == Some(EndReason::Delegated),
        };
        self.runs.insert(run.id, seen);
    }

    /// Whether every dispatch of the turn is decided, and every run has ended or waits for people.
    pub(crate) fn is_over(&self) -> bool {
        let parts = self.parts();
        let is_decided =
            |id: &MessageId| self.messages.get(id).is_some_and(|seen| seen.triggered.is_some());
        parts.messages.iter().all(is_decided) && parts.runs.iter().all(|id| self.is_idle(*id))
    }

    /// The known runs of the turn.
    pub(crate) fn runs(&self) -> BTreeSet<RunId> {
        self.parts().runs.clone()
    }

    /// The runs of the turn whose status is unknown.
    pub(crate) fn unknown_runs(&self) -> Vec<RunId> {
        let unknown = |run: &RunId| !self.runs.contains_key(run) && !self.expired.contains(run);
        self.parts().runs.iter().copied().filter(unknown).collect()
    }

    /// Records that a run is no longer stored. Only runs that have ended expire.
    pub(crate) fn run_expired(&mut self, run: RunId) {
        self.expired.insert(run);
    }

    /// The known messages of the turn.
    pub(crate) fn messages(&self) -> BTreeSet<MessageId> {
        self.parts().messages.clone()
    }

    /// Whether a run has ended or waits for people, and no other run continues its work.
    fn is_idle(&self, id: RunId) -> bool {
        let Some(run) = self.runs.get(&id) else { return self.expired.contains(&id) };
        if run.status == RunStatus::WaitingTool && self.continuing.contains(&id) {
            return false;
        }
        // A run that delegates ends before the other agent's run is created. In between, the turn
        // has no active run and is not over.
        let is_taken_over = || {
            let mut others = self.runs.values();
            others.any(|other| other.is_delegated && other.message == run.message)
        };
        (has_ended(run.status) || run.status == RunStatus::WaitingTool)
            && (!run.has_delegated || is_taken_over())
    }

    fn parts(&self) -> &TurnParts {
        self.parts.get_or_init(|| self.find_parts())
    }

    /// Follows the effects of the roots until a round finds nothing new. One pass in the order of
    /// the ids is not enough: a message can be older than the run that it joins.
    fn find_parts(&self) -> TurnParts {
        let mut parts = self.roots.clone();
        if self.is_single_run {
            self.add_replacements(&mut parts);
            return parts;
        }
        loop {
            let before = parts.messages.len() + parts.runs.len();
            self.add_triggered_runs(&mut parts);
            self.add_delegated_runs(&mut parts);
            self.add_replacements(&mut parts);
            for (id, message) in &self.messages {
                if message.sent_by.is_some_and(|run| parts.runs.contains(&run)) {
                    parts.messages.insert(*id);
                }
            }
            if parts.messages.len() + parts.runs.len() == before {
                return parts;
            }
        }
    }

    fn add_triggered_runs(&self, parts: &mut TurnParts) {
        for (id, message) in &self.messages {
            if parts.messages.contains(id) {
                parts.runs.extend(message.triggered.iter().flatten());
            }
        }
    }

    /// Adds the runs to which a message of the turn is delegated. They are in no dispatch.
    fn add_delegated_runs(&self, parts: &mut TurnParts) {
        // A run that other messages have joined delegates the newest of them, which is its trigger
        // now. That message need not be of this turn.
        let delegated: BTreeSet<_> = self
            .runs
            .iter()
            .filter(|(id, run)| run.has_delegated && parts.runs.contains(id))
            .filter_map(|(_, run)| run.message)
            .chain(parts.messages.iter().copied())
            .collect();
        for (id, run) in &self.runs {
            if run.is_delegated && run.message.is_some_and(|id| delegated.contains(&id)) {
                parts.runs.insert(*id);
            }
        }
    }

    /// Adds the runs that answer instead of coalesced runs.
    fn add_replacements(&self, parts: &mut TurnParts) {
        let into = parts.runs.iter().filter_map(|id| self.runs.get(id)?.into);
        let into: Vec<_> = into.collect();
        parts.runs.extend(into);
    }
}

fn has_ended(status: RunStatus) -> bool {
    !status.is_active()
}

#[cfg(test)]
mod tests;
