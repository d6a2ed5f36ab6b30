//! Mutants of runs: their leases, their ends and their due times.

use serde_json::{Value, json};

use crate::conditions::prune;
use crate::mutants::writes::{
    ends_run, mentions, partition, sort_key, starts, starts_run, without_lease,
};
use crate::mutants::{Mutant, RawResponse};
use crate::storage::Storage;

/// Changes an update that is not part of a transaction.
pub(super) fn change_update(mutant: Mutant, request: &mut Value) {
    let claims = starts(&request["UpdateExpression"]);
    match mutant {
        Mutant::ClaimsAnyway if claims => {
            request["ConditionExpression"] = json!("attribute_exists(PK)");
            prune(request);
        }
        Mutant::IgnoresLeases => without_lease(request),
        Mutant::DropsSkipDuty
            if request["UpdateExpression"] == "SET #due = :due, #dueAt = :at REMOVE #dueCount" =>
        {
            request["UpdateExpression"] = json!("REMOVE #due, #dueAt, #dueCount");
            prune(request);
        }
        Mutant::AbandonsRemoteRuns
            if request["UpdateExpression"]
                == "SET #remote = :remote, #dueAt = :until REMOVE #dueCount" =>
        {
            request["UpdateExpression"] = json!("SET #remote = :remote REMOVE #due, #dueAt");
            request["ExpressionAttributeNames"]["#due"] = json!("due");
            prune(request);
        }
        _ => {}
    }
}

/// Changes a transaction, or answers it instead.
pub(super) fn change(mutant: Mutant, parts: &mut Vec<Value>) -> Option<RawResponse> {
    match mutant {
        Mutant::ForgetsAnswers
            if parts.iter().any(|part| sort_key(part).starts_with("STEP#"))
                && parts.iter().all(|part| part["Delete"].is_null()) =>
        {
            return Some((200, "{}".into()));
        }
        Mutant::IgnoresLeases => {
            for part in parts {
                for kind in ["Update", "ConditionCheck"] {
                    without_lease(&mut part[kind]);
                }
            }
        }
        Mutant::ClaimsAnyway => {
            for part in parts.iter_mut().filter(|part| starts_run(part)) {
                let update = &mut part["Update"];
                update["ConditionExpression"] = json!("attribute_exists(PK)");
                prune(update);
            }
        }
        Mutant::CancelsNothing
            if !parts.iter().any(|part| sort_key(part).starts_with("CALL#"))
                && mentions(&parts[0]["Update"]["ConditionExpression"], ":waiting") =>
        {
            return Some((200, "{}".into()));
        }
        Mutant::ForgetsDuties => forget_duties(parts),
        Mutant::DropsSkipDuty => drop_skip_duty(parts),
        Mutant::ForgetsCuts => forget_cuts(parts),
        Mutant::ForgetsUnsent => forget_unsent(parts),
        Mutant::RetriesAgain => retry_again(parts),
        Mutant::FinishesInParts if ends_run(&parts[0]) => parts.truncate(1),
        _ => {}
    }
    None
}

/// Ends a run that posts to another space than that of its trigger, in the transaction that posts.
pub(super) fn change_posts(mutant: Mutant, storage: &Storage, parts: &mut [Value]) {
    let posts = |part: &&mut Value| {
        part["Update"]["UpdateExpression"] == "SET #activeSpaceId = :space, #kept = #kept + :more"
    };
    if mutant != Mutant::EndsInOtherSpace {
        return;
    }
    for part in parts.iter_mut().filter(posts) {
        let items = storage.items();
        let run = items.iter().find(|run| run["PK"] == partition(part) && run["SK"] == "META");
        let home = run.map_or(&Value::Null, |run| &run["spaceId"]);
        let update = &mut part["Update"];
        if home.is_null() || update["ExpressionAttributeValues"][":space"]["S"] == *home {
            continue;
        }
        update["UpdateExpression"] = json!(
            "SET #activeSpaceId = :space, #kept = #kept + :more, #status = :ended, \
             #endReason = :done, #finishedAt = #startedAt \
             REMOVE #lease, #leaseUntil, #due, #dueAt"
        );
        let names = "status endReason finishedAt startedAt lease leaseUntil due dueAt";
        for name in names.split(' ') {
            update["ExpressionAttributeNames"][format!("#{name}")] = json!(name);
        }
        update["ExpressionAttributeValues"][":ended"] = json!({"S": "completed"});
        update["ExpressionAttributeValues"][":done"] = json!({"S": "done"});
    }
}

fn forget_duties(parts: &mut [Value]) {
    for part in parts.iter_mut().filter(|part| partition(part).starts_with("RUN#")) {
        if let Some(item) = part["Put"]["Item"].as_object_mut() {
            item.remove("due");
            item.remove("dueAt");
        }
    }
}

/// Lets a run that ends in silence be due no more. A run that has asked people stays due.
fn drop_skip_duty(parts: &mut [Value]) {
    for part in parts.iter_mut().filter(|part| ends_run(part)) {
        let update = &mut part["Update"];
        let expression = update["UpdateExpression"].as_str().unwrap_or_default();
        let has_asked_nobody =
            mentions(&update["ConditionExpression"], "attribute_not_exists(#openCalls)");
        if has_asked_nobody && expression.contains(", #due = :due, #dueAt = :now") {
            let without = expression
                .replace(", #due = :due, #dueAt = :now", "")
                .replace("REMOVE #lease", "REMOVE #due, #dueAt, #lease");
            update["UpdateExpression"] = json!(without);
            prune(update);
        }
    }
}

fn forget_cuts(parts: &mut [Value]) {
    for part in parts.iter_mut().filter(|part| sort_key(part).starts_with("STEP#")) {
        if let Some(item) = part["Put"]["Item"].as_object_mut() {
            item.remove("cutResults");
        }
    }
}

/// Lets a run that is handed to its remote agent be due only when the agent's time is up.
fn forget_unsent(parts: &mut [Value]) {
    for part in parts.iter_mut() {
        let values = part.pointer_mut("/Update/ExpressionAttributeValues");
        let Some(values) = values.and_then(Value::as_object_mut) else { continue };
        let until = values.get(":until").cloned();
        let remote = values.get_mut(":remote").and_then(|it| it["M"].as_object_mut());
        if let (Some(remote), Some(until)) = (remote, until) {
            remote.remove("againAt");
            values.insert(":again".into(), until);
        }
    }
}

fn retry_again(parts: &mut [Value]) {
    let is_retry = |part: &&mut Value| !part["Put"]["Item"]["retryOf"].is_null();
    for part in parts.iter_mut().filter(is_retry) {
        if let Some(put) = part["Put"].as_object_mut() {
            put.remove("ConditionExpression");
        }
        prune(&mut part["Put"]);
    }
}
