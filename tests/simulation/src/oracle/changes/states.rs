//! The states of messages: what edits and deletions made of them, and what people saw.

use serde_json::Value;
use tokio::time::Instant;

use crate::{
    ledger::{ChangeKind, SentChange},
    oracle::{
        Evidence,
        changes::{deleted_at, name},
        stored::parsed,
    },
    storage::Shown,
};

/// What a tombstone does not have.
const CONTENT: [&str; 7] = ["card", "files", "moreChars", "mentions", "partial", "gate", "router"];

/// States after a tombstone, and tombstones that have something left.
pub(super) fn no_state_follows_a_tombstone(shown: &Shown) -> Vec<String> {
    let mut found = Vec::new();
    for (message, states) in &shown.messages {
        let deleted = states.iter().skip_while(|state| state.item["deleted"].is_null());
        for state in deleted.map(|state| &state.item) {
            if state["deleted"].is_null() {
                found.push(format!("{message} was deleted, and is there again: {state}"));
            } else if let Some(left) = left_in(state) {
                found.push(format!("the tombstone {message} has {left}"));
            }
        }
    }
    found
}

/// Pins of tombstones.
pub(super) fn no_tombstone_is_pinned(evidence: &Evidence<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for (space, meta) in &evidence.stored.spaces {
        let pins = meta["pins"].as_array().into_iter().flatten();
        let numbers = pins.filter_map(|pin| pin["seq"].as_u64());
        let deleted = numbers.filter(|seq| evidence.stored.is_tombstone(space, *seq));
        found.extend(deleted.map(|seq| format!("the tombstone {seq} of {space} is pinned")));
    }
    found
}

/// What a tombstone still has.
fn left_in(tombstone: &Value) -> Option<String> {
    let has = |name: &&&str| {
        let value = &tombstone[**name];
        !value.is_null()
            && *value != Value::Bool(false)
            && !value.as_array().is_some_and(Vec::is_empty)
    };
    let reasons = tombstone["dispatch"].as_array().into_iter().flatten();
    let mut reasons = reasons.filter(|entry| !entry["reasonText"].is_null());
    if tombstone["text"].as_str().is_some_and(|text| !text.is_empty()) {
        return Some(format!("the text {}", tombstone["text"]));
    }
    if let Some(entry) = reasons.next() {
        return Some(format!("the reason {entry}"));
    }
    CONTENT.iter().find(has).map(|name| format!("{name}: {}", tombstone[*name]))
}

/// Answers that the states of messages contradict, and edits that nobody asked for.
pub(super) fn changes_are_as_they_were_answered(
    evidence: &Evidence<'_>,
    shown: &Shown,
) -> Vec<String> {
    let changes = &evidence.ledger.changes;
    let mut found = Vec::new();
    for change in changes {
        found.extend(wrong_answer(evidence, shown, changes, change));
    }
    for (message, states) in &shown.messages {
        for state in states.iter().skip(1).map(|state| &state.item) {
            let text = state["text"].as_str().unwrap_or_default();
            let is_edit = !state["editedAt"].is_null() && state["deleted"].is_null();
            if is_edit && !was_asked_for(evidence, text) {
                found.push(format!("nobody asked to edit {message} into {text:.60}"));
            }
        }
    }
    found
}

/// Whether a person or an agent asked for an edit into a text, of which `text` is the beginning.
fn was_asked_for(evidence: &Evidence<'_>, text: &str) -> bool {
    let is_edit = |change: &&SentChange| change.kind == ChangeKind::Edit;
    let sent = evidence.ledger.changes.iter().filter(is_edit);
    let mut by_people = sent.filter(|change| change.text.starts_with(text));
    let is_edit = |call: &Value| call["name"] == "edit_message";
    let mut by_agents = evidence.stored.all_begun().filter(|(_, call)| is_edit(call));
    by_people.next().is_some()
        || by_agents.any(|(_, call)| {
            parsed(&call["input"])["text"].as_str().is_some_and(|asked| asked.starts_with(text))
        })
}

/// What is wrong with the answer to a change of a person.
fn wrong_answer(
    evidence: &Evidence<'_>,
    shown: &Shown,
    changes: &[SentChange],
    change: &SentChange,
) -> Option<String> {
    let SentChange { kind, space, seq, text, sent, .. } = change;
    let (_, status) = change.answered?;
    let message = name(space, *seq);
    let was_deleted = |before: Instant| {
        let is_it = |other: &&SentChange| {
            other.kind == ChangeKind::Delete && (other.space, other.seq) == (*space, *seq)
        };
        let mut deletions = changes.iter().filter(is_it).filter_map(|other| other.answered);
        deletions.any(|(at, status)| status == 204 && at < before)
    };
    let changes_content = [ChangeKind::Edit, ChangeKind::React, ChangeKind::Pin].contains(kind);
    if changes_content && status == 200 && was_deleted(*sent) {
        return Some(format!("{message} was deleted, and then {kind:?} was accepted"));
    }
    let states = shown.messages.get(&message).map(Vec::as_slice).unwrap_or_default();
    match kind {
        ChangeKind::Edit if status == 200 => {
            let stored = evidence.stored.messages.get(&space.to_string())?.get(seq)?;
            if stored["sender"]["id"] != change.by.to_string().as_str() {
                return Some(format!("{} edited {message} of another sender", change.by));
            }
            let has_it = |item: &Value| {
                item["text"]
                    .as_str()
                    .is_some_and(|shown| !shown.is_empty() && text.starts_with(shown))
            };
            let is_stored = states.iter().any(|state| has_it(&state.item));
            (!is_stored).then(|| format!("{message} was edited into {text:.60}, and never was so"))
        }
        ChangeKind::Delete if status == 204 && deleted_at(shown, &message).is_none() => {
            Some(format!("{message} was deleted, and is not"))
        }
        _ => None,
    }
}

/// Edited and deleted messages that people saw otherwise than they were stored.
pub(super) fn people_see_stored_states(evidence: &Evidence<'_>, shown: &Shown) -> Vec<String> {
    let mut found = Vec::new();
    for (person, seen) in &evidence.seen {
        for ((space, seq, rev), text) in &seen.changed {
            let message = format!("{space}#{seq}");
            let states = shown.messages.get(&message).map(Vec::as_slice).unwrap_or_default();
            let is_it = |item: &Value| {
                let stored = item["text"].as_str().unwrap_or_default();
                match text {
                    None => !item["deleted"].is_null(),
                    // The item of a long text has its beginning.
                    Some(text) => item["deleted"].is_null() && text.starts_with(stored),
                }
            };
            // Decisions raise the revision, too.
            let is_before = |item: &Value| item["rev"].as_u64().is_some_and(|it| it <= *rev);
            let state = states.iter().rfind(|state| is_before(&state.item));
            if !state.is_some_and(|state| is_it(&state.item)) {
                found.push(format!(
                    "person {} saw the revision {rev} of {message} as {text:?}, which it never was",
                    person.index
                ));
            }
        }
    }
    found
}
