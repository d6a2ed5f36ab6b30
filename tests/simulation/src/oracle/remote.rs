//! Promises 1, 3, 4 and 5 for remote agents: what an agent posts under one key is one message, no
//! other token and no late answer has an effect, and every webhook is sent under one lease.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    ledger::{RemotePost, RemoteRun},
    oracle::Evidence,
    remote_agents::is_late,
};

pub(super) fn remote_agents_answer_once_and_in_time(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    for (id, planned) in &evidence.ledger.remote {
        let Some(run) = evidence.stored.runs.get(id) else { continue };
        found.extend(planned.wrong.iter().map(|what| (4, format!("{id} got {what}"))));
        if planned.tokens.len() > 1 {
            found.push((4, format!("{id} was handed on under {} leases", planned.tokens.len())));
        }
        for post in &planned.posts {
            found.extend(wrong_post(evidence, id, run, post));
        }
        found.extend(wrong_end(evidence, id, run, planned));
        let calls = evidence.stored.calls.keys().filter(|(of, ..)| of == id).count() as u64;
        if run["stepCount"] != calls {
            found.push((3, format!("{id} has {calls} messages, but counts {}", run["stepCount"])));
        }
    }
    found.extend(unplanned_messages(evidence));
    found.extend(forgotten_webhooks(evidence));
    for (promise, text) in found {
        evidence.report(promise, text);
    }
}

/// What is wrong with the message of a key.
fn wrong_post(
    evidence: &Evidence<'_>,
    id: &str,
    run: &Value,
    post: &RemotePost,
) -> Vec<(u8, String)> {
    let mut found = Vec::new();
    let stored: Vec<_> = evidence
        .stored
        .all_messages()
        .filter(|(_, message)| message["text"] == post.text.as_str())
        .collect();
    if stored.len() > 1 {
        found.push((3, format!("{id} posted {} {} times", post.key, stored.len())));
    }
    let accepted: Vec<_> = post.answers.iter().filter(|answer| answer.status == 201).collect();
    let ids: BTreeSet<_> = accepted.iter().filter_map(|answer| answer.id.as_deref()).collect();
    let is_deleted = stored.is_empty()
        && (run["spaceId"].as_str().into_iter().chain(post.space.as_deref()))
            .any(|space| evidence.stored.is_deleted(space));
    if ids.len() > 1 {
        found.push((1, format!("{id} got the ids {ids:?} for {}", post.key)));
    }
    if let Some(message) = ids.first()
        && !is_deleted
        && !stored.iter().any(|(_, stored)| stored["id"] == *message && stored["runId"] == id)
    {
        found.push((1, format!("{id} posted {message}, which is not stored")));
    }
    let until = &run["remote"]["until"];
    if let Some(first) = accepted.iter().map(|answer| answer.sent).min()
        && post.answers.iter().all(|answer| answer.status == 201)
        && is_late(evidence.env, first, until)
        && post.sends == accepted.len()
    {
        found.push((4, format!("{id} posted {} at {first}, after {until}", post.key)));
    }
    found
}

/// The run ended otherwise than the answers to its agent said.
fn wrong_end(
    evidence: &Evidence<'_>,
    id: &str,
    run: &Value,
    planned: &RemoteRun,
) -> Vec<(u8, String)> {
    let mut found = Vec::new();
    let expected = if planned.is_failed { "failed" } else { "completed" };
    let taken: Vec<_> = planned.ends.iter().filter(|end| end.status == 200).collect();
    if !taken.is_empty() && run["status"] != expected {
        found.push((4, format!("{id} was completed as {expected}, but is {}", run["status"])));
    }
    if taken.is_empty() && planned.ends_sent == 0 && run["status"] == "completed" {
        found.push((4, format!("{id} is completed, and nobody completed it")));
    }
    let until = &run["remote"]["until"];
    if planned.ends_sent == taken.len()
        && taken.iter().map(|end| end.sent).min().is_some_and(|at| is_late(evidence.env, at, until))
    {
        found.push((4, format!("{id} was completed after {until}")));
    }
    found
}

/// Messages of remote runs that no agent posted.
fn unplanned_messages(evidence: &Evidence<'_>) -> Vec<(u8, String)> {
    let planned: BTreeSet<&str> = evidence
        .ledger
        .remote
        .values()
        .flat_map(|run| run.posts.iter().map(|post| post.text.as_str()))
        .collect();
    let is_remote = |message: &Value| {
        let run = message["runId"].as_str().and_then(|run| evidence.stored.runs.get(run));
        run.is_some_and(|run| !run["remote"].is_null())
    };
    let messages = evidence.stored.all_messages().filter(|(_, message)| is_remote(message));
    messages
        .filter(|(_, message)| !planned.contains(message["text"].as_str().unwrap_or_default()))
        .map(|(_, message)| (4, format!("nobody posted {}", message["text"])))
        .collect()
}

/// Runs whose worker died before it sent the webhook, and for which nobody sent it again.
fn forgotten_webhooks(evidence: &Evidence<'_>) -> Vec<(u8, String)> {
    let remote = evidence.stored.runs.iter().filter(|(_, run)| !run["remote"].is_null());
    remote
        .filter(|(id, run)| {
            run["status"] == "failed"
                && run["attempt"] == 1
                && !evidence.ledger.remote.contains_key(*id)
                && !evidence.ledger.refused_webhooks.contains(*id)
        })
        .map(|(id, _)| (5, format!("{id} failed, and its agent never heard of it")))
        .collect()
}
