//! Promise 2: a space has one order, in which `seq` has no gaps and never changes.

use serde_json::Value;

use crate::oracle::{Evidence, stored::shown};

/// What a message shows for good: people may edit the input of a call that waits for approval.
fn lasting(message: &Value) -> &str {
    if message["card"]["asks"]["approval"].is_null() { shown(message) } else { "" }
}

pub(super) fn one_order_without_gaps(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    for (space, messages) in &evidence.stored.messages {
        let last = evidence.stored.heads.get(space).copied().unwrap_or(0);
        if !messages.keys().copied().eq(1..=last) {
            found.push(format!(
                "the numbers of {space} are {:?}, and its last is {last}",
                messages.keys().collect::<Vec<_>>()
            ));
        }
        for (seq, message) in messages {
            if message["seq"] != *seq {
                let id = &message["id"];
                found.push(format!("{id} is stored at {seq} with the seq {}", message["seq"]));
            }
        }
    }
    for (person, seen) in &evidence.seen {
        for (space, messages) in &seen.messages {
            for (seq, (id, text)) in messages {
                let stored =
                    evidence.stored.messages.get(space).and_then(|messages| messages.get(seq));
                // `changes` compares the texts of edited and deleted messages.
                let is_changed = evidence.stored.is_changed(space, *seq);
                if !stored.is_some_and(|stored| {
                    let has_text = is_changed || lasting(stored) == text.as_str();
                    stored["id"] == id.as_str() && has_text
                }) {
                    found.push(format!(
                        "person {} saw {id} at {seq} of {space}, but {:?} is stored there",
                        person.index,
                        stored.map(|stored| &stored["id"])
                    ));
                }
            }
            // At the end of a history every member fetches all messages.
            let last = evidence.stored.heads.get(space).copied().unwrap_or(0);
            let member = evidence.stored.members.get(&(space.clone(), person.id.to_string()));
            if member.is_some_and(|member| member["left"].is_null())
                && seen.contiguous(space) != last
            {
                found.push(format!(
                    "person {} saw {space} without gaps up to {} of {last}",
                    person.index,
                    seen.contiguous(space)
                ));
            }
        }
    }
    for text in found {
        evidence.report(2, text);
    }
}
