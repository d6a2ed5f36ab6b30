//! Promise 16: each change of an agent has a revision, and each step names the one with which its
//! model was asked.

use std::collections::BTreeMap;

use smartspace_domain::{agents::revisions::REVISIONS, ids::RunId};

use crate::oracle::{Evidence, Stored};

pub(super) fn changes_have_revisions_and_steps_name_them(evidence: &mut Evidence<'_>) {
    let mut found = gaps(&evidence.stored);
    found.extend(wrong_steps(evidence));
    for text in found {
        evidence.report(16, text);
    }
}

/// Agents whose last revisions are not all kept, or not only these.
fn gaps(stored: &Stored) -> Vec<String> {
    let mut found = Vec::new();
    for (agent, last) in &stored.last_revisions {
        let of_agent = stored.revisions.keys().filter(|(of, _)| of == agent);
        let kept: Vec<_> = of_agent.map(|(_, number)| *number).collect();
        let first = last.saturating_sub(REVISIONS) + 1;
        if kept != (first..=*last).collect::<Vec<_>>() {
            found.push(format!("{agent} is at revision {last}, and {kept:?} are kept"));
        }
    }
    found
}

/// Steps with a revision that did not exist when their run wrote for the last time, or that was
/// replaced before their run was delivered for the first time, and runs that name an older one than
/// their last step: its worker may have died, and the next one may have stored no step.
fn wrong_steps(evidence: &Evidence<'_>) -> Vec<String> {
    let Evidence { stored, ledger, env, .. } = evidence;
    let mut last = BTreeMap::new();
    let mut found = Vec::new();
    for ((run, index), step) in &stored.steps {
        let Some(owner) = stored.runs.get(run) else { continue };
        let agent = owner["agentId"].as_str().unwrap_or_default();
        let Some(number) = step["configRevision"].as_u64() else {
            found.push(format!("step {index} of {run} names no revision"));
            continue;
        };
        let wrote = env.storage.run_writes(run).wrote;
        let written = |number: u64| env.storage.revision_written(agent, number);
        let is_early = written(number).is_some_and(|(_, written)| written > wrote);
        let delivered = run.parse().ok().and_then(|run: RunId| ledger.delivered.get(&run));
        let is_late = written(number + 1).zip(delivered).is_some_and(|((at, _), run)| at < *run);
        let exists = stored.last_revisions.get(agent).is_none_or(|last| number <= *last);
        if is_early || is_late || !exists {
            let which = if is_late { "an old" } else { "a later" };
            found
                .push(format!("step {index} of {run} names {which} revision of {agent}: {number}"));
        }
        // A partial one is stored after its run was canceled.
        if step["partial"] != true {
            last.insert(run, number);
        }
    }
    for (run, number) in last {
        let named = stored.runs[run]["configRevision"].as_u64();
        if named < Some(number) {
            found.push(format!("{run} names revision {named:?}, its last step {number}"));
        }
    }
    found
}
