//! The decisions of people on calls of the run, and how the model hears of them.

use serde_json::Value;
use smartspace_domain::{
    approvals::{ApprovalState, DecisionAction, MadeDecision},
    forms::FormAnswer,
    json,
    messages::{Sender, excerpt},
    quoting::escaped,
    steps::CallStatus,
};
use smartspace_store::runs::steps::{CallApproval, CallBegun, CallRecord};

use crate::{
    agent_loop::state::State,
    prompt::{
        approvals::write_decider,
        format::{Excerpt, Name},
        names::decider,
    },
    tools::configured::target::TARGET,
};

/// The longest value of a changed field that is written, in characters of JSON.
const MAX_VALUE_CHARS: usize = 80;
/// The most changed fields that are written.
const MAX_FIELDS: usize = 5;

impl State {
    /// Notes a call that people have declined. The same call is not shown to them again.
    pub(crate) fn note_declined(&mut self, begun: &CallBegun, record: &CallRecord) {
        let Some(approval) = &record.approval else { return };
        if approval.state != ApprovalState::Declined
            || !FormAnswer::is_declined(&record.output.to_string())
        {
            return;
        }
        let written = json::parse_written(&begun.input).ok().map(without_target);
        for input in written.into_iter().chain(approval.input.clone()) {
            if !self.was_declined(&record.name, &input) {
                self.declined.push((record.name.clone(), input));
            }
        }
    }

    /// Whether people have declined a call with this input in this run.
    pub(crate) fn was_declined(&self, tool: &str, input: &Value) -> bool {
        self.declined.iter().any(|(name, declined)| name == tool && declined == input)
    }

    /// Writes what people decided about a call that is called `call` here.
    pub(super) fn decision(
        &self,
        call: &str,
        begun: &CallBegun,
        record: &CallRecord,
        approval: &CallApproval,
    ) -> String {
        let last = approval.decisions.last().map(|decision| decision.action);
        match (approval.state, last) {
            (ApprovalState::Approved, _) => self.approved(call, begun, approval),
            (ApprovalState::Expired, _) => format!("{call} expired: it was not approved in time."),
            (ApprovalState::Declined, Some(DecisionAction::Respond)) => {
                format!("{} answered in place of {call}.", self.last_decider(approval))
            }
            (ApprovalState::Declined, Some(_)) if record.status == CallStatus::Completed => {
                format!("{} declined {call}.", self.last_decider(approval))
            }
            _ => format!("{call} ended without a decision."),
        }
    }

    /// Writes who approved a call, and what they changed.
    fn approved(&self, call: &str, begun: &CallBegun, approval: &CallApproval) -> String {
        let by: Vec<_> =
            approval.decisions.iter().map(|it| write_decider(&self.names, it)).collect();
        let mut sentences = vec![format!("{} approved {call}.", listed(&by))];
        let is_edit = |decision: &&MadeDecision| decision.action == DecisionAction::Edit;
        let edit = approval.decisions.iter().rev().find(is_edit);
        if let Some((edit, input)) = edit.zip(approval.input.as_ref()) {
            let before = json::parse_written(&begun.input).ok().map(without_target);
            let changes = changes(&before.unwrap_or_default(), input);
            let who = write_decider(&self.names, edit);
            sentences.extend((!changes.is_empty()).then(|| format!("{who} {changes}.")));
        }
        sentences.join(" ")
    }

    fn last_decider(&self, approval: &CallApproval) -> String {
        let last = approval.decisions.last();
        last.map_or_else(|| "Somebody".to_owned(), |it| write_decider(&self.names, it))
    }
}

/// The senders that the decisions of a call name.
pub(super) fn deciders(record: &CallRecord) -> impl Iterator<Item = Sender> {
    record.approval.iter().flat_map(|approval| approval.decisions.iter().map(decider))
}

/// An input without the choice of the space that shows it, which is no part of the call.
fn without_target(mut input: Value) -> Value {
    if let Some(fields) = input.as_object_mut() {
        fields.shift_remove(TARGET);
    }
    input
}

/// Writes names with commas and `and`.
fn listed(names: &[String]) -> String {
    match names {
        [] => "Somebody".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Writes what differs between two inputs, field by field: `changed amount from 900 to 600`.
fn changes(before: &Value, after: &Value) -> String {
    let (Some(old), Some(new)) = (before.as_object(), after.as_object()) else {
        let is_other = before != after;
        return if is_other { "changed the input".to_owned() } else { String::new() };
    };
    let set = new.iter().filter(|(name, value)| old.get(*name) != Some(value));
    let set = set.map(|(name, value)| match old.get(name) {
        Some(old) => format!("changed {} from {} to {}", Name(name), short(old), short(value)),
        None => format!("added {} {}", Name(name), short(value)),
    });
    let removed = old.keys().filter(|name| !new.contains_key(*name));
    let all: Vec<_> = set.chain(removed.map(|name| format!("removed {}", Name(name)))).collect();
    let mut written: Vec<_> = all.iter().take(MAX_FIELDS).cloned().collect();
    match all.len() - written.len() {
        0 => {}
        1 => written.push("changed 1 more field".to_owned()),
        more => written.push(format!("changed {more} more fields")),
    }
    if written.is_empty() { String::new() } else { listed(&written) }
}

/// Writes the beginning of a value.
fn short(value: &Value) -> String {
    if let Value::String(text) = value {
        return Excerpt(text, MAX_VALUE_CHARS).to_string();
    }
    let json = value.to_string();
    let (text, more) = excerpt(&json, MAX_VALUE_CHARS);
    let end = if more > 0 { "…" } else { "" };
    format!("{}{end}", escaped(text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn changed_added_and_removed_fields_are_named() {
        let before = json!({"amount": 900, "to": "a", "note": "x"});
        assert_eq!(
            changes(&before, &json!({"amount": 600, "to": "a", "note": "x"})),
            "changed amount from 900 to 600"
        );
        assert_eq!(
            changes(&before, &json!({"amount": 900, "to": "b", "fast": true})),
            "changed to from \"a\" to \"b\", added fast true and removed note"
        );
        assert_eq!(changes(&before, &before), "");
        assert_eq!(changes(&json!([1]), &json!([2])), "changed the input");
    }

    #[test]
    fn long_values_and_long_lists_are_cut() {
        let long = json!({"text": "a".repeat(200)});
        let written = changes(&json!({"text": "b"}), &long);
        assert_eq!(written, format!("changed text from \"b\" to \"{}…\"", "a".repeat(80)));
        let many: Value = (0..7).map(|it| (format!("f{it}"), json!(1))).collect();
        let written = changes(&json!({}), &many);
        assert!(written.ends_with("added f4 1 and changed 2 more fields"), "{written}");
        assert!(changes(&json!({}), &json!({"a\nb\u{202e}": "x\u{202e}"})).contains("\\u202e"));
    }
}
