//! Promise 3 for external calls: compares the requests that arrived at the servers with the stored
//! calls, their cards, and the results that models got.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::oracle::{Evidence, Stored, stored::parsed};
use crate::{
    external_tools::{IDEMPOTENT, MAYBE_REACHED, NOT_REACHED, TOOLS, VISIBLE},
    ledger::ArrivedRequest,
};

/// The end of the error of a request that is not idempotent and may have taken effect.
const OUTCOME_UNKNOWN: &str = "; whether the call took effect is not known";

/// Calls that end a run: later calls of the same answer are not made.
const ENDING_CALLS: [&str; 2] = ["skip_response", "delegate"];

pub(super) fn external_calls_happen_at_most_once(evidence: &mut Evidence<'_>) {
    let stored = &evidence.stored;
    let mut arrived: BTreeMap<&str, Vec<&ArrivedRequest>> = BTreeMap::new();
    for request in &evidence.ledger.arrived {
        arrived.entry(&request.key).or_default().push(request);
    }
    let mut found = several_keys(&evidence.ledger.arrived);
    found.extend(wrong_requests(stored, &arrived));
    for (place, call) in stored.calls.iter().filter(|(_, call)| is_one_of(&TOOLS, call)) {
        let id = call["callId"].as_str().unwrap_or_default();
        let arrived = arrived.get(id).map_or(&[][..], Vec::as_slice);
        let repeats =
            !call["name"].as_str().is_some_and(|name| evidence.ledger.changed.contains(name));
        found.extend(
            wrong_with(call, arrived, &stored.runs[&place.0], repeats)
                .map(|what| format!("the call {id} of {} {what}", place.0)),
        );
    }
    found.extend(without_result(stored));
    found.extend(cards_that_differ(evidence));
    for text in found {
        evidence.report(3, text);
    }
}

/// Calls that arrived with several idempotency keys.
fn several_keys(arrived: &[ArrivedRequest]) -> Vec<String> {
    let mut keys: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for request in arrived {
        keys.entry(&request.what).or_default().insert(&request.key);
    }
    keys.iter()
        .filter(|(_, keys)| keys.len() > 1)
        .map(|(what, keys)| format!("{what:?} was called once, but arrived with the keys {keys:?}"))
        .collect()
}

/// Requests that no stored call explains, and requests that arrived too often. `arrived` has the
/// requests by their keys.
fn wrong_requests(stored: &Stored, arrived: &BTreeMap<&str, Vec<&ArrivedRequest>>) -> Vec<String> {
    let mut found = Vec::new();
    let begun: BTreeMap<_, _> = stored
        .all_begun()
        .map(|(place, call)| (call["callId"].as_str().unwrap_or_default(), (place, call)))
        .collect();
    for (key, arrived) in arrived {
        let Some((place, call)) = begun.get(key) else {
            found.push(format!(
                "{} {:?} arrived with the key {key}, but no stored answer makes that call",
                arrived[0].tool, arrived[0].what
            ));
            continue;
        };
        let who = format!("the call {key} of {}", place.0);
        // People may have edited the input.
        let edited = stored.calls.get(place).map(|call| parsed(&call["approval"]["input"]));
        let input = edited.filter(|input| !input.is_null());
        let input = input.unwrap_or_else(|| parsed(&call["input"]));
        let asked = |arrived: &&&ArrivedRequest| {
            call["name"] == arrived.tool.as_str() && input["text"] == arrived.what.as_str()
        };
        if let Some(other) = arrived.iter().find(|arrived| !asked(arrived)) {
            found.push(format!("{who} is {call}, but arrived as {} {:?}", other.tool, other.what));
        }
        if arrived.len() > 1 && !is_one_of(&IDEMPOTENT, call) {
            found.push(format!("{who} is not idempotent, but arrived {} times", arrived.len()));
        }
        if !stored.calls.contains_key(place) {
            found.push(format!("{who} arrived, but is not stored"));
        }
    }
    found
}

fn is_one_of(tools: &[&str], call: &Value) -> bool {
    tools.iter().any(|name| call["name"] == *name)
}

/// What is wrong with a stored call, given the requests that arrived. `repeats` says whether its
/// tool is unchanged, so that an idempotent call can be repeated.
fn wrong_with(
    call: &Value,
    arrived: &[&ArrivedRequest],
    run: &Value,
    repeats: bool,
) -> Option<String> {
    let status = call["status"].as_str().unwrap_or_default();
    let output = parsed(&call["output"]);
    let error = output["error"].as_str().unwrap_or_default();
    let answered = |status: u16, body: &Value| {
        arrived.iter().any(|arrived| {
            arrived.answered.as_ref().is_some_and(|(code, said)| (*code, said) == (status, body))
        })
    };
    let is_shown = is_one_of(&VISIBLE, call);
    match status {
        "completed"
            if !arrived.iter().any(|arrived| {
                arrived.took_effect && arrived.answered == Some((200, output.clone()))
            }) =>
        {
            Some(format!("has the result {output}, which no server gave: {arrived:?}"))
        }
        "completed" => None,
        "failed"
            if [500, 503]
                .into_iter()
                .any(|status| error.starts_with(&format!("the server answered {status}"))) =>
        {
            let given = [500, 503].into_iter().any(|status| {
                error.contains(&status.to_string()) && answered(status, &output["body"])
            });
            (!given).then(|| format!("has the result {output}, which no server gave: {arrived:?}"))
        }
        "failed"
            if MAYBE_REACHED.contains(&error.strip_suffix(OUTCOME_UNKNOWN).unwrap_or(error)) =>
        {
            None
        }
        // An earlier worker may have made an idempotent call before.
        "failed" if error == NOT_REACHED && is_one_of(&IDEMPOTENT, call) => None,
        "failed" if arrived.is_empty() => None,
        "unknown" if repeats && is_one_of(&IDEMPOTENT, call) => {
            Some(format!("is {status}, but may be repeated"))
        }
        "unknown" if run["claims"].as_u64() < Some(2) => {
            Some(format!("is {status}, but its run had only one worker"))
        }
        "unknown" => None,
        "canceled" if is_shown && run["status"] != "completed" => None,
        // The call has no card, and its run has ended.
        "pending" if !is_shown && run["status"] != "completed" => None,
        _ => Some(format!(
            "is {status} with {output}, and its run is {} by {}",
            run["status"], run["endReason"]
        )),
    }
}

/// Calls of completed runs that lack a result though no earlier call ended the run, and calls that
/// were made after the call that ended their run.
fn without_result(stored: &Stored) -> Vec<String> {
    let mut found = Vec::new();
    for ((run, step, index), begun) in stored.all_begun().filter(|(place, call)| {
        is_one_of(&TOOLS, call) && stored.runs[&place.0]["status"] == "completed"
    }) {
        let before = stored.calls.range((run.clone(), step, 0)..(run.clone(), step, index));
        let mut ended = before.filter(|(_, call)| {
            call["status"] == "completed" && ENDING_CALLS.iter().any(|name| call["name"] == *name)
        });
        match (stored.calls.contains_key(&(run.clone(), step, index)), ended.next().is_some()) {
            (false, false) => found.push(format!(
                "{run} is completed, but its call {} has no result",
                begun["callId"]
            )),
            (true, true) => found.push(format!(
                "a call ended {run}, but its later call {} was made",
                begun["callId"]
            )),
            _ => {}
        }
    }
    found
}

/// Cards that differ from their calls, as they are stored and as people saw them.
fn cards_that_differ(evidence: &Evidence<'_>) -> Vec<String> {
    let stored = &evidence.stored;
    let calls: BTreeMap<_, _> = stored
        .calls
        .values()
        .filter(|call| is_one_of(&TOOLS, call))
        .filter_map(|call| Some((call["callId"].as_str()?, call)))
        .collect();
    let mut found = Vec::new();
    for (_, message) in stored.all_messages().filter(|(space, _)| !stored.is_deleted(space)) {
        let card = &message["card"];
        let Some((id, call)) = card["callId"].as_str().and_then(|id| Some((id, calls.get(id)?)))
        else {
            continue;
        };
        let status = if call["status"] == "unknown" {
            "failed"
        } else {
            call["status"].as_str().unwrap_or_default()
        };
        let output = parsed(&call["output"]);
        if card["status"] != status || parsed(&card["output"]["text"]) != output {
            found.push(format!(
                "the card of {id} is {} {}, but its call is {} {output}",
                card["status"], card["output"], call["status"]
            ));
        }
        let input = parsed(&card["input"]["text"]);
        let state = json!({"status": status, "output": output, "resolvedBy": null, "input": input});
        for (person, seen) in &evidence.seen {
            let last = message["id"]
                .as_str()
                .zip(message["rev"].as_u64())
                .and_then(|(card, rev)| seen.cards.get(&(card.to_owned(), rev)));
            if last.is_some_and(|last| *last != state) {
                found.push(format!(
                    "person {} saw the last state of the card of {id} as {last:?}, \
                     but it is {state}",
                    person.index
                ));
            }
        }
    }
    found
}
