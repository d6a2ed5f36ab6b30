//! Events as frames: cut to the length of a frame, and without what a receiver may not know.

use std::borrow::Cow;

use serde_json::Value;

use crate::{
    callers::KnownBy,
    events::{Event, EventKind},
    limits,
    messages::cut_reactions,
    runs::Run,
    spaces::ShownRouter,
    steps,
    triggers::TriggerKind,
};

/// More than what most calls of a step take in a frame, in bytes.
const CALL_BYTES: usize = 256;

/// More than what an entity that is present and types takes in a frame, in bytes.
const PRESENT_BYTES: usize = 256;

/// A pattern for all events that hold a run.
macro_rules! run_events {
    ($run:ident) => {
        EventKind::RunQueued { run: $run, .. }
            | EventKind::RunStarted { run: $run }
            | EventKind::RunWaitingTool { run: $run }
            | EventKind::RunResumed { run: $run }
            | EventKind::RunCompleted { run: $run, .. }
            | EventKind::RunFailed { run: $run }
            | EventKind::RunCanceled { run: $run, .. }
    };
}

impl EventKind {
    /// The run that the event shows, if it shows one.
    pub fn run(&self) -> Option<&Run> {
        if let run_events!(run) = self { Some(run) } else { None }
    }

    /// What happened, without the texts of a trigger: followers have them or can fetch them.
    #[must_use]
    pub fn without_trigger_texts(mut self) -> Self {
        if let Some(run) = self.run_mut() {
            run.trigger = run.trigger.without_texts();
        }
        self
    }

    fn run_mut(&mut self) -> Option<&mut Run> {
        if let run_events!(run) = self { Some(run) } else { None }
    }
}

impl Event {
    /// The event as a frame: a JSON text of at most 30 KiB. Long parts of the event are cut so that
    /// it fits.
    pub fn to_frame(&self) -> String {
        self.fitted().1
    }

    /// The event, cut so that it fits a frame, and its frame.
    pub(crate) fn fitted(&self) -> (Cow<'_, Self>, String) {
        let whole = json(self);
        if whole.len() <= limits::FRAME_BYTES {
            return (Cow::Borrowed(self), whole);
        }
        // Escaping makes a text up to six times longer, so the right length is found by trying.
        let mut bytes = limits::SOCKET_TEXT_BYTES;
        loop {
            let event = self.cut_to(bytes);
            let frame = json(&event);
            if frame.len() <= limits::FRAME_BYTES || bytes == 0 {
                return (Cow::Owned(event), frame);
            }
            bytes /= 2;
        }
    }

    fn cut_to(&self, bytes: usize) -> Self {
        let mut event = self.clone();
        match &mut event.what {
            EventKind::MessageCreated { message } | EventKind::MessageUpdated { message } => {
                *message = message.clone().cut_to(bytes);
                if bytes < limits::TIMELINE_CHARS {
                    // A dispatch of hundreds of agents is too long as well. Clients fetch it over
                    // HTTP.
                    message.dispatch = None;
                    message.gate = None;
                    message.truncated = true;
                }
            }
            EventKind::Reactions { items } => {
                let each = bytes / items.len().max(1);
                for item in items {
                    cut_reactions(&mut item.reactions, each);
                }
            }
            EventKind::ToolRequested(asked) | EventKind::ToolResolved(asked) => {
                asked.input = Value::Null;
                asked.result_schema = None;
            }
            EventKind::RunStep { step, .. } => step.calls.truncate(bytes / CALL_BYTES),
            EventKind::Presence { present, typing, .. } => {
                present.truncate(bytes / PRESENT_BYTES);
                typing.truncate(bytes / PRESENT_BYTES);
            }
            EventKind::SystemMessage { text, .. } => text.truncate(text.floor_char_boundary(bytes)),
            EventKind::SpaceUpdated { space } | EventKind::SpaceJoined { space } => {
                space.members.truncate(bytes / 256);
                if let Some(ShownRouter(Some(router))) = &mut space.router {
                    router.instructions = None;
                    if let Some(model) = &mut router.model {
                        model.script = None;
                    }
                }
            }
            _ => {}
        }
        event
    }

    /// The event as members get it, if the operator gets more: only the operator may know the plan
    /// or the service that triggered a run, the words of a provider about its failure, its chain,
    /// and its usage. Owners read the usage over HTTP, because a look at the roster for each event
    /// of a run would cost more than it is worth.
    pub fn for_members(&self) -> Option<Self> {
        let mut event = self.clone();
        let run = event.what.run_mut()?;
        let reduced = run.clone().without_foreign_words().without_chain().for_members();
        let hides_trigger = run.trigger.kind() != TriggerKind::SpaceMessage;
        *run = if hides_trigger { reduced.without_trigger() } else { reduced };
        Some(event)
    }

    /// Who gets the event, if not everyone who follows the space.
    pub fn is_for(&self) -> Option<KnownBy> {
        match &self.what {
            EventKind::SystemMessage { private: true, .. } => Some(KnownBy::Operator),
            EventKind::SystemMessage { watcher, .. } if steps::is_for_owners(watcher) => {
                Some(KnownBy::Owners(self.space_id))
            }
            _ => None,
        }
    }

    /// Who may see the parts of the event that not everyone may see who gets it: a message's origin
    /// may name another space, a run may have entered one, steps are for the operator, and what a
    /// space may spend, and its router costs, is for its owners.
    pub fn known_by(&self) -> Vec<KnownBy> {
        match &self.what {
            EventKind::MessageCreated { message } | EventKind::MessageUpdated { message } => {
                message.known_by()
            }
            EventKind::RunStep { .. } => vec![KnownBy::Operator],
            EventKind::SpaceUpdated { .. } => vec![KnownBy::Owners(self.space_id)],
            what => what.run().and_then(|run| run.known_by(self.space_id)).into_iter().collect(),
        }
    }

    /// The event for receivers who are not among `known_by`, one of [`Self::known_by`].
    #[must_use]
    pub fn for_others_than(&self, known_by: KnownBy) -> Self {
        let mut event = self.clone();
        match &mut event.what {
            EventKind::MessageCreated { message } | EventKind::MessageUpdated { message } => {
                *message = message.clone().for_others_than(known_by);
            }
            EventKind::RunStep { step, .. } => **step = step.for_members(),
            EventKind::SpaceUpdated { space } => **space = space.as_ref().clone().for_members(),
            what => {
                if let Some(run) = what.run_mut() {
                    *run = run.clone().without_active_space();
                }
            }
        }
        event
    }
}

/// The event as JSON. This cannot fail, because all of its types have a JSON form; an empty frame
/// would show a mistake in them.
fn json(event: &Event) -> String {
    serde_json::to_string(event).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Time,
        ids::{CallId, RunId, SpaceId},
        steps::{CallStatus, LiveCall, LiveCallDetails, LiveStep},
    };

    #[test]
    fn a_step_with_many_calls_is_cut_to_fit_a_frame_and_members_see_little_of_it() {
        let call = |index| LiveCall {
            name: format!("tool_{}", "x".repeat(59)),
            details: Some(LiveCallDetails {
                call_id: CallId::of(RunId::new(Time::default(), 1), 0, index),
                status: CallStatus::Unknown,
                started_at: Some(Time::default()),
                visible: index.is_multiple_of(2),
            }),
        };
        let step =
            LiveStep { index: 7, rev: 1, answer: None, calls: (0..4_000).map(call).collect() };
        let what =
            EventKind::RunStep { run_id: RunId::new(Time::default(), 1), step: Box::new(step) };
        let event = Event { space_id: SpaceId::new(Time::default(), 1), at: Time::default(), what };
        assert_eq!(event.known_by(), [KnownBy::Operator]);
        for (event, is_reduced) in
            [(event.clone(), false), (event.for_others_than(KnownBy::Operator), true)]
        {
            let frame = event.to_frame();
            assert!(frame.len() <= limits::FRAME_BYTES, "{}", frame.len());
            assert_eq!(!frame.contains("callId"), is_reduced, "{frame}");
            let EventKind::RunStep { step, .. } =
                serde_json::from_str::<Event>(&frame).unwrap().what
            else {
                panic!("{frame}")
            };
            assert!(step.calls.len() >= 60, "{}", step.calls.len());
        }
    }

    #[test]
    fn a_long_system_message_is_cut_to_fit_a_frame() {
        let space_id = SpaceId::new(Time::default(), 1);
        let run_id = RunId::new(Time::default(), 1);
        for text in ["\u{1}".repeat(20_000), "語".repeat(40_000)] {
            let what = EventKind::SystemMessage {
                run_id,
                step: 1,
                watcher: "news".into(),
                text: text.clone(),
                private: true,
            };
            let frame = Event { space_id, at: Time::default(), what }.to_frame();
            assert!(frame.len() <= limits::FRAME_BYTES, "{}", frame.len());
            let EventKind::SystemMessage { text: shown, .. } =
                serde_json::from_str::<Event>(&frame).unwrap().what
            else {
                panic!("{frame}")
            };
            assert!(shown.len() > 1_000 && text.starts_with(&shown));
        }
    }
}
