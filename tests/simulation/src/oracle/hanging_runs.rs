//! Promise 5: a run whose process died resumes after its last stored step, and in the calm phase
//! every run ends.

use std::collections::BTreeMap;

use crate::oracle::Evidence;

pub(super) fn no_run_hangs(evidence: &mut Evidence<'_>) {
    let mut found = repeated_steps(evidence);
    for (id, run) in &evidence.stored.runs {
        let status = run["status"].as_str().unwrap_or_default();
        if !["completed", "failed", "canceled"].contains(&status) {
            found.push(format!("{id} is still {status}"));
        }
    }
    let active = evidence.stored.active.iter();
    found.extend(active.map(|(agent, run)| format!("{run} is active in the context of {agent}")));
    // A file that no message names is due a day later, which no history reaches.
    // `files` looks for those that are being deleted.
    let due = evidence.stored.due.iter().filter(|key| !key.starts_with("FILES#"));
    found.extend(due.map(|key| format!("{key} is still due")));
    for text in found {
        evidence.report(5, text);
    }
}

/// Requests for a step whose answer was stored. The request for the next step proves that it was. A
/// worker that worked on the run before that request may not know it.
fn repeated_steps(evidence: &Evidence<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let mut furthest: BTreeMap<_, (usize, Vec<&str>)> = BTreeMap::new();
    let mut workers: BTreeMap<_, Vec<&str>> = BTreeMap::new();
    // When the furthest request of a run arrived. Requests that were sent before may come later.
    let mut known = BTreeMap::new();
    for ask in &evidence.ledger.model_requests {
        let run = ask.run();
        let (step, before) = furthest.entry(run).or_default();
        let on_its_way = known.get(&run).is_some_and(|known| ask.sent <= *known);
        if ask.step < *step && !on_its_way && !before.contains(&ask.process.as_str()) {
            found.push(format!(
                "the model of {} was asked for step {} on {} after step {step}",
                ask.agent, ask.step, ask.trigger
            ));
        }
        let workers = workers.entry(run).or_default();
        if ask.step > *step {
            known.insert(run, ask.at);
            *step = ask.step;
            *before = workers.iter().copied().filter(|worker| *worker != ask.process).collect();
        }
        workers.push(&ask.process);
    }
    found
}
