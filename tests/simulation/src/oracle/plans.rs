//! Promise 7 for plans: a plan fires once for each of its times.
//!
//! `states` compares each stored state of a plan with the requests about it, with its runs, and
//! with the oracle's own calendar in `times`. `requests` collects what the operator and agents
//! asked for.

mod requests;
mod states;
mod times;

use std::{collections::BTreeMap, time::Duration};

use serde_json::Value;
use smartspace_domain::Time;
use tokio::time::Instant;

use crate::oracle::Evidence;
use crate::{ledger::PlanAction, storage::PlanState};
use requests::Requests;
use states::History;

/// In the calm phase, a plan fires within this time after it is due: the time until the next sweep,
/// and for work that began before.
const FIRES_WITHIN: Duration = Duration::from_mins(3);

/// A run that a plan triggered.
#[derive(Clone, Copy)]
struct Fired<'a> {
    run: &'a str,
    stored: &'a Value,
    scheduled_at: Time,
    missed: u64,
    created: (Instant, u64),
    /// The operator ran it by hand. It stands for a scheduled time only if it has the same
    /// millisecond.
    by_hand: bool,
}

pub(super) fn a_plan_fires_once_for_each_of_its_times(evidence: &mut Evidence<'_>) {
    let plans = evidence.env.storage.plans();
    let requests = Requests::collect(evidence);
    let mut fired = by_plan(evidence);
    let mut found = Vec::new();
    let mut deep = Vec::new();
    for ((agent, plan), noted) in &plans {
        let mut fired = fired.remove(plan.as_str()).unwrap_or_default();
        let unknown = note_by_hand(evidence, plan, &mut fired, &mut found);
        let mut history = History {
            requests: &requests,
            plan,
            agent,
            fired,
            spent: Vec::new(),
            found: Vec::new(),
            deep: Vec::new(),
        };
        history.follow(noted);
        let leftover: Vec<_> =
            history.fired.iter().filter(|fired| !fired.by_hand).copied().collect();
        for fired in leftover.iter().take(leftover.len().saturating_sub(unknown)) {
            history.found.push(format!(
                "{} fired for {}, which was not one of its times, or fired a second time",
                fired.run, fired.scheduled_at
            ));
        }
        if !evidence.stored.retired.contains(agent) {
            history.found.extend(late(evidence, plan, noted));
        }
        found.extend(history.found.into_iter().map(|what| format!("{plan}: {what}")));
        deep.extend(history.deep.into_iter().map(|what| format!("{plan}: {what}")));
    }
    found.extend(fired.into_iter().map(|(plan, fired)| {
        format!("{} was triggered by {plan}, which never existed", fired[0].run)
    }));
    found.extend(requests.lost(&plans));
    for text in found {
        evidence.report(7, text);
    }
    for text in deep {
        evidence.report(6, text);
    }
}

/// The runs of each plan, in the order in which they were created.
fn by_plan<'a>(evidence: &'a Evidence<'_>) -> BTreeMap<&'a str, Vec<Fired<'a>>> {
    let mut fired: BTreeMap<&str, Vec<Fired<'_>>> = BTreeMap::new();
    let runs = evidence.stored.runs.iter().filter(|(_, run)| run["retryOf"].is_null());
    for (run, stored) in runs {
        let (Some(plan), Some(scheduled_at)) =
            (stored["planId"].as_str(), times::time(&stored["scheduledAt"]))
        else {
            continue;
        };
        let missed =
            evidence.stored.fired.get(run).and_then(|fired| fired["missed"].as_u64()).unwrap_or(0);
        let Some(created) = evidence.env.storage.run_writes(run).created else { continue };
        fired.entry(plan).or_default().push(Fired {
            run,
            stored,
            scheduled_at,
            missed,
            created,
            by_hand: false,
        });
    }
    for fired in fired.values_mut() {
        fired.sort_by_key(|fired| fired.created.1);
    }
    fired
}

/// Marks the runs that the operator is known to have run by hand. Returns how many more there may
/// be.
fn note_by_hand(
    evidence: &Evidence<'_>,
    plan: &str,
    fired: &mut [Fired<'_>],
    found: &mut Vec<String>,
) -> usize {
    let mut unknown = 0;
    for asked in evidence
        .ledger
        .plans
        .iter()
        .filter(|asked| asked.action == PlanAction::Run && asked.plan.as_deref() == Some(plan))
    {
        let Some((202, answer)) = &asked.answer else {
            unknown += usize::from(asked.answer.is_none());
            continue;
        };
        match fired.iter_mut().find(|fired| answer["id"] == fired.run) {
            Some(fired) if fired.created.0 >= asked.sent => {
                fired.by_hand = true;
                if fired.stored["chainDepth"] != 0 {
                    found.push(format!("{} was run by hand, but its depth is not 0", answer["id"]));
                }
            }
            _ => found.push(format!("{} was run by hand, but is not stored", answer["id"])),
        }
    }
    unknown
}

/// Times in or before the calm phase for which the plan did not fire in time.
fn late(evidence: &Evidence<'_>, plan: &str, noted: &[PlanState]) -> Vec<String> {
    let env = evidence.env;
    let (Some(calm), Some(wall)) = (env.calm_since(), evidence.ledger.wall_in_calm) else {
        return Vec::new();
    };
    // A used budget puts plans off until the next day.
    if evidence.stored.budgets.values().any(|counter| !counter["refusedTokens"].is_null()) {
        return Vec::new();
    }
    // In the calm phase the clock does not jump. Times before the deployment began have no instant.
    let instant = |at: Time| calm.checked_sub(wall.since(at)).map(|past| past + at.since(wall));
    let now = Instant::now();
    let mut found = Vec::new();
    for (index, state) in noted.iter().enumerate() {
        let Some(at) = state.plan.as_ref().and_then(states::due) else { continue };
        let until = noted.get(index + 1).map_or(now, |next| next.at);
        let is_known = state.at < calm && until > calm;
        let again = evidence
            .ledger
            .due_in_calm
            .get(plan)
            .and_then(|due| due.parse().ok())
            .filter(|_| is_known);
        let from = [instant(at), again.and_then(instant), Some(state.at), Some(calm)]
            .into_iter()
            .flatten()
            .max();
        if let Some(from) = from.filter(|from| until > *from + FIRES_WITHIN) {
            found.push(format!("it was due at {at}, but nothing happened for {:?}", until - from));
        }
    }
    found
}
