//! Promise 10 for budgets and usage: what models use is added up exactly once, every call is paid
//! from its budgets, and no budget is passed.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{fault_rates::FaultRates, oracle::Evidence};

pub(super) fn models_are_paid_for(evidence: &mut Evidence<'_>) {
    let mut found = wrong_usage(evidence);
    if let Some(budget) = evidence.env.parameters.budget {
        let most = evidence.env.storage.most_spent();
        let passed = most.iter().filter(|(_, tokens)| **tokens > budget.tokens);
        found.extend(passed.map(|(counter, tokens)| {
            format!("{counter} reached {tokens} tokens of {}", budget.tokens)
        }));
        found.extend(unpaid_steps(evidence));
        found.extend(unsettled_calls(evidence));
    } else {
        found.extend(refused_without_budget(evidence));
    }
    for text in found {
        evidence.report(10, text);
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or("-").to_owned()
}

/// The space that pays for a run.
pub(super) fn paying_space(run: &Value) -> &Value {
    if run["forkOf"].is_null() { &run["spaceId"] } else { &run["ofSpace"] }
}

/// The tokens of a usage, and whether there are any.
fn tokens(usage: &Value) -> u64 {
    usage["inputTokens"].as_u64().unwrap_or(0) + usage["outputTokens"].as_u64().unwrap_or(0)
}

/// Rows of usage that differ from what runs and routers have used.
fn wrong_usage(evidence: &Evidence<'_>) -> Vec<String> {
    // The tokens and the runs of each agent in each space.
    type Sums = BTreeMap<(String, String), (u64, u64)>;
    let mut expected = Sums::new();
    let mut add = |agent: String, space: String, tokens: u64, runs: u64| {
        let sum = expected.entry((agent, space)).or_default();
        sum.0 += tokens;
        sum.1 += runs;
    };
    let ended = evidence.stored.runs.values().filter(|run| !run["finishedAt"].is_null());
    for run in ended.filter(|run| tokens(&run["usage"]) > 0) {
        add(text(&run["agentId"]), text(paying_space(run)), tokens(&run["usage"]), 1);
    }
    for (space, message) in evidence.stored.all_messages() {
        let used = tokens(&message["router"]["usage"]);
        if used > 0 {
            add(text(&message["sender"]["id"]), space.clone(), used, 0);
        }
    }
    let mut stored = Sums::new();
    for (key, row) in &evidence.stored.usage {
        let mut words = key.split('#').map(str::to_owned);
        let mut word = || words.next().unwrap_or_default();
        let sum = stored.entry((word(), word())).or_default();
        sum.0 += tokens(row);
        sum.1 += row["runs"].as_u64().unwrap_or(0);
    }
    // Summaries use no tokens here.
    stored.retain(|_, sum| *sum != (0, 0));
    let places: std::collections::BTreeSet<_> = expected.keys().chain(stored.keys()).collect();
    places
        .into_iter()
        .filter(|place| expected.get(*place) != stored.get(*place))
        .map(|place| {
            format!(
                "the tokens and runs of {place:?} are {:?}, and {:?} are counted",
                expected.get(place),
                stored.get(place)
            )
        })
        .collect()
}

/// Budgets that have counted less than the answers that were stored.
fn unpaid_steps(evidence: &Evidence<'_>) -> Vec<String> {
    let scope_of =
        |run: &Value| evidence.env.parameters.budget.and_then(|budget| budget.scope.of(run));
    let mut used: BTreeMap<String, u64> = BTreeMap::new();
    for ((run, _), step) in &evidence.stored.steps {
        if let Some(scope) = evidence.stored.runs.get(run).and_then(scope_of) {
            *used.entry(scope).or_default() += tokens(&step["usage"]);
        }
    }
    let mut counted: BTreeMap<String, u64> = BTreeMap::new();
    for (key, counter) in &evidence.stored.budgets {
        let scope = key.split('#').next().unwrap_or_default().to_owned();
        *counted.entry(scope).or_default() += counter["tokens"].as_u64().unwrap_or(0);
    }
    used.into_iter()
        .filter(|(scope, used)| counted.get(scope).is_none_or(|counted| counted < used))
        .map(|(scope, used)| {
            format!("answers used {used} tokens of {scope}, and {:?} are paid", counted.get(&scope))
        })
        .collect()
}

/// Calls that stay reserved, though their run was undisturbed and is over.
fn unsettled_calls(evidence: &Evidence<'_>) -> Vec<String> {
    let calm = evidence.env.calm_since();
    let nothing_fails = evidence.env.parameters.fault_rates == FaultRates::default();
    let is_undisturbed = |id: &str| {
        let created = evidence.env.storage.run_writes(id).created;
        let is_calm = calm.zip(created).is_some_and(|(calm, (created, _))| created >= calm);
        let run = &evidence.stored.runs[id];
        // The worker of a canceled run stops in the middle of a call.
        (run["status"] == "completed" || run["status"] == "failed")
            && run["claims"] == 1
            && (is_calm || nothing_fails)
    };
    let mut found = Vec::new();
    for (key, counter) in &evidence.stored.budgets {
        let names = counter.as_object().into_iter().flatten().map(|(name, _)| name);
        for call in names.filter_map(|name| name.strip_prefix("r_")) {
            let run = evidence.stored.runs.keys().find(|run| call.starts_with(run.as_str()));
            if run.is_some_and(|run| is_undisturbed(run)) {
                found.push(format!("{call} is still reserved on {key}, and its run has ended"));
            }
        }
    }
    found
}

/// Runs and messages that were refused for a budget that nobody has.
fn refused_without_budget(evidence: &Evidence<'_>) -> Vec<String> {
    let messages = evidence.stored.all_messages().filter(|(_, message)| {
        let entries = message["dispatch"].as_array();
        entries.into_iter().flatten().any(|entry| entry["reason"] == "budget")
    });
    messages.map(|(_, message)| format!("{} was refused for a budget", message["id"])).collect()
}
