//! The lists of mentions, and the frames about new entries.

use serde_json::Value;

use crate::oracle::{Evidence, Stored, changes::replies::may_be_out};

/// Entries and frames that do not fit their messages, and messages without their entries.
pub(super) fn mentions_are_of_their_messages(evidence: &Evidence<'_>) -> Vec<String> {
    let stored = &evidence.stored;
    let mut found = Vec::new();
    for ((person, id), entry) in &stored.mentions {
        let space = entry["spaceId"].as_str().unwrap_or_default();
        let message = message_at(stored, space, entry["seq"].as_u64().unwrap_or_default());
        // A deletion of the space may have found its messages without their parents.
        let Some(message) = message.filter(|_| !stored.is_deleted(space)) else { continue };
        if message["id"] != id.as_str() || reason(message, person) != entry["why"].as_str() {
            found.push(format!("the list of {person} has {entry} for {message}"));
        }
    }
    for (person, seen) in &evidence.seen {
        for (space, frame) in &seen.mentions {
            let message = message_at(stored, space, frame["seq"].as_u64().unwrap_or_default());
            let Some(message) = message.filter(|_| !stored.is_deleted(space)) else { continue };
            let is_right = message["id"] == frame["messageId"]
                && message["sender"]["id"] == frame["sender"]["id"]
                && reason(message, &person.id.to_string()) == frame["why"].as_str();
            if !is_right {
                found.push(format!("person {} was sent {frame} for {message}", person.index));
            }
        }
    }
    found.extend(missing_entries(evidence));
    found
}

fn message_at<'a>(stored: &'a Stored, space: &str, seq: u64) -> Option<&'a Value> {
    stored.messages.get(space)?.get(&seq)
}

/// Why a message is for a person.
fn reason(message: &Value, person: &str) -> Option<&'static str> {
    let mentions = message["mentions"].as_array().map(Vec::as_slice).unwrap_or_default();
    if message["sender"]["id"] == person {
        None
    } else if mentions.iter().any(|mention| mention["entityId"] == person) {
        Some("mention")
    } else {
        (message["replyTo"]["senderId"] == person).then_some("reply")
    }
}

/// Messages that are for a person and are not in its list.
fn missing_entries(evidence: &Evidence<'_>) -> Vec<String> {
    let stored = &evidence.stored;
    let people: Vec<String> = evidence.ledger.people.iter().map(ToString::to_string).collect();
    let mut found = Vec::new();
    let is_left = |space: &String| {
        evidence.ledger.emptied.iter().any(|emptied| emptied.space.to_string() == *space)
    };
    let lasting = |space: &String| !stored.is_deleted(space) && !is_left(space);
    let whole = stored.all_messages().filter(|(_, message)| message["partial"] != true);
    for (space, message) in whole.filter(|(space, _)| lasting(space)) {
        let id = message["id"].as_str().unwrap_or_default();
        for person in people.iter().filter(|person| reason(message, person).is_some()) {
            let has_entry = stored.mentions.contains_key(&(person.clone(), id.to_owned()));
            // A person that is out of the space gets no entry.
            if !has_entry && !may_be_out(evidence, space, person) {
                found.push(format!("the list of {person} lacks {message}"));
            }
        }
    }
    found
}
