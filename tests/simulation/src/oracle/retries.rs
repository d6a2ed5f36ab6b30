//! Promise 1 for retries: a run is repeated once, only if somebody asked for it, and only if it
//! failed or was canceled.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::oracle::Evidence;

/// What a retry has in common with the run that it repeats.
const SAME: [&str; 8] =
    ["agentId", "spaceId", "seq", "messageId", "source", "planId", "scheduledAt", "deliveryId"];

pub(super) fn a_run_is_repeated_once(evidence: &mut Evidence<'_>) {
    let stored = &evidence.stored;
    let mut found = Vec::new();
    let mut retries: BTreeMap<&str, &str> = BTreeMap::new();
    for (id, run) in &stored.runs {
        let Some(of) = run["retryOf"].as_str() else { continue };
        if let Some(other) = retries.insert(of, id) {
            found.push(format!("{of} was repeated by {other} and by {id}"));
        }
        let creations = evidence.env.storage.run_writes(id).creations;
        if creations > 1 {
            found.push(format!("{id}, which repeats {of}, was made {creations} times"));
        }
        if !evidence.ledger.retried.iter().any(|asked| asked.of == of) {
            found.push(format!("nobody asked for {id}, which repeats {of}"));
        }
        match stored.runs.get(of) {
            None => found.push(format!("{id} repeats {of}, which is not stored")),
            Some(first) => {
                found.extend(
                    wrong_retry(first, run).map(|what| format!("{id} repeats {of}, {what}")),
                );
            }
        }
    }
    for asked in &evidence.ledger.retried {
        for (status, answer) in asked.answers.iter().flatten() {
            let made = retries.get(asked.of.as_str());
            if *status == 202 && answer["id"].as_str() != made.copied() {
                found.push(format!(
                    "{} was repeated by {made:?}, but the answer was {answer}",
                    asked.of
                ));
            }
        }
    }
    for text in found {
        evidence.report(1, text);
    }
}

fn wrong_retry(first: &Value, retry: &Value) -> Option<String> {
    let was_canceled = first["endReason"] == "cancel" || first["endReason"] == "stop_run";
    if first["status"] != "failed" && !was_canceled {
        return Some(format!("which is {} {}", first["status"], first["endReason"]));
    }
    // Messages that join a retry change its trigger.
    let has_joined = retry["joined"] != first["joined"];
    let differs = |name: &&&str| first[**name] != retry[**name];
    let different = SAME.iter().filter(|_| !has_joined).find(differs)?;
    Some(format!("with another {different}"))
}
