//! A run that was canceled, absorbed or taken over writes nothing more.

use std::collections::BTreeMap;

use super::{Evidence, ended_by_their_own};
use crate::ledger::Ask;

pub(super) fn who_lost_its_run_writes_nothing_more(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    for canceled in &evidence.ledger.canceled {
        let status = evidence.kept.runs.get(&canceled.run).map(|run| run["status"].clone());
        if status.as_ref().is_none_or(|status| status != "canceled") {
            found.push(format!("{} was canceled, and is {status:?}", canceled.run));
        }
        for (space, last) in &canceled.after {
            let later = evidence.kept.messages.get(&space.to_string()).into_iter().flatten().filter(|(seq, _)| *seq > last);
            let later = later.filter(|(_, message)| message["runId"] == canceled.run.as_str());
            found.extend(later.map(|(seq, _)| format!("{} wrote number {seq} of {space} after it was canceled at {last}", canceled.run)));
        }
    }
    // Whoever goes on with a run goes on from the same answers.
    let mut before: BTreeMap<_, (&Ask, &[String])> = BTreeMap::new();
    for ask in &evidence.ledger.asks {
        let (_, longest) = before.entry(ask.run()).or_insert((ask, &ask.before));
        let shared = longest.len().min(ask.before.len());
        if longest[..shared] != ask.before[..shared] {
            let differ = longest.iter().zip(&ask.before).find(|(one, other)| one != other);
            found.push(format!("two workers of the run of {} on {} remember different answers: {differ:?}", ask.agent, ask.trigger));
        }
        if ask.before.len() > longest.len() {
            *longest = &ask.before;
        }
    }
    for (ask, remembered) in before.into_values() {
        let Some(run) = evidence.kept.run_of(ask) else { continue };
        let answers = remembered.iter().filter(|message| message.starts_with(r#"{"role":"assistant""#));
        for (step, answer) in answers.enumerate() {
            let text = evidence.kept.steps.get(&(run.to_owned(), step as u64)).map(|step| &step["calls"]);
            let calls = text.and_then(|calls| calls.as_array()).into_iter().flatten();
            if calls.map(|call| call["input"].to_string()).any(|input| !answer.contains(&input)) {
                found.push(format!("step {step} of {run} is not what a worker of it remembered"));
            }
        }
    }
    // What everyone was told of a run's end is how it ended.
    for (person, seen) in &evidence.seen {
        for (run, ends) in &seen.ends {
            let status = evidence.kept.runs.get(run).map(|run| run["status"].clone()).unwrap_or_default();
            if ends.iter().any(|end| status != end.as_str()) {
                found.push(format!("person {} saw {run} end as {ends:?}, and it is {status}", person.index));
            }
        }
    }
    // Whatever ended it: answers, results and messages come before.
    for run in evidence.kept.runs.keys() {
        let noted = evidence.world.storage.noted(run);
        if noted.ended.is_some_and(|(_, ended)| noted.wrote > ended) {
            found.push(format!("{run} wrote something after it had ended"));
        }
    }
    found.extend(ended_by_their_own::what_runs_did_to_each_other(&evidence.kept));
    for text in found {
        evidence.complain(4, text);
    }
}
