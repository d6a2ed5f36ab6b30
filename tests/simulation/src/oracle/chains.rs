//! Promise 6: agents alone can't continue forever. At the space's depth limit a message triggers
//! nobody, and its dispatch says so. Messages of agents that do not name an agent start only so
//! many runs of it until an outside cause comes. The message that ends a chain says so. A chain
//! that a person has stopped in a space wakes nobody there.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    ledger::StoppedChain,
    oracle::{Evidence, Stored},
};

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
            let reasons = ["chain_depth", "chain_stopped", "paused"];
            let has_reason = reasons.iter().any(|reason| woken["reason"] == *reason);
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

pub(super) fn agents_answer_agents_only_so_often(evidence: &mut Evidence<'_>) {
    let parameters = &evidence.env.parameters;
    let most = parameters.auto_replies;
    let has_lanes = parameters.mode != "parallel";
    let mut found = Vec::new();
    for (space, messages) in &evidence.stored.messages {
        let mut started: BTreeMap<&str, u32> = BTreeMap::new();
        for message in messages.values() {
            found.extend(wrong_end(message, parameters.depth, most));
            if is_outside_cause(&evidence.stored, message) {
                started.clear();
                continue;
            }
            // A late decision counts since the outside cause that is the last one then.
            let is_late = !message["mayWake"].is_null();
            for agent in auto_replies(&evidence.stored, message).filter(|_| has_lanes && !is_late) {
                let runs = started.entry(agent).or_default();
                *runs += 1;
                if *runs == most + 1 {
                    let id = &message["id"];
                    found.push(format!(
                        "{agent} answered agents more than {most} times in {space}: {id}"
                    ));
                }
            }
        }
    }
    for text in found {
        evidence.report(6, text);
    }
}

/// After the answer to a stop, messages of the chain start no runs in the space.
pub(super) fn stopped_chains_wake_nobody(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    let stored = &evidence.stored;
    for StoppedChain { space, seq, after } in &evidence.ledger.stopped_chains {
        let space = space.to_string();
        let Some(messages) = stored.messages.get(&space) else { continue };
        let Some(root) = messages.get(seq).map(|message| root_of(stored, message)) else {
            continue;
        };
        let later = messages.range(after + 1..).map(|(_, message)| message);
        for message in later.filter(|message| root_of(stored, message) == root) {
            for entry in message["dispatch"].as_array().into_iter().flatten() {
                if !entry["runId"].is_null() {
                    let id = &message["id"];
                    found.push(format!("{id} of the stopped chain of {root} triggered {entry}"));
                }
            }
        }
    }
    for text in found {
        evidence.report(6, text);
    }
}

/// The id of the message, or of the run of a plan or a service, that has set off a message.
fn root_of(stored: &Stored, message: &Value) -> String {
    let mut message = message;
    loop {
        let id = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let Some(run) = message["runId"].as_str() else { return id(&message["id"]) };
        let Some(run) = stored.runs.get(run) else { return id(&message["runId"]) };
        let space = run["spaceId"].as_str().and_then(|space| stored.messages.get(space));
        let trigger = run["seq"].as_u64().and_then(|seq| space?.get(&seq));
        let Some(trigger) = trigger else { return id(&message["runId"]) };
        message = trigger;
    }
}

/// Whether a message is one of a person, or of a run that a plan or a service triggered.
fn is_outside_cause(stored: &Stored, message: &Value) -> bool {
    let run = message["runId"].as_str().and_then(|run| stored.runs.get(run));
    message["sender"]["type"] == "human"
        || run.is_some_and(|run| !run["planId"].is_null() || !run["deliveryId"].is_null())
}

/// The agents of which a message that does not name them started a run. A run that joined another
/// one was not started.
fn auto_replies<'a>(stored: &'a Stored, message: &'a Value) -> impl Iterator<Item = &'a str> {
    let entries = message["dispatch"].as_array().into_iter().flatten();
    entries.filter_map(|entry| {
        let run = stored.runs.get(entry["runId"].as_str()?)?;
        let is_unnamed =
            ["auto", "router", "broadcast"].iter().any(|source| entry["source"] == *source);
        let is_started = run["endReason"] != "coalesced";
        entry["agentId"].as_str().filter(|_| is_unnamed && is_started)
    })
}

/// What is wrong with the end of the chain that a message shows.
fn wrong_end(message: &Value, depth: u32, auto_replies: u32) -> Option<String> {
    let ended = &message["chainEnded"];
    if ended.is_null() {
        return None;
    }
    let entries = || message["dispatch"].as_array().into_iter().flatten();
    let (reason, limit) = match ended["by"].as_str() {
        Some("depth") => ("chain_depth", Some(depth)),
        Some("rate") => ("rate", None),
        _ => ("auto_replies", Some(auto_replies)),
    };
    let is_right = message["sender"]["type"] == "agent"
        && entries().all(|entry| entry["runId"].is_null())
        && entries().any(|entry| entry["reason"] == reason)
        && limit.is_none_or(|limit| ended["limit"] == json!(limit));
    (!is_right).then(|| format!("{} does not end a chain: {ended}", message["id"]))
}
