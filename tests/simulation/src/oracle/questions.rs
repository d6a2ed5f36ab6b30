//! Promise 13: a question that agents were asked is not left to silence while one of them can work.
//! It has an answer of an agent, a message of another person, or one ended run with the source
//! `unanswered`.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::oracle::{Evidence, Stored};

/// Why an agent could not be triggered. For any other reason nobody wanted to wake it.
const UNABLE: [&str; 6] = ["paused", "chain_stopped", "chain_depth", "rate", "budget", "busy"];

pub(super) fn questions_are_answered(evidence: &mut Evidence<'_>) {
    let stored = &evidence.stored;
    let mut found = answered_twice(stored);
    let parameters = &evidence.env.parameters;
    let is_for_named = ["mention", "admin"].contains(&parameters.policy);
    // Budgets and rates may keep every agent from working. A newer message replaces a run.
    let may_be_unable = parameters.budget.is_some()
        || parameters.space_runs.is_some()
        || parameters.mode == "latest";
    for (space, message) in stored.all_messages() {
        if is_for_named || may_be_unable || stored.is_deleted(space) || !is_question(message) {
            continue;
        }
        if !is_answered(evidence, space, message) {
            found.push(format!("{} was left to silence: {}", message["id"], message["dispatch"]));
        }
    }
    for text in found {
        evidence.report(13, text);
    }
}

/// Runs for questions that have another such run, or that nobody asked.
fn answered_twice(stored: &Stored) -> Vec<String> {
    let mut once = BTreeSet::new();
    let is_last = |run: &Value| run["source"] == "unanswered" && run["retryOf"].is_null();
    let runs = stored.runs.iter().filter(|(_, run)| is_last(run));
    let asked: BTreeSet<_> = stored
        .all_messages()
        .filter(|(_, message)| is_question(message))
        .filter_map(|(_, message)| message["id"].as_str())
        .collect();
    let wrong = runs.filter(|(_, run)| {
        let id = run["messageId"].as_str().unwrap_or_default();
        !once.insert(id) || !asked.contains(id)
    });
    wrong.map(|(id, run)| format!("{id} answers {} for no reason", run["messageId"])).collect()
}

/// Whether people asked a message of everybody.
fn is_question(message: &Value) -> bool {
    let text = message["text"].as_str().unwrap_or_default();
    message["runId"].is_null() && text.contains('?') && !text.contains('@')
}

fn is_answered(evidence: &Evidence<'_>, space: &str, message: &Value) -> bool {
    let stored = &evidence.stored;
    let asker = message["sender"]["id"].as_str().unwrap_or_default();
    let is_member = |entity: &str| {
        let member = stored.members.get(&(space.to_owned(), entity.to_owned()));
        member.is_some_and(|member| member["left"] != true)
    };
    // Edits and deletions may have made a question, or taken it or its answer away.
    let seq = message["seq"].as_u64().unwrap_or(0);
    if stored.messages[space].range(seq..).any(|(seq, _)| stored.is_changed(space, *seq)) {
        return true;
    }
    let mut later = stored.messages[space].range(seq + 1..);
    // Of several questions in a row the newest one is answered.
    let counts = |(_, other): (&u64, &Value)| other["sender"]["id"] != asker || is_question(other);
    if !is_member(asker) || later.any(counts) {
        return true;
    }
    let Some(runs) = runs_of(stored, message) else {
        let entries = message["dispatch"].as_array().into_iter().flatten();
        let reasons: Vec<_> = entries.filter_map(|entry| entry["reason"].as_str()).collect();
        return reasons.iter().all(|reason| UNABLE.contains(reason));
    };
    let is_last = |run: &Value| run["source"] == "unanswered" && run["messageId"] == message["id"];
    let can_work = |run: &&Value| {
        let agent = run["agentId"].as_str().unwrap_or_default();
        let was_paused = evidence.ledger.paused.iter().any(|paused| paused.to_string() == agent);
        is_member(agent) && !stored.retired.contains(agent) && !was_paused
    };
    runs.iter().any(|run| run["endReason"] != "skipped")
        || stored.runs.values().any(|run| is_last(run) && !run["finishedAt"].is_null())
        || !runs.iter().any(can_work)
}

/// The runs that a message triggered, or that it joined. `None` if it triggered none.
fn runs_of<'a>(stored: &'a Stored, message: &Value) -> Option<Vec<&'a Value>> {
    let entries = message["dispatch"].as_array().into_iter().flatten();
    let ids = entries.filter_map(|entry| entry["runId"].as_str());
    let runs: Vec<_> = ids
        .filter_map(|id| {
            let run = stored.runs.get(id)?;
            run["intoRunId"].as_str().map_or(Some(run), |into| stored.runs.get(into))
        })
        .collect();
    (!runs.is_empty()).then_some(runs)
}
