//! Promise 3 for forks: they change nothing.
//!
//! The calls of forks are not among the stored calls that explain messages, plans and memories. So
//! if a fork had made one, it would have no cause. Here is what else a fork could leave.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{ledger::Forked, oracle::Evidence};

/// The items of a fork: its state, its changes, its prompt, its error, its steps and its calls.
const OWN: [&str; 6] = ["META", "FORK", "PROMPT", "ERROR", "STEP#", "CALL#"];

/// The ids of all forks.
type Forks<'a> = BTreeSet<&'a str>;

pub(super) fn forks_change_nothing(evidence: &mut Evidence<'_>) {
    let runs = evidence.stored.runs.iter();
    let forks: Forks<'_> =
        runs.filter(|(_, run)| !run["forkOf"].is_null()).map(|(id, _)| id.as_str()).collect();
    let mut found = unasked(evidence, &forks);
    found.extend(shown(evidence, &forks));
    found.extend(wrong_items(evidence, &forks));
    found.extend(requests(evidence));
    for text in found {
        evidence.report(3, text);
    }
}

/// Forks that nobody asked for, and answers that name none.
fn unasked(evidence: &Evidence<'_>, forks: &Forks<'_>) -> Vec<String> {
    let asked = &evidence.ledger.forked;
    let is_asked_for = |fork: &Value| {
        let is_it = |asked: &&Forked| {
            fork["runId"] == asked.of.as_str() && fork["step"].as_u64() == Some(asked.step)
        };
        asked.iter().any(|asked| is_it(&asked))
    };
    let without = forks.iter().filter(|id| !is_asked_for(&evidence.stored.runs[**id]["forkOf"]));
    let mut found: Vec<_> =
        without.map(|fork| format!("nobody asked for the fork {fork}")).collect();
    for Forked { of, answer, .. } in asked {
        if let Some((201, run)) = answer
            && run["id"].as_str().is_none_or(|id| !forks.contains(id))
        {
            found.push(format!("{run} was the answer for a fork of {of}, and is not stored"));
        }
    }
    found
}

/// Messages of forks, and forks that people saw.
fn shown(evidence: &Evidence<'_>, forks: &Forks<'_>) -> Vec<String> {
    let of_fork = |message: &Value| message["runId"].as_str().is_some_and(|id| forks.contains(id));
    let messages = evidence.stored.all_messages().filter(|(_, message)| of_fork(message));
    let mut found: Vec<_> = messages
        .map(|(_, message)| format!("the fork {} posted {}", message["runId"], message["id"]))
        .collect();
    for (person, seen) in &evidence.seen {
        let noticed = seen.runs.iter().filter(|(run, ..)| forks.contains(run.as_str()));
        found
            .extend(noticed.map(|(run, ..)| format!("person {} saw the fork {run}", person.index)));
    }
    found
}

/// Items that a fork must not have.
fn wrong_items(evidence: &Evidence<'_>, forks: &Forks<'_>) -> Vec<String> {
    let active = evidence.stored.active.iter();
    let mut found: Vec<_> = active
        .filter(|(_, run)| forks.contains(run.as_str()))
        .map(|(agent, run)| format!("the fork {run} is active in {agent}"))
        .collect();
    for item in evidence.env.storage.items() {
        let pk = item["PK"].as_str().unwrap_or_default();
        let sk = item["SK"].as_str().unwrap_or_default();
        let holds = |run: &Value| run.as_str().is_some_and(|run| forks.contains(run));
        if sk == "SLOTS" && item["held"].as_array().into_iter().flatten().any(holds) {
            found.push(format!("{pk} holds a slot for a fork"));
        }
        if !pk.strip_prefix("RUN#").is_some_and(|run| forks.contains(run)) {
            continue;
        }
        if !OWN.iter().any(|own| sk.starts_with(own)) {
            found.push(format!("{pk}/{sk} is an item of a fork"));
        }
        if !item["card"].is_null() || !item["openCalls"].is_null() {
            found.push(format!("{pk}/{sk} has a card"));
        }
    }
    found
}

/// Requests of forks to the servers of tools.
fn requests(evidence: &Evidence<'_>) -> Vec<String> {
    let calls: BTreeSet<&str> =
        evidence.stored.calls_of_forks.iter().filter_map(|call| call["callId"].as_str()).collect();
    let arrived = evidence.ledger.arrived.iter();
    let of_forks = arrived.filter(|arrived| calls.contains(arrived.key.as_str()));
    of_forks.map(|arrived| format!("a fork called a server: {arrived:?}")).collect()
}
