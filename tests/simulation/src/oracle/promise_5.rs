//! A run whose process died goes on from its last finished step: once nothing fails any more, none hangs.

use std::collections::BTreeMap;

use super::Evidence;

pub(super) fn no_run_hangs(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    for (id, run) in &evidence.kept.runs {
        let status = run["status"].as_str().unwrap_or_default();
        if !["completed", "failed", "canceled"].contains(&status) {
            found.push(format!("{id} is still {status}"));
        }
    }
    found.extend(evidence.kept.active.iter().map(|(agent, run)| format!("{run} is in the context of {agent} as if it were active")));
    found.extend(evidence.kept.due.iter().map(|key| format!("someone still has to come back to {key}")));
    // Where an answer was kept, the model is not asked for it again: the next question says that it was kept. A worker that was there before
    // that question may not know yet.
    let mut furthest: BTreeMap<_, (usize, Vec<&str>)> = BTreeMap::new();
    let mut workers: BTreeMap<_, Vec<&str>> = BTreeMap::new();
    // When the furthest question of a run arrived: what was sent before may come later.
    let mut known = BTreeMap::new();
    for ask in &evidence.ledger.asks {
        let run = ask.run();
        let (step, before) = furthest.entry(run).or_default();
        let on_its_way = known.get(&run).is_some_and(|known| ask.sent <= *known);
        if ask.step < *step && !on_its_way && !before.contains(&ask.process.as_str()) {
            found.push(format!("the model of {} was asked for step {} on {} after step {step}", ask.agent, ask.step, ask.trigger));
        }
        let workers = workers.entry(run).or_default();
        if ask.step > *step {
            known.insert(run, ask.at);
            (*step, *before) = (ask.step, workers.iter().copied().filter(|worker| *worker != ask.process).collect());
        }
        workers.push(&ask.process);
    }
    for text in found {
        evidence.complain(5, text);
    }
}
