//! A plan fires once for each of its times: part of promise 7. What was kept of each plan, one state after the other, is held against what was asked for,
//! against the runs, and against a calendar of the oracle's own.

mod states;
mod times;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use serde_json::Value;
use smartspace_domain::Time;
use tokio::time::Instant;

use super::Evidence;
use crate::{
    ledger::{OfPlan, PlanDeed},
    oracle::kept::parsed,
    storage::PlanNoted,
};
use states::History;

/// Once nothing fails any more, a plan fires within this time, counted from when someone comes back to it: until the next sweep, and what was
/// begun before.
const FIRES: Duration = Duration::from_mins(3);

/// A run that a plan woke.
#[derive(Clone, Copy)]
struct Fired<'a> {
    run: &'a str,
    kept: &'a Value,
    scheduled_at: Time,
    missed: u64,
    created: (Instant, u64),
    /// The operator was told of it: it counts for a time only if it was run at that very millisecond.
    by_hand: bool,
}

pub(super) fn a_plan_fires_once_for_each_of_its_times(evidence: &mut Evidence<'_>) {
    let plans = evidence.world.storage.plans();
    let asked = Asked::of(evidence);
    let mut fired = by_plan(evidence);
    let (mut found, mut deep) = (Vec::new(), Vec::new());
    for ((agent, plan), noted) in &plans {
        let mut fired = fired.remove(plan.as_str()).unwrap_or_default();
        let unknown = note_by_hand(evidence, plan, &mut fired, &mut found);
        let mut history = History { asked: &asked, plan, agent, fired, spent: Vec::new(), found: Vec::new(), deep: Vec::new() };
        history.follow(noted);
        let leftover: Vec<_> = history.fired.iter().filter(|fired| !fired.by_hand).copied().collect();
        for fired in leftover.iter().take(leftover.len().saturating_sub(unknown)) {
            history.found.push(format!("{} fired for {}, which was not its time, or was accounted for", fired.run, fired.scheduled_at));
        }
        if !evidence.kept.retired.contains(agent) {
            history.found.extend(late(evidence, plan, noted));
        }
        found.extend(history.found.into_iter().map(|what| format!("{plan}: {what}")));
        deep.extend(history.deep.into_iter().map(|what| format!("{plan}: {what}")));
    }
    found.extend(fired.into_iter().map(|(plan, fired)| format!("{} was woken by {plan}, which never was", fired[0].run)));
    found.extend(asked.lost(&plans));
    for text in found {
        evidence.complain(7, text);
    }
    for text in deep {
        evidence.complain(6, text);
    }
}

/// The runs of each plan, in the order in which they were kept.
fn by_plan<'a>(evidence: &'a Evidence<'_>) -> BTreeMap<&'a str, Vec<Fired<'a>>> {
    let mut fired: BTreeMap<&str, Vec<Fired<'_>>> = BTreeMap::new();
    for (run, kept) in &evidence.kept.runs {
        let (Some(plan), Some(scheduled_at)) = (kept["planId"].as_str(), times::time(&kept["scheduledAt"])) else { continue };
        let missed = evidence.kept.fired.get(run).and_then(|fired| fired["missed"].as_u64()).unwrap_or(0);
        let Some(created) = evidence.world.storage.noted(run).created else { continue };
        fired.entry(plan).or_default().push(Fired { run, kept, scheduled_at, missed, created, by_hand: false });
    }
    for fired in fired.values_mut() {
        fired.sort_by_key(|fired| fired.created.1);
    }
    fired
}

/// Notes what the operator ran by hand and was told of. How many more that may be.
fn note_by_hand(evidence: &Evidence<'_>, plan: &str, fired: &mut [Fired<'_>], found: &mut Vec<String>) -> usize {
    let mut unknown = 0;
    for asked in evidence.ledger.plans.iter().filter(|asked| asked.deed == PlanDeed::Run && asked.plan.as_deref() == Some(plan)) {
        let Some((202, told)) = &asked.told else {
            unknown += usize::from(asked.told.is_none());
            continue;
        };
        match fired.iter_mut().find(|fired| told["id"] == fired.run) {
            Some(fired) if fired.created.0 >= asked.sent => {
                fired.by_hand = true;
                if fired.kept["chainDepth"] != 0 {
                    found.push(format!("{} was run by hand, and does not begin anew", told["id"]));
                }
            }
            _ => found.push(format!("{} was run by hand, and is not there", told["id"])),
        }
    }
    unknown
}

/// Times that came in the calm, or had come before, and were not acted on in time.
fn late(evidence: &Evidence<'_>, plan: &str, noted: &[PlanNoted]) -> Vec<String> {
    let world = evidence.world;
    let (Some(calm), Some(wall)) = (world.calm_since(), evidence.ledger.wall_in_calm) else { return Vec::new() };
    // The clock jumps no more. What came before the world began is past.
    let instant = |at: Time| calm.checked_sub(wall.since(at)).map(|past| past + at.since(wall));
    let now = Instant::now();
    let mut found = Vec::new();
    for (index, state) in noted.iter().enumerate() {
        let Some(at) = state.plan.as_ref().and_then(states::due) else { continue };
        let until = noted.get(index + 1).map_or(now, |next| next.at);
        let is_known = state.at < calm && until > calm;
        let again = evidence.ledger.due_in_calm.get(plan).and_then(|due| due.parse().ok()).filter(|_| is_known);
        let from = [instant(at), again.and_then(instant), Some(state.at), Some(calm)].into_iter().flatten().max();
        if let Some(from) = from.filter(|from| until > *from + FIRES) {
            found.push(format!("its time {at} had come, and nothing happened for {:?}", until - from));
        }
    }
    found
}

/// What was asked for of plans, by name.
struct Asked<'a> {
    /// By the operator.
    by_name: BTreeMap<&'a str, &'a OfPlan>,
    /// By calls of agents that were kept, with how deep they make what fires once.
    by_call: BTreeMap<String, (Value, u64)>,
    /// Plans that calls dropped.
    dropped_by_call: Vec<String>,
    all: &'a [OfPlan],
    retired: &'a BTreeSet<String>,
}

impl<'a> Asked<'a> {
    fn of(evidence: &'a Evidence<'_>) -> Self {
        let (mut by_call, mut dropped_by_call) = (BTreeMap::new(), Vec::new());
        for (place, call) in evidence.kept.calls.iter().filter(|(_, call)| call["status"] == "completed") {
            let input = evidence.kept.begun(place).map(|begun| parsed(&begun["input"])).unwrap_or_default();
            let depth = evidence.kept.runs[&place.0]["chainDepth"].as_u64().unwrap_or(0) + 1;
            if call["name"] == "set_plans" {
                for plan in input["plans"].as_array().into_iter().flatten() {
                    by_call.insert(plan["name"].as_str().unwrap_or_default().to_owned(), (plan.clone(), depth));
                }
            }
            if call["name"] == "delete_plans" {
                dropped_by_call.extend(input["planIds"].as_array().into_iter().flatten().filter_map(|id| id.as_str().map(str::to_owned)));
            }
        }
        let all = evidence.ledger.plans.as_slice();
        let by_name = all.iter().filter_map(|asked| Some((asked.body["name"].as_str()?, asked))).collect();
        Self { by_name, by_call, dropped_by_call, all, retired: &evidence.kept.retired }
    }

    /// What was accepted and was not kept.
    fn lost(&self, plans: &BTreeMap<(String, String), Vec<PlanNoted>>) -> Vec<String> {
        let mut found = Vec::new();
        let states =
            |name: &str| plans.values().flatten().filter(|noted| noted.plan.as_ref().is_some_and(|plan| plan["name"] == name)).count();
        for asked in self.all {
            let Some((status, told)) = &asked.told else { continue };
            let place = asked.plan.as_deref().or(told["id"].as_str()).map(|plan| (asked.agent.to_string(), plan.to_owned()));
            let Some(place) = place else { continue };
            let noted = plans.get(&place).map_or(&[][..], Vec::as_slice);
            let before = || noted.iter().take_while(|noted| noted.at <= asked.told_at);
            let is_kept = match (asked.deed, status) {
                (PlanDeed::Make | PlanDeed::Change, 200 | 201) => {
                    before().any(|noted| noted.plan.as_ref().is_some_and(|plan| plan["name"] == asked.body["name"]))
                }
                (PlanDeed::Drop, 204) => before().last().is_none_or(|last| last.plan.is_none()),
                _ => true,
            };
            if !is_kept {
                found.push(format!("{:?} {} of {} was answered with {status}, and is not so", asked.deed, asked.body, place.1));
            }
        }
        // A name is used once, and a plan may have it in several states.
        found.extend(
            self.by_call.keys().filter(|name| states(name) == 0).map(|name| format!("the plan {name} was set, and never was there")),
        );
        found
    }
}
