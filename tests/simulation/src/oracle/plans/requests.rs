//! The requests of the operator and of agents about plans.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    ledger::{PlanAction, PlanRequest},
    oracle::{Evidence, stored::parsed},
    storage::PlanState,
};

/// What the operator and agents asked for.
pub(super) struct Requests<'a> {
    /// Requests of the operator, by the names in their bodies.
    pub(super) by_name: BTreeMap<&'a str, &'a PlanRequest>,
    /// Plans that stored calls set, by their names, with the depth that they give to one-time
    /// plans.
    pub(super) by_call: BTreeMap<String, (Value, u64)>,
    /// Plans that stored calls deleted.
    pub(super) dropped_by_call: Vec<String>,
    pub(super) all: &'a [PlanRequest],
    /// Agents that were retired.
    pub(super) retired: &'a BTreeSet<String>,
}

impl<'a> Requests<'a> {
    pub(super) fn collect(evidence: &'a Evidence<'_>) -> Self {
        let mut by_call = BTreeMap::new();
        let mut dropped_by_call = Vec::new();
        for (place, call) in
            evidence.stored.calls.iter().filter(|(_, call)| call["status"] == "completed")
        {
            let input = evidence
                .stored
                .begun(place)
                .map(|begun| parsed(&begun["input"]))
                .unwrap_or_default();
            let depth = evidence.stored.runs[&place.0]["chainDepth"].as_u64().unwrap_or(0) + 1;
            if call["name"] == "set_plans" {
                for plan in input["plans"].as_array().into_iter().flatten() {
                    by_call.insert(
                        plan["name"].as_str().unwrap_or_default().to_owned(),
                        (plan.clone(), depth),
                    );
                }
            }
            if call["name"] == "delete_plans" {
                dropped_by_call.extend(
                    input["planIds"]
                        .as_array()
                        .into_iter()
                        .flatten()
                        .filter_map(|id| id.as_str().map(str::to_owned)),
                );
            }
        }
        let all = evidence.ledger.plans.as_slice();
        let by_name =
            all.iter().filter_map(|asked| Some((asked.body["name"].as_str()?, asked))).collect();
        Self { by_name, by_call, dropped_by_call, all, retired: &evidence.stored.retired }
    }

    /// Requests that were accepted and have no effect.
    pub(super) fn lost(&self, plans: &BTreeMap<(String, String), Vec<PlanState>>) -> Vec<String> {
        let mut found = Vec::new();
        let states = |name: &str| {
            plans
                .values()
                .flatten()
                .filter(|noted| noted.plan.as_ref().is_some_and(|plan| plan["name"] == name))
                .count()
        };
        for asked in self.all {
            let Some((status, answer)) = &asked.answer else { continue };
            let place = asked
                .plan
                .as_deref()
                .or(answer["id"].as_str())
                .map(|plan| (asked.agent.to_string(), plan.to_owned()));
            let Some(place) = place else { continue };
            let noted = plans.get(&place).map_or(&[][..], Vec::as_slice);
            let before = || noted.iter().take_while(|noted| noted.at <= asked.answered_at);
            let is_stored = match (asked.action, status) {
                (PlanAction::Make | PlanAction::Change, 200 | 201) => before().any(|noted| {
                    noted.plan.as_ref().is_some_and(|plan| plan["name"] == asked.body["name"])
                }),
                (PlanAction::Drop, 204) => before().last().is_none_or(|last| last.plan.is_none()),
                _ => true,
            };
            if !is_stored {
                found.push(format!(
                    "{:?} {} of {} was answered with {status}, but has no effect",
                    asked.action, asked.body, place.1
                ));
            }
        }
        // A name is used once, but a plan may have it in several states.
        found.extend(
            self.by_call
                .keys()
                .filter(|name| states(name) == 0)
                .map(|name| format!("the plan {name} was set, but never existed")),
        );
        found
    }
}
