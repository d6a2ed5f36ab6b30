//! Nobody reads or writes in a space that they are not a member of.

use std::time::Duration;

use super::Evidence;
use crate::ledger::Removed;

/// What was on its way when someone was removed may still arrive.
const ON_ITS_WAY: Duration = Duration::from_secs(3);

pub(super) fn nobody_reads_or_writes_where_they_are_no_member(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    for removed in &evidence.ledger.removed {
        let Removed { entity, space, at, after, back, back_after } = removed;
        let space_name = space.to_string();
        // What it wrote while it was out.
        let until = if back.is_none() { u64::MAX } else { back_after.unwrap_or(*after) };
        for (seq, message) in evidence.kept.messages.get(&space_name).into_iter().flatten() {
            if *seq > *after && *seq <= until && message["sender"]["id"] == entity.to_string().as_str() {
                found.push(format!("{entity} wrote number {seq} of {space} after it was taken out at {after}"));
            }
        }
        // What it was shown while it was out.
        let Some((person, seen)) = evidence.seen.iter().find(|(person, _)| person.id == *entity) else { continue };
        for frame in
            seen.frames.iter().filter(|frame| frame.space == space_name && frame.at > *at && back.is_none_or(|back| frame.at < back))
        {
            if frame.seq.is_some_and(|seq| seq > *after) {
                let (number, kind, when) = (frame.seq, &frame.kind, frame.at - *at);
                let index = person.index;
                found.push(format!("person {index} saw number {number:?} of {space} by {kind} {when:?} after it was taken out at {after}"));
            }
            let words = frame.text.split_whitespace().filter_map(|word| evidence.ledger.words.get(word));
            if words.into_iter().any(|written| *written > *at + ON_ITS_WAY) {
                found.push(format!("person {} saw {:?} of {space} being written after it was taken out", person.index, frame.text));
            }
        }
    }
    for text in found {
        evidence.complain(9, text);
    }
}
