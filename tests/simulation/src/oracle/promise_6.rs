//! Agents alone can't talk for ever: at the space's depth a message wakes nobody, and the space is told.

use serde_json::Value;

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
                let run = kept.runs.get(run).unwrap_or(&Value::Null);
                let trigger = run["spaceId"].as_str().zip(run["seq"].as_u64()).and_then(|(space, seq)| kept.messages.get(space)?.get(&seq));
                // How deep it is for a plan or for a service, is theirs to know.
                trigger.unwrap_or(run)["chainDepth"].as_u64().unwrap_or(0) + 1
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
    let most = u64::from(evidence.world.plan.agent_depth);
    let deep = kept.runs.iter().filter(|(_, run)| run["chainDepth"].as_u64().is_none_or(|depth| depth >= most));
    found.extend(deep.map(|(id, run)| format!("{id} was woken at the depth {} of {most}", run["chainDepth"])));
    for text in found {
        evidence.complain(6, text);
    }
}
