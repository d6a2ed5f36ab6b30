//! A space has one order: `seq` has no gaps and never changes.

use super::{Evidence, kept::shown};

pub(super) fn one_order_without_gaps(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    for (space, messages) in &evidence.kept.messages {
        let last = evidence.kept.heads.get(space).copied().unwrap_or(0);
        if !messages.keys().copied().eq(1..=last) {
            found.push(format!("the numbers of {space} are {:?}, and its last is {last}", messages.keys().collect::<Vec<_>>()));
        }
        for (seq, message) in messages {
            if message["seq"] != *seq {
                found.push(format!("{} stands at {seq} and says {}", message["id"], message["seq"]));
            }
        }
    }
    for (person, seen) in &evidence.seen {
        for (space, messages) in &seen.messages {
            for (seq, (id, text)) in messages {
                let kept = evidence.kept.messages.get(space).and_then(|messages| messages.get(seq));
                if !kept.is_some_and(|kept| kept["id"] == id.as_str() && shown(kept) == text.as_str()) {
                    found.push(format!(
                        "person {} saw {id} at {seq} of {space}, where {:?} is kept",
                        person.index,
                        kept.map(|kept| &kept["id"])
                    ));
                }
            }
            // Every member caught up at the end.
            let last = evidence.kept.heads.get(space).copied().unwrap_or(0);
            let member = evidence.kept.members.get(&(space.clone(), person.id.to_string()));
            if member.is_some_and(|member| member["left"].is_null()) && seen.contiguous(space) != last {
                found.push(format!("person {} has {space} up to {} of {last}", person.index, seen.contiguous(space)));
            }
        }
    }
    for text in found {
        evidence.complain(2, text);
    }
}
