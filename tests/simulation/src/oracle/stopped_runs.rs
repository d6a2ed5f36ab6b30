//! Promise 4 for runs that another run of their agent stopped or absorbed.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::oracle::{Stored, stored::parsed};

/// The end of a text that was truncated in a result.
const CUT: &str = " more bytes)";

/// The error of an external call that was under way.
const UNDER_WAY: &str = "it was under way; whether it took effect is not known";

/// A call that names a run to be stopped or absorbed: its own run, and its stored result.
struct Attempt<'a> {
    run: String,
    call: &'a Value,
    result: Option<&'a Value>,
}

/// The attempts to end a run, by the reason and the run that they name.
type Attempts<'a> = BTreeMap<(&'static str, String), Vec<Attempt<'a>>>;

impl Attempt<'_> {
    fn succeeded(&self) -> bool {
        self.result.is_some_and(|result| result["status"] == "completed")
    }
}

pub(super) fn one_call_stops_each_stopped_run(stored: &Stored) -> Vec<String> {
    let mut attempts = Attempts::new();
    for (place, call) in stored.all_begun() {
        let reason = match call["name"].as_str() {
            Some("absorb_run") => "absorbed",
            Some("stop_run") => "stop_run",
            _ => continue,
        };
        let other = parsed(&call["input"])["runId"].as_str().unwrap_or_default().to_owned();
        let result = stored.calls.get(&place);
        attempts.entry((reason, other)).or_default().push(Attempt { run: place.0, call, result });
    }
    let mut found = Vec::new();
    for ((reason, other), attempts) in &attempts {
        let Some(run) = stored.runs.get(other) else { continue };
        for attempt in attempts.iter().filter(|attempt| attempt.succeeded()) {
            found.extend(wrong_result(stored, attempt, reason, other, run));
        }
    }
    found.extend(wrong_ends(stored, &attempts));
    found
}

/// What is wrong with the result of a call that stopped or absorbed `other`.
fn wrong_result(
    stored: &Stored,
    attempt: &Attempt<'_>,
    reason: &str,
    other: &str,
    run: &Value,
) -> Vec<String> {
    let mut found = Vec::new();
    let by = &attempt.run;
    if run["status"] != "canceled"
        || run["endReason"] != reason
        || run["agentId"] != stored.runs[by]["agentId"]
    {
        found.push(format!(
            "a call of {by} reported that {other} is {reason}, but it is {} {}",
            run["status"], run["endReason"]
        ));
    }
    if reason == "absorbed" {
        let result = attempt.result.unwrap_or(&Value::Null);
        let absorbed = parsed(&result["output"])["absorbed"].take();
        let is_reported = |name: &str| absorbed["trigger"][name] == run[name];
        if !["messageId", "planId", "scheduledAt", "deliveryId"].into_iter().all(is_reported) {
            found.push(format!("{by} absorbed {other} and got a wrong trigger: {absorbed}"));
        }
        found.extend(
            differs(stored, other, &absorbed)
                .map(|what| format!("{by} absorbed {other} and got {what}")),
        );
    }
    found
}

/// Stopped and absorbed runs that not exactly one call ended, and runs that ended each other.
fn wrong_ends(stored: &Stored, attempts: &Attempts<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let mut ended_by = BTreeMap::new();
    for (id, run) in &stored.runs {
        let reason = match run["endReason"].as_str() {
            Some("absorbed") => "absorbed",
            Some("stop_run") => "stop_run",
            _ => continue,
        };
        let named = attempts.get(&(reason, id.clone())).map_or(&[][..], Vec::as_slice);
        let count = named.iter().filter(|attempt| attempt.succeeded()).count();
        if count != 1 {
            found.push(format!(
                "{id} is {reason}, and {count} of {} calls that name it reported that",
                named.len()
            ));
        }
        if let Some(by) = named.iter().find(|attempt| run["endedBy"] == attempt.call["callId"]) {
            ended_by.insert(id, &by.run);
        }
    }
    let both = ended_by.iter().filter(|(run, by)| ended_by.get(*by).is_some_and(|by| by == *run));
    found.extend(both.map(|(run, by)| format!("{run} and {by} ended each other")));
    found
}

/// Compares the actions that a call reported with the stored calls of a run.
fn differs(stored: &Stored, run: &str, absorbed: &Value) -> Option<String> {
    let reported = absorbed["actionsTaken"].as_array().map_or(&[][..], Vec::as_slice);
    let calls = stored.calls.range((run.to_owned(), 0, 0)..=(run.to_owned(), u64::MAX, u64::MAX));
    let done: Vec<_> = calls
        .map(|(place, call)| {
            let begun = stored.begun(place);
            json!({
                "tool": call["name"],
                "input": begun.map(|begun| parsed(&begun["input"])).unwrap_or_default(),
                "output": parsed(&call["output"]),
                "status": call["status"],
            })
        })
        .collect();
    if reported.len() as u64 + absorbed["more"].as_u64().unwrap_or(0) != done.len() as u64 {
        return Some(format!("{} calls, but {} are stored", reported.len(), done.len()));
    }
    let is_cut = |value: &Value| value.as_str().is_some_and(|text| text.ends_with(CUT));
    let same = |one: &Value, other: &Value| one == other || is_cut(one);
    // A call that was under way then has no result, or was canceled after the end of its run.
    let was_under_way = |reported: &Value, done: &Value| {
        reported["output"]["error"] == UNDER_WAY
            && (done["status"] == "pending" || done["status"] == "canceled")
    };
    let differs = |(reported, done): &(&Value, &Value)| {
        reported["tool"] != done["tool"]
            || !same(&reported["input"], &done["input"])
            || !(same(&reported["output"], &done["output"]) || was_under_way(reported, done))
    };
    reported
        .iter()
        .zip(&done)
        .find(differs)
        .map(|(reported, done)| format!("{reported}, but {done} is stored"))
}
