//! Promise 4: a worker writes nothing after its run was canceled, absorbed or taken over.

use std::collections::BTreeMap;

use crate::ledger::ModelRequest;
use crate::oracle::{
    Evidence,
    cut_results::{forgotten_cuts, outputs, uncut},
    stopped_runs,
};

pub(super) fn a_run_without_its_lease_writes_nothing(evidence: &mut Evidence<'_>) {
    let mut found = canceled_runs_that_went_on(evidence);
    found.extend(workers_that_disagree(evidence));
    found.extend(wrong_ends(evidence));
    found.extend(stopped_runs::one_call_stops_each_stopped_run(&evidence.stored));
    for text in found {
        evidence.report(4, text);
    }
}

fn canceled_runs_that_went_on(evidence: &Evidence<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for canceled in &evidence.ledger.canceled {
        let status = evidence.stored.runs.get(&canceled.run).map(|run| run["status"].clone());
        if status.as_ref().is_none_or(|status| status != "canceled") {
            found.push(format!("{} was canceled, but is {status:?}", canceled.run));
        }
        for (space, last) in &canceled.after {
            let later = evidence
                .stored
                .messages
                .get(&space.to_string())
                .into_iter()
                .flatten()
                .filter(|(seq, _)| *seq > last);
            // What people had seen of an unfinished message is stored after the cancellation.
            let later = later.filter(|(_, message)| {
                message["runId"] == canceled.run.as_str() && message["partial"] != true
            });
            found.extend(later.map(|(seq, _)| {
                format!(
                    "{} wrote number {seq} of {space} after it was canceled at {last}",
                    canceled.run
                )
            }));
        }
    }
    found
}

/// All workers of a run resume from the same answers, which are the stored ones.
fn workers_that_disagree(evidence: &Evidence<'_>) -> Vec<String> {
    let outputs = outputs(&evidence.stored);
    // A run that resumes after a deletion gets what is left of its answers and results.
    let asks = evidence.ledger.model_requests.iter();
    let asks = asks.filter(|ask| !evidence.stored.is_redacted(&ask.run_id));
    let asks: Vec<ModelRequest> = asks.cloned().collect();
    let mut found = forgotten_cuts(&asks, &outputs);
    let mut before: BTreeMap<_, (&ModelRequest, Vec<String>)> = BTreeMap::new();
    for ask in &asks {
        let sent: Vec<_> = ask.before.iter().map(|message| uncut(message, &outputs)).collect();
        let (_, longest) = before.entry(ask.run()).or_insert_with(|| (ask, sent.clone()));
        let shared = longest.len().min(sent.len());
        if longest[..shared] != sent[..shared] {
            let differ = longest.iter().zip(&sent).find(|(one, other)| one != other);
            found.push(format!(
                "two workers of the run of {} on {} had different answers: {differ:?}",
                ask.agent, ask.trigger
            ));
        }
        if sent.len() > longest.len() {
            *longest = sent;
        }
    }
    for (ask, known) in before.into_values() {
        let Some(run) = evidence.stored.run_of(ask) else { continue };
        let answers = known.iter().filter(|message| message.starts_with(r#"{"role":"assistant""#));
        for (step, answer) in answers.enumerate() {
            let text = evidence
                .stored
                .steps
                .get(&(run.to_owned(), step as u64))
                .map(|step| &step["calls"]);
            let calls = text.and_then(|calls| calls.as_array()).into_iter().flatten();
            if calls.map(|call| call["input"].to_string()).any(|input| !answer.contains(&input)) {
                found.push(format!("step {step} of {run} differs from a worker's answer"));
            }
        }
    }
    found
}

/// People see the status with which a run ended, and a run writes nothing after its end.
fn wrong_ends(evidence: &Evidence<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for (person, seen) in &evidence.seen {
        for (run, ends) in &seen.ends {
            let status =
                evidence.stored.runs.get(run).map(|run| run["status"].clone()).unwrap_or_default();
            if ends.iter().any(|end| status != end.as_str()) {
                found.push(format!(
                    "person {} saw {run} end as {ends:?}, but it is {status}",
                    person.index
                ));
            }
        }
    }
    for run in evidence.stored.runs.keys() {
        let noted = evidence.env.storage.run_writes(run);
        if noted.ended.is_some_and(|(_, ended)| noted.wrote > ended) {
            found.push(format!("{run} stored an answer, a result or a message after its end"));
        }
    }
    found
}
