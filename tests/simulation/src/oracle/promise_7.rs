//! A form's answer counts once, and its run goes on with it.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};
use smartspace_domain::Time;
use tokio::time::Instant;

use super::{Evidence, Kept, kept::parsed};
use crate::ledger::{Answered, Ask};

/// Once nothing fails any more, a run whose forms have their results goes on within this time: whoever had it may have died just then, and its
/// time may have been moved on by a sweep whose job was lost.
const GOES_ON: Duration = Duration::from_mins(5);

pub(super) fn a_form_counts_once(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    let kept = &evidence.kept;
    let mut answers: BTreeMap<&str, Vec<&Answered>> = BTreeMap::new();
    for answered in &evidence.ledger.answers {
        answers.entry(&answered.call).or_default().push(answered);
    }
    let cards: BTreeMap<&str, &Value> =
        kept.all_messages().filter_map(|(_, message)| Some((message["card"]["callId"].as_str()?, message))).collect();
    for ((run, id), form) in &kept.forms {
        let place = (run.clone(), form["call"]["step"].as_u64().unwrap_or_default(), form["call"]["index"].as_u64().unwrap_or_default());
        let Some(call) = kept.calls.get(&place).filter(|call| call["callId"] == id.as_str()) else {
            found.push(format!("the form {id} of {run} has no call"));
            continue;
        };
        let given = answers.remove(id.as_str()).unwrap_or_default();
        // Who closes a form that its run left open may do so after the wall clock has jumped back.
        let ended = Some(&kept.runs[run]["finishedAt"]).filter(|_| evidence.world.plan.weather.clock == 0);
        found.extend(
            wrong_with(form, call, &given, &kept.runs[run]["status"], ended)
                .into_iter()
                .map(|what| format!("the form {id} of {run} {what}")),
        );
        let Some(card) = cards.get(id.as_str()) else { continue };
        let shown = &card["card"];
        if shown["status"] != call["status"] || parsed(&shown["output"]["text"]) != parsed(&call["output"]) {
            found.push(format!(
                "the card of {id} is {} {}, and its call {} {}",
                shown["status"], shown["output"], call["status"], call["output"]
            ));
        }
        let by = given.iter().find(|given| call["answered"]["by"] == given.person.to_string().as_str());
        if shown["asks"]["resolvedBy"] != by.map_or(Value::Null, |by| json!(by.person)) {
            found.push(format!("the card of {id} names {} and its call {}", shown["asks"]["resolvedBy"], call["answered"]["by"]));
        }
        for (person, seen) in &evidence.seen {
            let state = card["id"].as_str().zip(card["rev"].as_u64()).and_then(|(card, rev)| seen.cards.get(&(card.to_owned(), rev)));
            if state.is_some_and(|state| state["status"] != call["status"] || state["output"] != parsed(&call["output"])) {
                found.push(format!("person {} saw the last state of the card of {id} as {state:?}", person.index));
            }
        }
    }
    // What was taken was kept: also where its form is not.
    let lost = answers.values().flatten().filter(|answered| answered.was_taken());
    found.extend(lost.map(|answered| format!("the answer {} to {} was taken, and there is no such form", answered.output, answered.call)));
    let asked_people = |(place, _): &(&(String, u64, u64), &Value)| kept.begun(place).is_some_and(|begun| begun["name"] == "ask");
    for (place, call) in kept.calls.iter().filter(asked_people).filter(|(_, call)| call["status"] != "failed") {
        if !call["callId"].as_str().is_some_and(|call| kept.forms.contains_key(&(place.0.clone(), call.to_owned()))) {
            found.push(format!("the call {} of {} asks people, and has no form", call["callId"], place.0));
        }
    }
    for (id, run) in kept.runs.iter().filter(|(_, run)| !run["openCalls"].is_null() && run["openCalls"] != 0) {
        found.push(format!("{id} is {}, and has {} open forms", run["status"], run["openCalls"]));
    }
    found.extend(kept.runs.iter().filter(|(_, run)| run["status"] == "waiting_tool").map(|(id, _)| format!("{id} waits for ever")));
    found.extend(late_runs(evidence));
    for text in found {
        evidence.complain(7, text);
    }
}

/// What is wrong with one form, given what was answered to it, how its run is, and when that ended, where times can be compared.
fn wrong_with(form: &Value, call: &Value, given: &[&Answered], run: &Value, ended: Option<&Value>) -> Vec<String> {
    let mut found = Vec::new();
    let (status, output) = (call["status"].as_str().unwrap_or_default(), parsed(&call["output"]));
    let is_result =
        |given: &Answered| status == "completed" && call["answered"]["by"] == given.person.to_string().as_str() && output == given.output;
    let same = |one: &Answered, other: &Answered| one.person == other.person && one.output == other.output;
    for given in given.iter().filter(|given| given.was_taken() && !is_result(given)) {
        found.push(format!("took {} of {}, and is {status} with {output}", given.output, given.person));
    }
    let results: Vec<_> = given.iter().filter(|given| is_result(given)).collect();
    if results.iter().any(|given| !given.fits) {
        found.push(format!("took what does not fit: {output}"));
    }
    let refused = |given: &Answered| !results.iter().any(|other| same(other, given) && other.may_be_taken());
    found.extend(
        results.iter().filter(|given| refused(given)).map(|given| format!("has the result {output}, and {:?} was told", given.told)),
    );
    let time = |value: &Value| value.as_str().and_then(|text| text.parse::<Time>().ok());
    match status {
        "completed" if results.is_empty() => found.push(format!("has the result {output}, which nobody gave")),
        "completed" => {}
        "expired" if output != json!({"error": "expired"}) || time(&call["finishedAt"]) < time(&form["until"]) => {
            found.push(format!("expired at {} with {output}, and had time until {}", call["finishedAt"], form["until"]));
        }
        "expired" => {}
        "canceled" if output != json!({"error": "canceled"}) || ended.is_some_and(|ended| time(&call["finishedAt"]) < time(ended)) => {
            found.push(format!("was canceled at {} with {output}, and its run ended at {ended:?}", call["finishedAt"]));
        }
        "canceled" => {}
        "failed"
            if output["error"].as_str().is_some_and(|error| error.starts_with("you are not a member of the space that showed this")) => {}
        _ => found.push(format!("is {status}, and its run is {run}")),
    }
    found
}

/// Runs that had all results that they waited for, and did not go on in time; or that did before.
fn late_runs(evidence: &Evidence<'_>) -> Vec<String> {
    let mut asked: BTreeMap<&str, Vec<&Ask>> = BTreeMap::new();
    for ask in &evidence.ledger.asks {
        if let Some(run) = evidence.kept.run_of(ask) {
            asked.entry(run).or_default().push(ask);
        }
    }
    let mut found = Vec::new();
    let calm = evidence.world.calm_since();
    for run in with_forms(&evidence.kept) {
        let noted = evidence.world.storage.noted(run);
        let ended = noted.ended.map(|(at, _)| at);
        for (step, resolved) in noted.resolved.iter().filter(|(_, resolved)| ended.is_none_or(|ended| ended > **resolved)) {
            let next = asked.get(run).into_iter().flatten().filter(|ask| ask.step as u64 > *step).map(|ask| ask.sent).min();
            if next.is_some_and(|next| next < *resolved) {
                found.push(format!("{run} went on before the forms of its step {step} had their results"));
            }
            let waited_from = calm.map_or(*resolved, |calm| calm.max(*resolved));
            let went_on = next.or(ended).unwrap_or_else(Instant::now);
            let took = went_on.saturating_duration_since(waited_from);
            if calm.is_some() && took > GOES_ON {
                found.push(format!("{run} went on only {took:?} after the forms of its step {step} had their results"));
            }
        }
    }
    found
}

fn with_forms(kept: &Kept) -> impl Iterator<Item = &str> {
    kept.runs.iter().filter(|(_, run)| !run["openCalls"].is_null()).map(|(id, _)| id.as_str())
}
