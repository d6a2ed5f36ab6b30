//! A turn: a message, the runs that it wakes, the messages that these send, and so on, within one
//! space.
//!
//! Frames come in any order, so nothing is concluded from the order of events: [`Turn`] keeps what
//! is known of messages and runs, and follows from the first message what belongs to it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::OnceLock,
};

use smartspace_domain::{
    events::EventKind,
    ids::{MessageId, RunId},
    messages::Message,
    runs::{EndReason, Run, RunStatus},
    triggers::{Source, Trigger},
};

/// The messages and runs of a space that were seen since a turn began.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// What began it.
    roots: Members,
    /// Whether nothing counts that its runs cause.
    is_alone: bool,
    /// What belongs to it, until a message or a run is seen again. Most events are parts of texts.
    members: OnceLock<Members>,
    /// Runs whose forms all have answers, and that have not continued yet.
    continuing: BTreeSet<RunId>,
    /// Runs that ended so long ago that they are not stored any longer.
    gone: BTreeSet<RunId>,
    messages: BTreeMap<MessageId, SeenMessage>,
    runs: BTreeMap<RunId, SeenRun>,
}

#[derive(Debug)]
struct SeenMessage {
    /// The run that sent it.
    sent_by: Option<RunId>,
    /// The runs that it woke, once that is decided.
    woke: Option<Vec<RunId>>,
}

#[derive(Debug)]
struct SeenRun {
    status: RunStatus,
    /// The run that answers its message instead.
    into: Option<RunId>,
    /// The message that woke it.
    message: Option<MessageId>,
    /// Whether another agent handed the message on to it.
    is_delegated: bool,
    /// Whether it handed its message on.
    has_delegated: bool,
}

/// The messages and runs of a turn.
#[derive(Clone, Debug, Default)]
struct Members {
    messages: BTreeSet<MessageId>,
    runs: BTreeSet<RunId>,
}

impl Turn {
    /// The turn that `message` begins.
    pub(crate) fn of(message: &Message) -> Self {
        let mut turn = Self::default();
        turn.begins_with(message);
        turn
    }

    /// Adds what a message causes.
    pub(crate) fn begins_with(&mut self, message: &Message) {
        self.roots.messages.insert(message.id);
        self.members.take();
        self.saw_message(message);
    }

    /// Adds a run with all that it causes.
    pub(crate) fn follows(&mut self, run: &Run) {
        self.roots.runs.insert(run.id);
        self.members.take();
        self.saw_run(run);
    }

    /// Only this run, or the one that answers its message instead, and nothing that it causes.
    #[must_use]
    pub(crate) fn only(self, run: RunId) -> Self {
        let roots = Members { runs: BTreeSet::from([run]), ..Members::default() };
        Self { roots, is_alone: true, members: OnceLock::new(), ..self }
    }

    /// Adds a run one of whose forms has an answer now. If all of them have, it keeps the turn open
    /// until it has continued.
    pub(crate) fn continues_with(&mut self, run: RunId, is_answered: bool) {
        self.roots.runs.insert(run);
        self.members.take();
        if is_answered {
            self.continuing.insert(run);
        }
    }

    /// Takes note of what the API says about the messages and runs of the space.
    pub(crate) fn knows<'a>(
        &mut self,
        messages: impl IntoIterator<Item = &'a Message>,
        runs: &[Run],
    ) {
        for message in messages {
            self.saw_message(message);
        }
        for run in runs {
            self.saw_run(run);
        }
    }

    /// Takes note of an event of the space.
    pub(crate) fn saw(&mut self, event: &EventKind) {
        if let EventKind::MessageCreated { message } | EventKind::MessageUpdated { message } = event
        {
            self.saw_message(message);
        }
        if let Some(run) = event.run() {
            self.saw_run(run);
        }
    }

    fn saw_message(&mut self, message: &Message) {
        self.members.take();
        let woke = message.dispatch.as_ref();
        let woke = woke.map(|all| all.iter().filter_map(|one| one.run_id).collect());
        let seen = self
            .messages
            .entry(message.id)
            .or_insert(SeenMessage { sent_by: message.run_id, woke: None });
        // A decision is made once.
        if seen.woke.is_none() {
            seen.woke = woke;
        }
    }

    fn saw_run(&mut self, run: &Run) {
        if self.runs.get(&run.id).is_some_and(|seen| has_ended(seen.status)) {
            return;
        }
        self.members.take();
        if run.status != RunStatus::WaitingTool {
            self.continuing.remove(&run.id);
        }
        let (message, is_delegated) = match &run.trigger {
            Trigger::SpaceMessage { message_id, source, .. } => {
                (Some(*message_id), *source == Source::Delegated)
            }
            _ => (None, false),
        };
        let seen = SeenRun {
            status: run.status,
            into: run.into_run_id,
            message,
            is_delegated,
            has_delegated: run.end_reason == Some(EndReason::Delegated),
        };
        self.runs.insert(run.id, seen);
    }

    /// Whether every run of the turn has ended or waits for people.
    pub(crate) fn is_over(&self) -> bool {
        let members = self.members();
        let is_decided =
            |id: &MessageId| self.messages.get(id).is_some_and(|message| message.woke.is_some());
        members.messages.iter().all(is_decided) && members.runs.iter().all(|id| self.rests(*id))
    }

    /// The runs of the turn that are known so far.
    pub(crate) fn runs(&self) -> BTreeSet<RunId> {
        self.members().runs.clone()
    }

    /// The runs of the turn about which nothing is known.
    pub(crate) fn unknown_runs(&self) -> Vec<RunId> {
        let unknown = |run: &RunId| !self.runs.contains_key(run) && !self.gone.contains(run);
        self.members().runs.iter().copied().filter(unknown).collect()
    }

    /// The API does not know the run any longer.
    pub(crate) fn forgets(&mut self, run: RunId) {
        self.gone.insert(run);
    }

    /// The messages of the turn that are known so far.
    pub(crate) fn messages(&self) -> BTreeSet<MessageId> {
        self.members().messages.clone()
    }

    /// Whether a run has ended, or waits for people, and nobody has begun its work instead.
    fn rests(&self, id: RunId) -> bool {
        let Some(run) = self.runs.get(&id) else { return self.gone.contains(&id) };
        if run.status == RunStatus::WaitingTool && self.continuing.contains(&id) {
            return false;
        }
        let is_taken = || {
            let mut others = self.runs.values();
            others.any(|other| other.is_delegated && other.message == run.message)
        };
        (has_ended(run.status) || run.status == RunStatus::WaitingTool)
            && (!run.has_delegated || is_taken())
    }

    fn members(&self) -> &Members {
        self.members.get_or_init(|| self.find_members())
    }

    fn find_members(&self) -> Members {
        let mut members = self.roots.clone();
        if self.is_alone {
            let into = members.runs.iter().filter_map(|id| self.runs.get(id)?.into);
            let into: Vec<_> = into.collect();
            members.runs.extend(into);
            return members;
        }
        loop {
            let before = members.messages.len() + members.runs.len();
            let woken = self.messages.iter().filter(|(id, _)| members.messages.contains(id));
            let woken: Vec<_> =
                woken.flat_map(|(_, message)| message.woke.iter().flatten()).copied().collect();
            members.runs.extend(woken);
            // A run that messages have joined hands on the newest of them.
            let handed_on: BTreeSet<_> = self
                .runs
                .iter()
                .filter(|(id, run)| run.has_delegated && members.runs.contains(id))
                .filter_map(|(_, run)| run.message)
                .chain(members.messages.iter().copied())
                .collect();
            for (id, run) in &self.runs {
                if run.is_delegated && run.message.is_some_and(|id| handed_on.contains(&id)) {
                    members.runs.insert(*id);
                }
                if members.runs.contains(id) {
                    members.runs.extend(run.into);
                }
            }
            for (id, message) in &self.messages {
                if message.sent_by.is_some_and(|run| members.runs.contains(&run)) {
                    members.messages.insert(*id);
                }
            }
            if members.messages.len() + members.runs.len() == before {
                return members;
            }
        }
    }
}

fn has_ended(status: RunStatus) -> bool {
    !status.is_active()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::samples::{message, run, run_id};

    fn ended(number: u128, of_message: u128) -> EventKind {
        EventKind::RunCompleted { run: run(number, of_message, "completed", &json!({})) }
    }

    #[test]
    fn a_turn_ends_with_the_runs_of_its_message() {
        assert!(Turn::of(&message(1, None, Some(&[]))).is_over());
        let mut turn = Turn::of(&message(1, None, Some(&[1, 2])));
        assert!(!turn.is_over());
        turn.saw(&ended(1, 1));
        assert!(!turn.is_over());
        // A run of another message.
        turn.saw(&EventKind::RunStarted { run: run(7, 6, "running", &json!({})) });
        turn.saw(&ended(2, 1));
        assert!(turn.is_over());
    }

    #[test]
    fn answers_that_wake_others_prolong_it_in_any_order() {
        let answer = EventKind::MessageCreated { message: message(2, Some(1), Some(&[3])) };
        let events = [ended(1, 1), answer, ended(3, 2)];
        for order in [[0, 1, 2], [1, 0, 2], [2, 1, 0], [2, 0, 1]] {
            let mut turn = Turn::of(&message(1, None, Some(&[1])));
            for (count, index) in order.into_iter().enumerate() {
                turn.saw(&events[index]);
                // Without the answer, nothing tells of the run that it woke.
                let is_known = order[..=count].contains(&1);
                assert!(!turn.is_over() || count == 2 || !is_known, "{order:?} {count}");
            }
            assert!(turn.is_over(), "{order:?}");
        }
    }

    #[test]
    fn an_undecided_message_keeps_it_open() {
        let mut turn = Turn::of(&message(1, None, None));
        assert!(!turn.is_over());
        turn.saw(&EventKind::MessageUpdated { message: message(1, None, Some(&[1])) });
        assert!(!turn.is_over());
        turn.saw(&ended(1, 1));
        assert!(turn.is_over());
    }

    #[test]
    fn a_run_that_waits_for_people_does_not_keep_it_open() {
        let mut turn = Turn::of(&message(1, None, Some(&[1])));
        let waiting = run(1, 1, "waiting_tool", &json!({}));
        turn.saw(&EventKind::RunWaitingTool { run: waiting });
        assert!(turn.is_over());
        turn.saw(&EventKind::RunResumed { run: run(1, 1, "running", &json!({})) });
        assert!(!turn.is_over());
    }

    #[test]
    fn a_run_whose_forms_have_answers_keeps_it_open_until_it_goes_on() {
        let waiting = run(1, 1, "waiting_tool", &json!({}));
        for is_answered in [true, false] {
            let mut turn = Turn::default();
            turn.continues_with(run_id(1), is_answered);
            turn.knows(&[], &[*waiting.clone()]);
            assert_eq!(turn.is_over(), !is_answered);
            turn.saw(&EventKind::RunResumed { run: run(1, 1, "running", &json!({})) });
            assert!(!turn.is_over());
            // It asks again.
            turn.saw(&EventKind::RunWaitingTool { run: waiting.clone() });
            assert!(turn.is_over());
        }
    }

    #[test]
    fn a_run_that_is_not_stored_any_longer_has_ended() {
        let mut turn = Turn::of(&message(1, None, Some(&[1, 2])));
        turn.saw(&ended(1, 1));
        assert_eq!(turn.unknown_runs(), [run_id(2)]);
        assert!(!turn.is_over());
        turn.forgets(run_id(2));
        assert_eq!(turn.unknown_runs(), []);
        assert!(turn.is_over());
    }

    #[test]
    fn what_a_run_causes_does_not_count_if_it_is_alone() {
        let mut turn = Turn::of(&message(1, None, Some(&[1, 2]))).only(run_id(1));
        turn.saw(&EventKind::MessageCreated { message: message(2, Some(1), Some(&[3])) });
        turn.saw(&EventKind::RunStarted { run: run(1, 1, "running", &json!({})) });
        assert_eq!(turn.runs(), BTreeSet::from([run_id(1)]));
        assert!(!turn.is_over());
        let joined = json!({"intoRunId": run_id(4), "endReason": "coalesced"});
        turn.saw(&EventKind::RunCanceled { run: run(1, 1, "canceled", &joined), by: None });
        assert!(!turn.is_over());
        turn.saw(&ended(4, 6));
        assert!(turn.is_over());
    }

    #[test]
    fn it_follows_runs_that_join_others_and_messages_that_are_handed_on() {
        let mut turn = Turn::of(&message(1, None, Some(&[1])));
        let joined = json!({"intoRunId": run_id(2), "endReason": "coalesced"});
        let joined = run(1, 1, "canceled", &joined);
        turn.saw(&EventKind::RunCanceled { run: joined, by: None });
        assert!(!turn.is_over());
        turn.saw(&ended(2, 6));
        assert!(turn.is_over());

        let mut turn = Turn::of(&message(1, None, Some(&[1])));
        let delegated = run(1, 1, "completed", &json!({"endReason": "delegated"}));
        turn.saw(&EventKind::RunCompleted { run: delegated });
        assert!(!turn.is_over());
        let takes = |status| run(3, 1, status, &json!({"source": "delegated"}));
        turn.saw(&EventKind::RunStarted { run: takes("running") });
        assert!(!turn.is_over());
        turn.saw(&EventKind::RunCompleted { run: takes("completed") });
        // A late frame changes nothing.
        turn.saw(&EventKind::RunStarted { run: takes("running") });
        assert!(turn.is_over());
    }

    #[test]
    fn a_message_that_joined_a_run_is_handed_on_with_it() {
        let mut turn = Turn::of(&message(1, None, Some(&[1])));
        let joined = json!({"intoRunId": run_id(2), "endReason": "coalesced"});
        turn.saw(&EventKind::RunCanceled { run: run(1, 1, "canceled", &joined), by: None });
        // A later message has joined it, too, and is its trigger now.
        let delegated = run(2, 6, "completed", &json!({"endReason": "delegated"}));
        turn.saw(&EventKind::RunCompleted { run: delegated });
        let takes = |status| run(3, 6, status, &json!({"source": "delegated"}));
        turn.saw(&EventKind::RunStarted { run: takes("running") });
        assert!(!turn.is_over());
        turn.saw(&EventKind::RunCompleted { run: takes("completed") });
        assert!(turn.is_over());
    }

    #[test]
    fn what_the_api_says_counts_like_events() {
        let mut turn = Turn::of(&message(1, None, Some(&[1])));
        let ended = run(1, 1, "completed", &json!({}));
        turn.knows(&[message(2, Some(1), Some(&[3]))], &[*ended]);
        assert!(!turn.is_over());
        turn.knows(&[], &[*run(3, 2, "failed", &json!({}))]);
        assert!(turn.is_over());
    }
}
