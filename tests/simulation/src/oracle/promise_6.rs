//! Agents alone can't talk for ever: at the space's depth a message wakes nobody, and the space is told.

use super::Evidence;

pub(super) fn agents_alone_come_to_an_end(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    let limit = u64::from(evidence.world.plan.depth);
    let kept = &evidence.kept;
    for (_, message) in kept.all_messages() {
        let (id, depth) = (&message["id"], message["chainDepth"].as_u64().unwrap_or(0));
        let expected = match message["runId"].as_str() {
            None => 0,
            Some(run) => {
                let woken_by = kept.runs.get(run).map(|run| (&run["spaceId"], &run["seq"]));
                let trigger = woken_by.and_then(|(space, seq)| kept.messages.get(space.as_str()?)?.get(&seq.as_u64()?));
                trigger.map_or(0, |trigger| trigger["chainDepth"].as_u64().unwrap_or(0)) + 1
            }
        };
        if depth != expected {
            found.push(format!("{id} has the depth {depth} instead of {expected}"));
        }
        for woken in message["dispatch"].as_array().into_iter().flatten() {
            // Who is paused, or retired, is told so first.
            let told = woken["reason"] == "chain_depth" || woken["reason"] == "paused";
            if expected >= limit && !(woken["runId"].is_null() && told) {
                found.push(format!("{id}, at the depth {expected} of {limit}, woke or did not say why not: {woken}"));
            }
        }
    }
    for text in found {
        evidence.complain(6, text);
    }
}
