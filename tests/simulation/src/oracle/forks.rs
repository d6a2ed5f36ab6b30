//! Promise 3 for forks: they change nothing.
//!
//! The table at the end shows what runs have done: messages, plans, memories, cards, external calls
//! and cursors. Nothing of it may come from a fork.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::oracle::Evidence;

/// What is in the table of a fork: its state, its changes, its prompt, its steps and its calls.
const OWN: [&str; 6] = ["META", "FORK", "PROMPT", "ERROR", "STEP#", "CALL#"];

pub(super) fn forks_change_nothing(evidence: &mut Evidence<'_>) {
    let stored = &evidence.stored;
    let mut found = Vec::new();
    let forks: BTreeSet<&str> = stored
        .runs
        .iter()
        .filter(|(_, run)| !run["forkOf"].is_null())
        .map(|(id, _)| id.as_str())
        .collect();
    for fork in &forks {
        let run = &stored.runs[*fork];
        let of = run["forkOf"]["runId"].as_str().unwrap_or_default();
        let answered = |asked: &crate::ledger::Forked| {
            asked.of == of && Some(asked.step) == run["forkOf"]["step"].as_u64()
        };
        if !evidence.ledger.forked.iter().any(answered) {
            found.push(format!("nobody asked for the fork {fork}"));
        }
        if run["openCalls"].as_u64().is_some() {
            found.push(format!("the fork {fork} has asked people"));
        }
    }
    for asked in &evidence.ledger.forked {
        if let Some((201, run)) = &asked.answer
            && run["id"].as_str().is_none_or(|id| !forks.contains(id))
        {
            found.push(format!("{run} was told for a fork of {}, and is not stored", asked.of));
        }
    }
    let of_fork = |value: &Value| value.as_str().is_some_and(|id| forks.contains(id));
    for (_, message) in stored.all_messages().filter(|(_, message)| of_fork(&message["runId"])) {
        found.push(format!("the fork {} posted {}", message["runId"], message["id"]));
    }
    for (person, seen) in &evidence.seen {
        let told = seen.runs.iter().filter(|(run, ..)| forks.contains(run.as_str()));
        found.extend(told.map(|(run, ..)| format!("person {} saw the fork {run}", person.index)));
    }
    let active = stored.active.iter().filter(|(_, run)| forks.contains(run.as_str()));
    found.extend(active.map(|(agent, run)| format!("the fork {run} is active in {agent}")));
    for item in evidence.env.storage.items() {
        let pk = item["PK"].as_str().unwrap_or_default();
        let sk = item["SK"].as_str().unwrap_or_default();
        let is_own = OWN.iter().any(|own| sk.starts_with(own));
        let names = pk.strip_prefix("RUN#").is_some_and(|run| forks.contains(run));
        if names && !is_own {
            found.push(format!("{pk}/{sk} is an item of a fork"));
        }
        if names && sk.starts_with("CALL#") && !item["card"].is_null() {
            found.push(format!("{pk}/{sk} has a card"));
        }
        let slots = item["held"].as_array().into_iter().flatten();
        if sk == "SLOTS" && slots.into_iter().any(of_fork) {
            found.push(format!("{pk} holds a slot for a fork"));
        }
    }
    let of_forks: BTreeSet<&str> =
        stored.calls_of_forks.iter().filter_map(|call| call["callId"].as_str()).collect();
    for arrived in &evidence.ledger.arrived {
        if of_forks.contains(arrived.key.as_str()) {
            found.push(format!("a fork called a server: {arrived:?}"));
        }
    }
    for text in found {
        evidence.report(3, text);
    }
}
