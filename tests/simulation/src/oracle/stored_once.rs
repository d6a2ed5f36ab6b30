//! Promise 1: an accepted message is stored once and never lost. Its dispatch is decided once, and
//! each triggered agent has exactly one run for it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::oracle::{Evidence, Stored, stored::parsed};

pub(super) fn accepted_messages_are_stored_and_trigger_once(evidence: &mut Evidence<'_>) {
    let mut found = lost_messages(evidence);
    found.extend(wrong_dispatches(&evidence.stored));
    found.extend(each_trigger_is_delegated_once(&evidence.stored));
    for text in found {
        evidence.report(1, text);
    }
}

/// Messages that were lost, stored twice, or never sent.
fn lost_messages(evidence: &Evidence<'_>) -> Vec<String> {
    let mut texts: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, message) in
        evidence.stored.all_messages().filter(|(_, message)| message["runId"].is_null())
    {
        *texts.entry(message["text"].as_str().unwrap_or_default()).or_default() += 1;
    }
    let mut found = Vec::new();
    for said in &evidence.ledger.sent_messages {
        let times = texts.remove(said.text.as_str()).unwrap_or(0);
        if times > 1 {
            found.push(format!("{:.40} is stored {times} times", said.text));
        }
        let Some((id, seq)) = &said.accepted else { continue };
        let space = evidence.stored.messages.get(&said.space.to_string());
        let is_stored = space.and_then(|messages| messages.get(seq)).is_some_and(|stored| {
            stored["id"] == id.as_str() && stored["text"] == said.text.as_str()
        });
        if !is_stored {
            found.push(format!(
                "{:.40} was accepted as {id}, number {seq}, but is not stored",
                said.text
            ));
        }
    }
    found.extend(texts.keys().map(|text| format!("nobody sent {text:.40}")));
    found
}

/// Dispatches without their runs, and runs of messages without their dispatch.
fn wrong_dispatches(stored: &Stored) -> Vec<String> {
    let mut found = Vec::new();
    let mut decided = BTreeSet::new();
    for (space, message) in stored.all_messages() {
        let id = &message["id"];
        let Some(dispatch) = message["dispatch"].as_array() else {
            if stored.is_deleted(space) {
                continue;
            }
            found.push(format!("the dispatch of {id} is not decided"));
            continue;
        };
        for woken in dispatch.iter().filter(|woken| !woken["runId"].is_null()) {
            let run = woken["runId"].as_str().unwrap_or_default();
            match stored.runs.get(run) {
                Some(existing)
                    if existing["agentId"] == woken["agentId"]
                        && answers(existing, message)
                        && existing["spaceId"] == space.as_str() => {}
                Some(_) => found.push(format!("{run} is not for {id}, which names it")),
                None if stored.is_deleted(space) => {}
                None => found.push(format!(
                    "{id} triggered {}, but its run {run} is not stored",
                    woken["agentId"]
                )),
            }
            if !decided.insert(run) {
                found.push(format!("two dispatches name {run}"));
            }
        }
    }
    // `plans`, `services`, `retries` and `questions` check their runs.
    let is_of_message = |run: &Value| {
        let is_first = run["retryOf"].is_null()
            && run["source"] != "delegated"
            && run["source"] != "unanswered";
        !run["messageId"].is_null() && is_first
    };
    let undecided =
        stored.runs.iter().filter(|(id, run)| !decided.contains(id.as_str()) && is_of_message(run));
    found.extend(undecided.map(|(id, _)| format!("no message triggered {id}")));
    found.extend(
        stored
            .all_messages()
            .filter(|(_, message)| !message["card"].is_null() && message["dispatch"] != json!([]))
            .map(|(_, message)| {
                format!("the card {} triggered runs: {}", message["id"], message["dispatch"])
            }),
    );
    found
}

/// Whether a run is for a message: it was triggered by it, or a newer message has joined it since.
fn answers(run: &Value, message: &Value) -> bool {
    let is_trigger = run["messageId"] == message["id"] && run["seq"] == message["seq"];
    is_trigger || run["joined"].as_array().is_some_and(|seqs| seqs.contains(&message["seq"]))
}

/// Each `delegate` call has one run, each delegated run has one call, and a run that delegated its
/// trigger makes no further calls.
fn each_trigger_is_delegated_once(stored: &Stored) -> Vec<String> {
    let mut found = Vec::new();
    let mut expected: BTreeMap<(String, String), usize> = BTreeMap::new();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for ((run, step, index), call) in stored
        .calls
        .iter()
        .filter(|(_, call)| call["name"] == "delegate" && call["status"] == "completed")
    {
        let from = &stored.runs[run];
        *expected
            .entry((text(&parsed(&call["output"])["delegatedTo"]), text(&from["messageId"])))
            .or_default() += 1;
        let later = stored
            .calls
            .range((run.clone(), *step, index + 1)..=(run.clone(), u64::MAX, u64::MAX))
            .count();
        if later > 0 || (from["status"] == "completed" && from["endReason"] != "delegated") {
            found.push(format!(
                "{run} delegated its trigger and continued: {later} calls, {} {}",
                from["status"], from["endReason"]
            ));
        }
    }
    let is_delegated = |run: &Value| run["source"] == "delegated" && run["retryOf"].is_null();
    for (run, delegated) in stored.runs.iter().filter(|(_, run)| is_delegated(run)) {
        match expected.get_mut(&(text(&delegated["agentId"]), text(&delegated["messageId"]))) {
            Some(times) if *times > 0 => *times -= 1,
            _ => found.push(format!("{run} is delegated, but no call delegated it")),
        }
    }
    found.extend(
        expected
            .iter()
            .filter(|(_, times)| **times > 0)
            .map(|(to, _)| format!("{} was delegated to {}, which has no run for it", to.1, to.0)),
    );
    let without = |run: &str| {
        !stored
            .calls
            .range((run.to_owned(), 0, 0)..=(run.to_owned(), u64::MAX, u64::MAX))
            .any(|(_, call)| call["ends"] == "delegated")
    };
    let ended =
        stored.runs.iter().filter(|(id, run)| run["endReason"] == "delegated" && without(id));
    found.extend(
        ended.map(|(id, _)| format!("{id} ended as delegated, but no call delegated its trigger")),
    );
    found
}
