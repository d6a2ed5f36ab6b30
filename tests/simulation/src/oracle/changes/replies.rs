//! Replies: their parents, their threads, and the agents that they trigger.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    ledger::ChangeKind,
    oracle::{Evidence, Stored},
};

/// Why an agent can't be triggered, whatever names it.
const UNABLE: [&str; 6] = ["paused", "chain_stopped", "chain_depth", "rate", "budget", "busy"];

/// Replies that name something else than their parents, and threads that are not their messages.
pub(super) fn a_thread_is_its_messages(evidence: &Evidence<'_>) -> Vec<String> {
    let stored = &evidence.stored;
    let mut found = Vec::new();
    let mut expected = BTreeSet::new();
    for (space, message) in stored.all_messages() {
        let Some(parent) = message["replyTo"]["seq"].as_u64() else { continue };
        let seq = message["seq"].as_u64().unwrap_or_default();
        found.extend(wrong_parent(stored, space, message, parent));
        if let Some(first) = message["thread"].as_u64().filter(|_| !stored.is_deleted(space)) {
            expected.insert((space.clone(), first, seq));
        }
    }
    let is_reply =
        |(space, first, number): &&(String, u64, u64)| first != number && !stored.is_deleted(space);
    let threads: BTreeSet<_> = stored.threads.iter().filter(is_reply).cloned().collect();
    let differ = threads.symmetric_difference(&expected);
    found.extend(differ.map(|(space, first, number)| {
        format!("the thread {first} of {space} and its message {number} do not name each other")
    }));
    for sent in evidence.ledger.changes.iter().filter(|it| it.kind == ChangeKind::Reply) {
        let texts = stored.messages.get(&sent.space.to_string()).into_iter().flatten();
        let mut own = texts.filter(|(_, message)| message["text"] == sent.text.as_str());
        if let Some((seq, message)) = own.next()
            && message["replyTo"]["seq"] != sent.seq
        {
            found.push(format!("number {seq} does not reply to {}: {message}", sent.seq));
        }
    }
    found
}

/// What is wrong with the parent that a reply names.
fn wrong_parent(stored: &Stored, space: &str, reply: &Value, parent: u64) -> Option<String> {
    let id = &reply["id"];
    let Some(known) = stored.messages.get(space).and_then(|messages| messages.get(&parent)) else {
        return Some(format!("{id} replies to number {parent} of {space}, which is not stored"));
    };
    let first = known["thread"].as_u64().unwrap_or(parent);
    let names = &reply["replyTo"];
    let is_right = names["messageId"] == known["id"]
        && names["senderId"] == known["sender"]["id"]
        && reply["thread"] == first
        && known["seq"].as_u64() < reply["seq"].as_u64();
    (!is_right).then(|| {
        format!("{id} replies to {names} in the thread {}, not to {}", reply["thread"], known["id"])
    })
}

/// Replies to agents that neither trigger the agent nor say why not.
pub(super) fn a_reply_triggers_its_agent(evidence: &Evidence<'_>) -> Vec<String> {
    let stored = &evidence.stored;
    let mut found = Vec::new();
    // People address the admin agent there, whatever they write.
    if evidence.env.parameters.policy == "admin" {
        return found;
    }
    let agents: BTreeSet<String> =
        evidence.ledger.agents.iter().map(|(id, _)| id.to_string()).collect();
    for (space, message) in stored.all_messages().filter(|(space, _)| !stored.is_deleted(space)) {
        let Some(agent) = message["replyTo"]["senderId"].as_str() else { continue };
        let is_other = message["sender"]["id"] != agent && agents.contains(agent);
        // A message that was deleted before its decision triggers nobody.
        let seq = message["seq"].as_u64().unwrap_or_default();
        let is_undecided = stored.is_tombstone(space, seq)
            && message["dispatch"].as_array().is_none_or(Vec::is_empty);
        if !is_other
            || is_undecided
            || message["partial"] == true
            || may_be_out(evidence, space, agent)
        {
            continue;
        }
        let entries = message["dispatch"].as_array().into_iter().flatten();
        let entries: Vec<_> = entries.filter(|entry| entry["agentId"] == agent).collect();
        let is_right = |entry: &Value| {
            !entry["runId"].is_null() || UNABLE.iter().any(|reason| entry["reason"] == *reason)
        };
        if !matches!(entries.as_slice(), [entry] if is_right(entry)) {
            found.push(format!(
                "{} replies to the agent {agent}, and its decision is {}",
                message["id"], message["dispatch"]
            ));
        }
    }
    found
}

/// Whether an entity may have been out of a space at some time.
pub(super) fn may_be_out(evidence: &Evidence<'_>, space: &str, agent: &str) -> bool {
    let ledger = &evidence.ledger;
    let moved = ledger.readmitted.iter().chain(&ledger.moving);
    let mut moved = moved.map(|(space, entity)| (space.to_string(), entity.to_string()));
    moved.any(|(left, entity)| left == space && entity == agent)
        || evidence.stored.retired.contains(agent)
}
