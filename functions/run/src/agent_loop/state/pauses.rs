//! Writes what a run has to know after a pause: its prompt stays as it was, so that providers find
//! it in their caches.

use std::time::Duration;

use serde_json::Value;
use smartspace_domain::{
    Time,
    approvals::ApprovalState,
    forms::{FormAnswer, first_text},
    jobs::MessageRef,
    json,
    steps::CallStatus,
    tools::EDIT_MESSAGE,
};
use smartspace_store::runs::{
    approvals::CallApproval,
    cards::CardRef,
    steps::{CallBegun, CallRecord},
};

use crate::{
    agent_loop::state::{Pending, State, decisions::deciders},
    prompt::{
        changes::{Known, OwnChange, write_changes},
        format::{Excerpt, Name, Span},
        lines::operator,
        lists::minute,
        placed::Placed,
        reading::PromptSources,
    },
    run_context::RunContext,
    watchers::resumed,
};

/// A shorter time without a step is no pause.
const MIN_PAUSE: Duration = Duration::from_mins(1);
/// The longest question of a form, in characters.
const MAX_QUESTION_CHARS: usize = 80;
/// The tools that change what the prompt shows.
const CHANGING: [&str; 7] = [
    "set_memories",
    "delete_memories",
    "set_goals",
    "delete_goals",
    "set_plans",
    "delete_plans",
    EDIT_MESSAGE,
];

impl State {
    /// Notes how a call ended. A form counts from the moment at which it was shown.
    pub(super) fn note_call(&mut self, record: &CallRecord) {
        let is_form = record.answer.is_some() || record.status == CallStatus::Pending;
        let acted_at = if is_form { record.started_at } else { record.finished_at };
        // The run has waited before it made a call that people have approved.
        let has_waited = record.approval.is_some() && !is_form;
        if !has_waited {
            self.last_action = self.last_action.max(acted_at);
        }
    }

    /// Notes the answers to the forms of the last step, and the decisions on its calls.
    pub(crate) fn note_answers(&mut self, pending: &Pending) {
        let calls = pending.calls.iter().zip(&pending.records);
        let forms: Vec<(&CallBegun, &CallRecord)> = calls
            .filter_map(|(begun, record)| Some((begun, record.as_ref()?)))
            .filter(|(_, record)| record.answer.is_some() || was_asked(record))
            .collect();
        let senders = forms.iter().filter_map(|(_, record)| record.answer.as_ref()?.sender.clone());
        let senders = senders.chain(forms.iter().flat_map(|(_, record)| deciders(record)));
        self.names.add(&senders.collect::<Vec<_>>());
        self.answers = forms
            .iter()
            .map(|(begun, record)| {
                let text = self.answer(begun, record, forms.len() > 1);
                match record.card {
                    // It may repeat the question of the card.
                    Some(CardRef { space, seq, .. }) => {
                        Placed::of(MessageRef { space_id: space, seq }, text)
                    }
                    None => Placed::plain(text),
                }
            })
            .collect();
    }

    /// Writes how a form ended. With several forms, its question says which one it is.
    fn answer(&self, begun: &CallBegun, record: &CallRecord, with_question: bool) -> String {
        let mut form = Name(&record.name).to_string();
        let input = json::parse(&begun.input).ok();
        if let Some(question) = input.as_ref().and_then(first_text).filter(|_| with_question) {
            form = format!("{form} {}", Excerpt(question, MAX_QUESTION_CHARS));
        }
        if let Some(approval) = &record.approval {
            return self.decision(&form, begun, record, approval);
        }
        let sender = record.answer.as_ref().and_then(|answer| answer.sender.as_ref());
        let who = sender.map_or_else(operator, |sender| self.names.of(sender));
        match record.status {
            CallStatus::Expired => format!("{form} expired: nobody answered."),
            CallStatus::Completed if FormAnswer::is_declined(&record.output.to_string()) => {
                format!("{} declined {form}.", capitalized(&who))
            }
            CallStatus::Completed => format!("{} answered {form}.", capitalized(&who)),
            _ => format!("{form} ended without an answer."),
        }
    }

    /// Notes what changed in the agent's state since the stored prompt. The sources of a prompt are
    /// read at every claim, so this reads nothing.
    pub(super) fn note_changes(&mut self, context: &RunContext, sources: &PromptSources) {
        let earlier = self.system_messages.iter();
        let earlier = earlier.filter(|message| message.watcher == resumed::NAME);
        let known = Known {
            prompt: &self.prompt.body.messages,
            notices: earlier.map(|message| &*message.text).collect(),
            since: context.run.started_at.unwrap_or(context.run.created_at),
            own_changes: &self.own_changes,
        };
        self.changed = write_changes(sources, context.config.builtins, &known);
    }

    /// Notes a call of the run that changed the agent's state, or a message.
    pub(crate) fn note_own_change(&mut self, begun: &CallBegun, record: &CallRecord) {
        if CHANGING.contains(&&*record.name) && record.status == CallStatus::Completed {
            self.own_changes.push(OwnChange {
                tool: record.name.clone(),
                input: json::parse(&begun.input).unwrap_or(Value::Null),
                began_at: record.started_at,
                ended_at: record.finished_at,
            });
        }
    }

    /// Writes the notice after a pause. `None` if there was none.
    pub(crate) fn resumed(&mut self, now: Time) -> Option<Placed> {
        let waited = now.since(self.last_action);
        if self.answers.is_empty() && waited < MIN_PAUSE {
            return None;
        }
        let span = if waited < MIN_PAUSE {
            format!("{}s", waited.as_secs())
        } else {
            Span(waited).to_string()
        };
        let mut text = Placed::default();
        for answer in std::mem::take(&mut self.answers) {
            text.append(&answer);
            text.push_str(" ");
        }
        text.push_str(&format!("It is {} UTC; you waited {span}.", minute(now)));
        let changed = std::mem::take(&mut self.changed);
        if !changed.is_empty() {
            text.push_str(&format!(" Changed meanwhile:\n{}", changed.join("\n")));
        }
        Some(text)
    }
}

/// Whether people were asked about the call.
fn was_asked(record: &CallRecord) -> bool {
    let is_asked =
        |it: &CallApproval| it.state != ApprovalState::Declined || !it.decisions.is_empty();
    record.approval.as_ref().is_some_and(is_asked)
}

fn capitalized(who: &str) -> String {
    if who == operator() { "The operator".to_owned() } else { who.to_owned() }
}
