//! Promise 9: only members of a space read it and write to it.

use std::time::Duration;

use crate::ledger::Removed;
use crate::oracle::Evidence;

/// Text that was on its way when an entity was removed may still arrive.
const IN_FLIGHT: Duration = Duration::from_secs(3);

pub(super) fn only_members_read_and_write(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    for removed in &evidence.ledger.removed {
        let Removed { entity, space, at, after, back, back_after } = removed;
        let space_name = space.to_string();
        // Messages that it wrote while it was not a member.
        let until = if back.is_none() { u64::MAX } else { back_after.unwrap_or(*after) };
        for (seq, message) in evidence.stored.messages.get(&space_name).into_iter().flatten() {
            if *seq > *after
                && *seq <= until
                && message["sender"]["id"] == entity.to_string().as_str()
            {
                found.push(format!(
                    "{entity} wrote number {seq} of {space} after it was removed at {after}"
                ));
            }
        }
        // Frames that it saw while it was not a member.
        let Some((person, seen)) = evidence.seen.iter().find(|(person, _)| person.id == *entity)
        else {
            continue;
        };
        for frame in seen.frames.iter().filter(|frame| {
            frame.space == space_name && frame.at > *at && back.is_none_or(|back| frame.at < back)
        }) {
            if frame.seq.is_some_and(|seq| seq > *after) {
                found.push(format!(
                    "person {} saw number {:?} of {space} by {}, {:?} after its removal at {after}",
                    person.index,
                    frame.seq,
                    frame.kind,
                    frame.at - *at
                ));
            }
            let words =
                frame.text.split_whitespace().filter_map(|word| evidence.ledger.words.get(word));
            if words.into_iter().any(|written| *written > *at + IN_FLIGHT) {
                found.push(format!(
                    "person {} saw {:?} of {space} streamed after it was removed",
                    person.index, frame.text
                ));
            }
        }
    }
    for text in found {
        evidence.report(9, text);
    }
}
