//! Calls that reach outside: part of promise 3. What arrived at the servers is held against what is kept, shown and told.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{Evidence, Kept, kept::parsed};
use crate::{
    ledger::Arrived,
    outside::{IDEMPOTENT, MAYBE_REACHED, NOT_REACHED, TOOLS, VISIBLE},
};

/// What a request that may change something is told with it.
const SAID_SO: &str = "; whether the call took effect is not known";

/// Calls that end a run: what its model wrote behind one is not done.
const ENDS: [&str; 2] = ["skip_response", "delegate"];

pub(super) fn a_call_that_reaches_outside_happens_at_most_once(evidence: &mut Evidence<'_>) {
    let kept = &evidence.kept;
    let mut arrived: BTreeMap<&str, Vec<&Arrived>> = BTreeMap::new();
    let mut keys: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for request in &evidence.ledger.arrived {
        arrived.entry(&request.key).or_default().push(request);
        keys.entry(&request.what).or_default().insert(&request.key);
    }
    let mut found: Vec<_> = keys
        .iter()
        .filter(|(_, keys)| keys.len() > 1)
        .map(|(what, keys)| format!("{what:?} was asked for once, and arrived outside with the keys {keys:?}"))
        .collect();
    let begun: BTreeMap<_, _> =
        kept.all_begun().map(|(place, call)| (call["callId"].as_str().unwrap_or_default(), (place, call))).collect();
    for (key, arrived) in &arrived {
        let Some((place, call)) = begun.get(key) else {
            found.push(format!(
                "{} {:?} arrived outside with the key {key}, and no answer that was kept made that call",
                arrived[0].tool, arrived[0].what
            ));
            continue;
        };
        let who = format!("the call {key} of {}", place.0);
        let asked = |arrived: &&&Arrived| call["name"] == arrived.tool.as_str() && parsed(&call["input"])["text"] == arrived.what.as_str();
        if let Some(other) = arrived.iter().find(|arrived| !asked(arrived)) {
            found.push(format!("{who} is {call}, and arrived outside as {} {:?}", other.tool, other.what));
        }
        if arrived.len() > 1 && !is_one_of(&IDEMPOTENT, call) {
            found.push(format!("{who} may be made once, and arrived outside {} times", arrived.len()));
        }
        if !kept.calls.contains_key(place) {
            found.push(format!("{who} arrived outside, and nothing is kept of it"));
        }
    }
    for (place, call) in kept.calls.iter().filter(|(_, call)| is_one_of(&TOOLS, call)) {
        let id = call["callId"].as_str().unwrap_or_default();
        let arrived = arrived.get(id).map_or(&[][..], Vec::as_slice);
        let repeats = !call["name"].as_str().is_some_and(|name| evidence.ledger.changed.contains(name));
        found.extend(wrong_with(call, arrived, &kept.runs[&place.0], repeats).map(|what| format!("the call {id} of {} {what}", place.0)));
    }
    found.extend(without_result(kept));
    found.extend(cards_that_differ(evidence));
    for text in found {
        evidence.complain(3, text);
    }
}

fn is_one_of(tools: &[&str], call: &Value) -> bool {
    tools.iter().any(|name| call["name"] == *name)
}

/// What is wrong with what is kept of a call, given what arrived of it, and whether its tool still is as it was.
fn wrong_with(call: &Value, arrived: &[&Arrived], run: &Value, repeats: bool) -> Option<String> {
    let (status, output) = (call["status"].as_str().unwrap_or_default(), parsed(&call["output"]));
    let error = output["error"].as_str().unwrap_or_default();
    let answered = |status: u16, body: &Value| {
        arrived.iter().any(|arrived| arrived.answered.as_ref().is_some_and(|(code, said)| (*code, said) == (status, body)))
    };
    let is_shown = is_one_of(&VISIBLE, call);
    match status {
        "completed" if !arrived.iter().any(|arrived| arrived.took_effect && arrived.answered == Some((200, output.clone()))) => {
            Some(format!("has the result {output}, which no server gave: {arrived:?}"))
        }
        "completed" => None,
        "failed" if [500, 503].into_iter().any(|status| error.starts_with(&format!("the server answered {status}"))) => {
            let given = [500, 503].into_iter().any(|status| error.contains(&status.to_string()) && answered(status, &output["body"]));
            (!given).then(|| format!("has the result {output}, which no server gave: {arrived:?}"))
        }
        "failed" if MAYBE_REACHED.contains(&error.strip_suffix(SAID_SO).unwrap_or(error)) => None,
        // An idempotent call may have been made before by who had the run then.
        "failed" if error == NOT_REACHED && is_one_of(&IDEMPOTENT, call) => None,
        "failed" if arrived.is_empty() => None,
        "unknown" if repeats && is_one_of(&IDEMPOTENT, call) => Some(format!("is {status}, and may be repeated")),
        "unknown" if run["claims"].as_u64() < Some(2) => Some(format!("is {status}, and its run never changed hands")),
        "unknown" => None,
        "canceled" if is_shown && run["status"] != "completed" => None,
        // Nobody sees that it has no result, and its run goes on no more.
        "pending" if !is_shown && run["status"] != "completed" => None,
        _ => Some(format!("is {status} with {output}, and its run is {} by {}", run["status"], run["endReason"])),
    }
}

/// Calls of completed runs that have no result, though nothing before them ended their run.
fn without_result(kept: &Kept) -> Vec<String> {
    let mut found = Vec::new();
    for ((run, step, index), begun) in
        kept.all_begun().filter(|(place, call)| is_one_of(&TOOLS, call) && kept.runs[&place.0]["status"] == "completed")
    {
        let before = kept.calls.range((run.clone(), step, 0)..(run.clone(), step, index));
        let mut ended = before.filter(|(_, call)| call["status"] == "completed" && ENDS.iter().any(|name| call["name"] == *name));
        match (kept.calls.contains_key(&(run.clone(), step, index)), ended.next().is_some()) {
            (false, false) => found.push(format!("{run} is completed, and its call {} has no result", begun["callId"])),
            (true, true) => found.push(format!("{run} was ended by a call, and its call {} behind that was made", begun["callId"])),
            _ => {}
        }
    }
    found
}

/// Cards that say otherwise than their calls, whether they are kept or were seen.
fn cards_that_differ(evidence: &Evidence<'_>) -> Vec<String> {
    let kept = &evidence.kept;
    let calls: BTreeMap<_, _> =
        kept.calls.values().filter(|call| is_one_of(&TOOLS, call)).filter_map(|call| Some((call["callId"].as_str()?, call))).collect();
    let mut found = Vec::new();
    for (_, message) in kept.all_messages() {
        let card = &message["card"];
        let Some((id, call)) = card["callId"].as_str().and_then(|id| Some((id, calls.get(id)?))) else { continue };
        let status = if call["status"] == "unknown" { "failed" } else { call["status"].as_str().unwrap_or_default() };
        let output = parsed(&call["output"]);
        if card["status"] != status || parsed(&card["output"]["text"]) != output {
            found.push(format!("the card of {id} is {} {}, and its call {} {output}", card["status"], card["output"], call["status"]));
        }
        let state = json!({"status": status, "output": output, "resolvedBy": null});
        for (person, seen) in &evidence.seen {
            let last = message["id"].as_str().zip(message["rev"].as_u64()).and_then(|(card, rev)| seen.cards.get(&(card.to_owned(), rev)));
            if last.is_some_and(|last| *last != state) {
                found.push(format!("person {} saw the last state of the card of {id} as {last:?}, and it is {state}", person.index));
            }
        }
    }
    found
}
