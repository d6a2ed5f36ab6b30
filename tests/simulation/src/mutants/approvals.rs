//! Mutants of calls that people decide.

use serde_json::{Value, json};
use smartspace_embedded_table::NAME;

use crate::{
    conditions::prune,
    mutants::{
        Mutant,
        writes::{mentions, sort_key, written},
    },
    storage::Storage,
};

/// Somebody who is not in the deployment.
const NOBODY: &str = "ent_00000000000000000000000001";

/// Changes a transaction.
pub(super) fn change(mutant: Mutant, storage: &Storage, parts: &mut [Value]) {
    match mutant {
        Mutant::KeepsOldApprovals => {
            for part in parts.iter_mut().filter(|part| sort_key(part).starts_with("CALL#")) {
                keep_approvals(storage, part);
            }
        }
        Mutant::UsesApprovalsTwice => {
            let begins = |part: &&mut Value| {
                sort_key(part).starts_with("CALL#") && written(part)["outside"]["BOOL"] == true
            };
            for part in parts.iter_mut().filter(begins) {
                if mentions(&part["Update"]["ConditionExpression"], "#outside") {
                    part["Update"]["ConditionExpression"] = json!("#status = :pending");
                    prune(&mut part["Update"]);
                }
            }
        }
        _ => {}
    }
}

/// Puts the approvals of an earlier input before those of an edit.
fn keep_approvals(storage: &Storage, part: &mut Value) {
    let key = part["Update"]["Key"].clone();
    let decisions = "/Update/ExpressionAttributeValues/:approval/M/decisions/L";
    let Some(decisions) = part.pointer_mut(decisions).and_then(Value::as_array_mut) else { return };
    if decisions.first().is_none_or(|made| made["M"]["action"]["S"] != "edit") {
        return;
    }
    let request = json!({"TableName": NAME, "Key": key}).to_string();
    let (_, answer) = storage.answer("GetItem", request.as_bytes());
    let stored: Value = serde_json::from_str(&answer).unwrap_or_default();
    let before = stored["Item"]["approval"]["M"]["decisions"]["L"].as_array().cloned();
    decisions.splice(0..0, before.unwrap_or_default());
}

/// Lets nobody recognize those who have approved a call.
pub(super) fn rename_people(answer: &mut Value) {
    let decisions = answer.pointer_mut("/Item/approval/M/decisions/L");
    for made in decisions.and_then(Value::as_array_mut).into_iter().flatten() {
        made["M"]["by"] = json!({"S": NOBODY});
    }
}

/// Hides from a worker that an approved call has begun.
pub(super) fn hide_beginnings(answer: &mut Value) {
    let items = answer.get_mut("Items").and_then(Value::as_array_mut);
    for item in items.into_iter().flatten() {
        if item["approval"]["M"]["state"]["S"] == "approved" && item["status"]["S"] == "pending" {
            item.as_object_mut().and_then(|item| item.remove("outside"));
        }
    }
}

/// Shows a worker calls that wait for people as finished.
pub(super) fn finish_waiting(answer: &mut Value) {
    let items = answer.get_mut("Items").and_then(Value::as_array_mut);
    for item in items.into_iter().flatten() {
        if item["approval"]["M"]["state"]["S"] == "open" && item["status"]["S"] == "pending" {
            item["status"] = json!({"S": "completed"});
        }
    }
}

/// Replaces rules that deny by rules that ask.
pub(super) fn allow_denied(answer: &mut Value) {
    match answer {
        Value::String(text) => {
            *text = text.replace(r#""action":"deny""#, r#""action":"ask""#);
        }
        Value::Array(items) => items.iter_mut().for_each(allow_denied),
        Value::Object(fields) => {
            if fields.get("action") == Some(&json!({"S": "deny"})) {
                fields.insert("action".into(), json!({"S": "ask"}));
            }
            fields.values_mut().for_each(allow_denied);
        }
        _ => {}
    }
}
