//! What was answered with 2xx is kept and never lost; whom a message wakes is decided once, and each has exactly one run for it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Evidence, Kept, kept::parsed};

pub(super) fn nothing_accepted_is_lost_and_each_wakes_once(evidence: &mut Evidence<'_>) {
    let mut texts: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, message) in evidence.kept.all_messages().filter(|(_, message)| message["runId"].is_null()) {
        *texts.entry(message["text"].as_str().unwrap_or_default()).or_default() += 1;
    }
    let mut found = Vec::new();
    for said in &evidence.ledger.said {
        let times = texts.remove(said.text.as_str()).unwrap_or(0);
        if times > 1 {
            found.push(format!("{:.40} is kept {times} times", said.text));
        }
        let Some((id, seq)) = &said.accepted else { continue };
        let kept = evidence.kept.messages.get(&said.space.to_string()).and_then(|messages| messages.get(seq));
        if !kept.is_some_and(|kept| kept["id"] == id.as_str() && kept["text"] == said.text.as_str()) {
            found.push(format!("{:.40} was accepted as {id}, number {seq}, and is not there", said.text));
        }
    }
    found.extend(texts.keys().map(|text| format!("nobody said {text:.40}")));

    // Each decision has its run, and each run its decision.
    let mut decided = BTreeMap::new();
    for (space, message) in evidence.kept.all_messages() {
        let (id, seq) = (&message["id"], &message["seq"]);
        let Some(dispatch) = message["dispatch"].as_array() else {
            found.push(format!("nobody decided whom {id} wakes"));
            continue;
        };
        for woken in dispatch.iter().filter(|woken| !woken["runId"].is_null()) {
            let run = woken["runId"].as_str().unwrap_or_default();
            match evidence.kept.runs.get(run) {
                Some(kept)
                    if kept["agentId"] == woken["agentId"]
                        && kept["messageId"] == *id
                        && kept["seq"] == *seq
                        && kept["spaceId"] == space.as_str() => {}
                Some(_) => found.push(format!("{run} is not for {id}, which names it")),
                None => found.push(format!("{id} woke {}, and its run {run} is not there", woken["agentId"])),
            }
            if decided.insert(run.to_owned(), id.clone()).is_some() {
                found.push(format!("{run} is named twice"));
            }
        }
    }
    // What plans and services wake is another file's.
    let is_of_message = |run: &str| !evidence.kept.runs[run]["messageId"].is_null() && evidence.kept.runs[run]["source"] != "delegated";
    let undecided = evidence.kept.runs.keys().filter(|run| !decided.contains_key(*run) && is_of_message(run));
    found.extend(undecided.map(|run| format!("no message woke {run}")));
    found.extend(
        evidence
            .kept
            .all_messages()
            .filter(|(_, message)| !message["card"].is_null() && message["dispatch"] != json!([]))
            .map(|(_, message)| format!("the card {} woke someone: {}", message["id"], message["dispatch"])),
    );
    found.extend(each_trigger_is_handed_on_once(&evidence.kept));
    for text in found {
        evidence.complain(1, text);
    }
}

/// Each call that handed a trigger on has its one run, each such run its one call, and who handed it on said nothing afterwards.
fn each_trigger_is_handed_on_once(kept: &Kept) -> Vec<String> {
    let mut found = Vec::new();
    let mut expected: BTreeMap<(String, String), usize> = BTreeMap::new();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for ((run, step, index), call) in kept.calls.iter().filter(|(_, call)| call["name"] == "delegate" && call["status"] == "completed") {
        let from = &kept.runs[run];
        *expected.entry((text(&parsed(&call["output"])["delegatedTo"]), text(&from["messageId"]))).or_default() += 1;
        let later = kept.calls.range((run.clone(), *step, index + 1)..=(run.clone(), u64::MAX, u64::MAX)).count();
        if later > 0 || (from["status"] == "completed" && from["endReason"] != "delegated") {
            found.push(format!("{run} handed its trigger on and went on: {later} calls, {} {}", from["status"], from["endReason"]));
        }
    }
    for (run, delegated) in kept.runs.iter().filter(|(_, run)| run["source"] == "delegated") {
        match expected.get_mut(&(text(&delegated["agentId"]), text(&delegated["messageId"]))) {
            Some(times) if *times > 0 => *times -= 1,
            _ => found.push(format!("{run} was handed on, and no call did that")),
        }
    }
    found.extend(
        expected.iter().filter(|(_, times)| **times > 0).map(|(to, _)| format!("{} was handed to {}, and has no run for it", to.1, to.0)),
    );
    let without = |run: &str| {
        !kept.calls.range((run.to_owned(), 0, 0)..=(run.to_owned(), u64::MAX, u64::MAX)).any(|(_, call)| call["ends"] == "delegated")
    };
    let ended = kept.runs.iter().filter(|(id, run)| run["endReason"] == "delegated" && without(id));
    found.extend(ended.map(|(id, _)| format!("{id} ended as if it had handed its trigger on")));
    found
}
