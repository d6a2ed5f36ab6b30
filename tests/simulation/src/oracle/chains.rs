//! Promise 6: agents alone can't continue forever. At the space's depth limit a message triggers
//! nobody, and its dispatch says so.

use serde_json::Value;

use crate::oracle::Evidence;

pub(super) fn chains_of_agents_end(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    let limit = u64::from(evidence.env.parameters.depth);
    let stored = &evidence.stored;
    for (_, message) in stored.all_messages() {
        let id = &message["id"];
        let depth = message["chainDepth"].as_u64().unwrap_or(0);
        let expected = match message["runId"].as_str() {
            None => 0,
            Some(run) => {
                let run = stored.runs.get(run).unwrap_or(&Value::Null);
                let space = run["spaceId"].as_str().and_then(|space| stored.messages.get(space));
                // A run answers its trigger and the messages that have joined it.
                let joined = run["joined"].as_array().into_iter().flatten();
                let deepest = [&run["seq"]]
                    .into_iter()
                    .chain(joined)
                    .filter_map(|seq| space?.get(&seq.as_u64()?))
                    .filter_map(|message| message["chainDepth"].as_u64())
                    .max();
                // `plans` and `services` check the depth of their runs.
                deepest.or_else(|| run["chainDepth"].as_u64()).unwrap_or(0) + 1
            }
        };
        if depth != expected {
            found.push(format!("{id} has the depth {depth} instead of {expected}"));
        }
        for woken in message["dispatch"].as_array().into_iter().flatten() {
            // A paused or retired agent has the reason `paused`, even at the depth limit.
            let has_reason = woken["reason"] == "chain_depth" || woken["reason"] == "paused";
            if expected >= limit && !(woken["runId"].is_null() && has_reason) {
                found.push(format!(
                    "{id}, at the depth {expected} of {limit}, triggered or has no reason: {woken}"
                ));
            }
        }
    }
    let most = u64::from(evidence.env.parameters.agent_depth);
    let deep = stored
        .runs
        .iter()
        .filter(|(_, run)| run["chainDepth"].as_u64().is_none_or(|depth| depth >= most));
    found.extend(deep.map(|(id, run)| {
        format!("{id} was triggered at the depth {} of {most}", run["chainDepth"])
    }));
    for text in found {
        evidence.report(6, text);
    }
}
