//! Promise 7: a form's answer counts once, and its run continues with it.

mod form;

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::ledger::{FormAnswer, ModelRequest};
use crate::oracle::{Evidence, Stored, forms::form::Form, stored::parsed};

/// In the calm phase, a run whose forms have their results continues within this time. Its worker
/// may have died just then, and a sweep whose job was lost may have moved its due time.
const CONTINUES_WITHIN: Duration = Duration::from_mins(5);

pub(super) fn a_form_counts_once(evidence: &mut Evidence<'_>) {
    let stored = &evidence.stored;
    let mut answers: BTreeMap<&str, Vec<&FormAnswer>> = BTreeMap::new();
    for answered in &evidence.ledger.answers {
        answers.entry(&answered.call).or_default().push(answered);
    }
    let cards: BTreeMap<&str, &Value> = stored
        .all_messages()
        .filter(|(space, _)| !stored.is_deleted(space))
        .filter_map(|(_, message)| Some((message["card"]["callId"].as_str()?, message)))
        .collect();
    let mut found = Vec::new();
    // `approvals` judges the cards of calls that people decide.
    let forms = stored.forms.iter().filter(|(_, form)| form["approval"].is_null());
    for ((run, id), form) in forms {
        let place = (
            run.clone(),
            form["call"]["step"].as_u64().unwrap_or_default(),
            form["call"]["index"].as_u64().unwrap_or_default(),
        );
        let call = stored.calls.get(&place).filter(|call| call["callId"] == id.as_str());
        let Some(call) = call else {
            found.push(format!("the form {id} of {run} has no call"));
            continue;
        };
        let answers = answers.remove(id.as_str()).unwrap_or_default();
        let parameters = &evidence.env.parameters;
        let steady = parameters.fault_rates.clock == 0;
        let clock_spread = steady.then_some(parameters.clock_spread);
        let wrong = Form { item: form, call, answers: &answers }
            .wrong(&stored.runs[run], clock_spread)
            .into_iter()
            .map(|what| format!("the form {id} of {run} {what}"));
        found.extend(wrong);
        if let Some(card) = cards.get(id.as_str()) {
            found.extend(wrong_card(evidence, id, call, card, &answers));
        }
    }
    // An accepted answer is stored, even if its form is not.
    let lost = answers.values().flatten().filter(|answered| answered.was_taken());
    found.extend(lost.map(|answered| {
        format!(
            "the answer {} to {} was accepted, but there is no such form",
            answered.output, answered.call
        )
    }));
    found.extend(calls_without_forms(stored));
    found.extend(open_runs(stored));
    found.extend(late_runs(evidence));
    for text in found {
        evidence.report(7, text);
    }
}

/// Differences between a form's card, as it is stored and as people saw it, and its call.
fn wrong_card(
    evidence: &Evidence<'_>,
    id: &str,
    call: &Value,
    message: &Value,
    answers: &[&FormAnswer],
) -> Vec<String> {
    let mut found = Vec::new();
    let card = &message["card"];
    if card["status"] != call["status"]
        || parsed(&card["output"]["text"]) != parsed(&call["output"])
    {
        found.push(format!(
            "the card of {id} is {} {}, but its call is {} {}",
            card["status"], card["output"], call["status"], call["output"]
        ));
    }
    let by =
        answers.iter().find(|given| call["answered"]["by"] == given.person.to_string().as_str());
    if card["asks"]["resolvedBy"] != by.map_or(Value::Null, |by| json!(by.person)) {
        found.push(format!(
            "the card of {id} names {}, but its call names {}",
            card["asks"]["resolvedBy"], call["answered"]["by"]
        ));
    }
    for (person, seen) in &evidence.seen {
        let state = message["id"]
            .as_str()
            .zip(message["rev"].as_u64())
            .and_then(|(message, rev)| seen.cards.get(&(message.to_owned(), rev)));
        if state.is_some_and(|state| {
            state["status"] != call["status"] || state["output"] != parsed(&call["output"])
        }) {
            found.push(format!(
                "person {} saw the last state of the card of {id} as {state:?}",
                person.index
            ));
        }
    }
    found
}

/// Calls that ask people and have no form.
fn calls_without_forms(stored: &Stored) -> Vec<String> {
    let asks_people = |(place, call): &(&(String, u64, u64), &Value)| {
        call["status"] != "failed"
            && stored.begun(place).is_some_and(|begun| begun["name"] == "ask")
    };
    let has_form = |run: &str, call: &Value| {
        call["callId"]
            .as_str()
            .is_some_and(|call| stored.forms.contains_key(&(run.to_owned(), call.to_owned())))
    };
    stored
        .calls
        .iter()
        .filter(asks_people)
        .filter(|(place, call)| !has_form(&place.0, call))
        .map(|(place, call)| {
            format!("the call {} of {} asks people, but has no form", call["callId"], place.0)
        })
        .collect()
}

/// Runs that wait for forms at the end.
fn open_runs(stored: &Stored) -> Vec<String> {
    let mut found = Vec::new();
    for (id, run) in &stored.runs {
        if !run["openCalls"].is_null() && run["openCalls"] != 0 {
            let open = &run["openCalls"];
            found.push(format!("{id} is {}, but has {open} open forms", run["status"]));
        }
        if run["status"] == "waiting_tool" {
            found.push(format!("{id} waits forever"));
        }
    }
    found
}

/// Runs that continued before their forms had results, or too late after that.
fn late_runs(evidence: &Evidence<'_>) -> Vec<String> {
    let mut asked: BTreeMap<&str, Vec<&ModelRequest>> = BTreeMap::new();
    for ask in &evidence.ledger.model_requests {
        if let Some(run) = evidence.stored.run_of(ask) {
            asked.entry(run).or_default().push(ask);
        }
    }
    let mut found = Vec::new();
    let calm = evidence.env.calm_since();
    for run in with_forms(&evidence.stored) {
        let noted = evidence.env.storage.run_writes(run);
        let ended = noted.ended.map(|(at, _)| at);
        for (step, resolved) in noted
            .resolved
            .iter()
            .filter(|(_, resolved)| ended.is_none_or(|ended| ended > **resolved))
        {
            let next = asked
                .get(run)
                .into_iter()
                .flatten()
                .filter(|ask| ask.step as u64 > *step)
                .map(|ask| ask.sent)
                .min();
            if next.is_some_and(|next| next < *resolved) {
                found.push(format!(
                    "{run} continued before the forms of its step {step} had their results"
                ));
            }
            let waited_from = calm.map_or(*resolved, |calm| calm.max(*resolved));
            let went_on = next.or(ended).unwrap_or_else(Instant::now);
            let took = went_on.saturating_duration_since(waited_from);
            if calm.is_some() && took > CONTINUES_WITHIN {
                found.push(format!(
                    "{run} continued only {took:?} after the forms of its step {step} had results"
                ));
            }
        }
    }
    found
}

fn with_forms(stored: &Stored) -> impl Iterator<Item = &str> {
    stored.runs.iter().filter(|(_, run)| !run["openCalls"].is_null()).map(|(id, _)| id.as_str())
}
