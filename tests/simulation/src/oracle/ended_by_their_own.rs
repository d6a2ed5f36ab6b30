//! Runs that another run of their agent stopped or absorbed: part of promise 4.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Kept, kept::parsed};

/// What a result says of a text that was cut.
const CUT: &str = " more bytes)";

/// What is told of a call that was under way outside.
const UNDER_WAY: &str = "it was under way; whether it took effect is not known";

/// Whom a call names to be ended, by its begun call: the caller's run, and the result that is kept.
struct Tried<'a> {
    run: String,
    call: &'a Value,
    result: Option<&'a Value>,
}

pub(super) fn what_runs_did_to_each_other(kept: &Kept) -> Vec<String> {
    let mut found = Vec::new();
    // Which calls named which run to be ended so.
    let mut tried: BTreeMap<(&str, String), Vec<Tried<'_>>> = BTreeMap::new();
    for (place, call) in kept.all_begun() {
        let reason = match call["name"].as_str() {
            Some("absorb_run") => "absorbed",
            Some("stop_run") => "stop_run",
            _ => continue,
        };
        let other = parsed(&call["input"])["runId"].as_str().unwrap_or_default().to_owned();
        let result = kept.calls.get(&place);
        tried.entry((reason, other)).or_default().push(Tried { run: place.0, call, result });
    }
    let done = |tried: &Tried<'_>| tried.result.is_some_and(|result| result["status"] == "completed");
    for ((reason, other), tried) in &tried {
        let Some(run) = kept.runs.get(other) else { continue };
        for Tried { run: by, result, .. } in tried.iter().filter(|tried| done(tried)) {
            if run["status"] != "canceled" || run["endReason"] != *reason || run["agentId"] != kept.runs[by]["agentId"] {
                found.push(format!("{by} was told that {other} is {reason}, and it is {} {}", run["status"], run["endReason"]));
            }
            let told = parsed(&result.unwrap_or(&Value::Null)["output"])["absorbed"].take();
            let tells = |name: &str| told["trigger"][name] == run[name];
            if *reason == "absorbed" && !["messageId", "planId", "scheduledAt", "deliveryId"].into_iter().all(tells) {
                found.push(format!("{by} absorbed {other} and was not told what had woken it: {told}"));
            }
            if *reason == "absorbed" {
                found.extend(differs(kept, other, &told).map(|what| format!("{by} absorbed {other} and was told {what}")));
            }
        }
    }
    // Who ended it, where that can be known.
    let mut ended_by = BTreeMap::new();
    for (id, run) in &kept.runs {
        let Some(reason) = run["endReason"].as_str().filter(|reason| ["absorbed", "stop_run"].contains(reason)) else { continue };
        let named = tried.get(&(reason, id.clone())).map_or(&[][..], Vec::as_slice);
        let count = named.iter().filter(|tried| done(tried)).count();
        if count != 1 {
            found.push(format!("{id} is {reason}, and {count} of {} calls that name it were told so", named.len()));
        }
        if let Some(by) = named.iter().find(|tried| run["endedBy"] == tried.call["callId"]) {
            ended_by.insert(id, &by.run);
        }
    }
    let both = ended_by.iter().filter(|(run, by)| ended_by.get(*by).is_some_and(|by| by == *run));
    found.extend(both.map(|(run, by)| format!("{run} and {by} ended each other")));
    found
}

/// What was told of a run's doings and is not what is kept of them.
fn differs(kept: &Kept, run: &str, told: &Value) -> Option<String> {
    let told_of = told["actionsTaken"].as_array().map_or(&[][..], Vec::as_slice);
    let done = kept.calls.range((run.to_owned(), 0, 0)..=(run.to_owned(), u64::MAX, u64::MAX));
    let done: Vec<_> = done
        .map(|(place, call)| {
            let input = kept.begun(place).map(|begun| parsed(&begun["input"])).unwrap_or_default();
            json!({"tool": call["name"], "input": input, "output": parsed(&call["output"]), "status": call["status"]})
        })
        .collect();
    if told_of.len() as u64 + told["more"].as_u64().unwrap_or(0) != done.len() as u64 {
        return Some(format!("of {} calls where {} are kept", told_of.len(), done.len()));
    }
    let is_cut = |value: &Value| value.as_str().is_some_and(|text| text.ends_with(CUT));
    let same = |one: &Value, other: &Value| one == other || is_cut(one);
    // What was under way then has no result, or was closed behind the end.
    let was_under_way =
        |told: &Value, done: &Value| told["output"]["error"] == UNDER_WAY && (done["status"] == "pending" || done["status"] == "canceled");
    let differs = |(told, done): &(&Value, &Value)| {
        told["tool"] != done["tool"]
            || !same(&told["input"], &done["input"])
            || !(same(&told["output"], &done["output"]) || was_under_way(told, done))
    };
    told_of.iter().zip(&done).find(differs).map(|(told, done)| format!("{told} where {done} is kept"))
}
