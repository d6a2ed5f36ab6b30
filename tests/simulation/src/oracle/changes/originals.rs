//! Messages as they were first posted, and steps and calls as they were first stored.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{env::Env, oracle::Stored, storage::Shown};

/// What an edit changes of a message.
const OF_TEXT: [&str; 4] = ["text", "moreChars", "partial", "mentions"];

/// The items of the table as if nobody had edited or deleted a message. `changed` has the edited
/// and deleted messages as they are.
pub(in crate::oracle) fn as_posted(env: &Env, mut stored: Stored) -> Stored {
    let shown = env.storage.shown();
    let Stored { messages, changed, .. } = &mut stored;
    for (space, messages) in messages {
        for (seq, message) in messages {
            if message["deleted"].is_null() && message["editedAt"].is_null() {
                continue;
            }
            changed.insert((space.clone(), *seq), message.clone());
            *message = posted(&shown, &format!("{space}#{seq}"), message);
        }
    }
    stored
}

/// A message as it was first posted.
fn posted(shown: &Shown, name: &str, message: &Value) -> Value {
    let undeleted = shown.undeleted.get(name).filter(|_| !message["deleted"].is_null());
    let mut original = undeleted.unwrap_or(message).clone();
    let first = shown.messages.get(name).and_then(|states| states.first());
    let Some(first) = first.map(|state| &state.item) else { return original };
    if original["card"].is_null() {
        copy(first, &mut original, &OF_TEXT);
    }
    let text = shown.texts.get(name).map(|item| &item["text"]);
    if let Some(text) = text.filter(|text| text.is_string() && !first["moreChars"].is_null()) {
        original["text"] = text.clone();
    }
    if let Some(dispatch) = shown.dispatches.get(name) {
        original["dispatch"] = dispatch.clone();
    }
    // It was deleted before its decision, which then chose nobody.
    if original["dispatch"].is_null() {
        original["dispatch"] = message["dispatch"].clone();
    }
    if let Some(fields) = original.as_object_mut() {
        fields.remove("editedAt");
        fields.remove("deleted");
    }
    original
}

/// Gives runs back what forgetting has taken out of their items, or the whole items.
pub(in crate::oracle) fn restore_runs(env: &Env, items: &mut Vec<Value>) {
    let is_redacted = |item: &&Value| item["SK"] == "META" && !item["redactedAt"].is_null();
    let redacted: BTreeSet<String> =
        items.iter().filter(is_redacted).filter_map(|run| text(&run["PK"])).collect();
    if redacted.is_empty() {
        return;
    }
    let mut whole = env.storage.shown().of_runs;
    whole.retain(|(pk, _), _| redacted.contains(pk));
    for item in items.iter_mut() {
        let key = text(&item["PK"]).zip(text(&item["SK"]));
        if let Some(original) = key.and_then(|key| whole.remove(&key)) {
            *item = original;
        }
    }
    items.extend(whole.into_values());
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn copy(from: &Value, to: &mut Value, names: &[&str]) {
    let Some(fields) = to.as_object_mut() else { return };
    for name in names {
        match &from[*name] {
            Value::Null => fields.remove(*name),
            value => fields.insert((*name).to_owned(), value.clone()),
        };
    }
}
