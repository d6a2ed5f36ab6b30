//! Mutants of applies.

use serde_json::{Value, json};

use crate::{
    conditions::prune,
    mutants::{
        Mutant,
        writes::{drop_where, mentions, partition, sort_key},
    },
};

/// Changes a transaction.
pub(super) fn change(mutant: Mutant, parts: &mut [Value]) {
    let is_object =
        |part: &Value| partition(part).starts_with("PROJECT#") && sort_key(part) != "META";
    if !parts.iter().any(is_object) {
        return;
    }
    match mutant {
        Mutant::ForgetsApplied => {
            drop_where(parts, |part| is_object(part) && part["Update"].is_object());
        }
        Mutant::OverwritesChanges => {
            // The next revision of an agent is new, too.
            for part in parts.iter_mut().filter(|part| !is_object(part)) {
                let is_revision = sort_key(part).starts_with("REV#");
                for verb in ["Update", "Put"] {
                    let Some(write) = part.get_mut(verb) else { continue };
                    if is_revision || mentions(&write["ConditionExpression"], "#rev = ") {
                        write["ConditionExpression"] = json!("attribute_not_exists(nothing)");
                        prune(write);
                    }
                }
            }
        }
        _ => {}
    }
}

/// Changes the lock of a project when it is taken.
pub(super) fn change_update(mutant: Mutant, request: &mut Value) {
    let key = &request["Key"]["PK"]["S"];
    let is_project = key.as_str().is_some_and(|pk| pk.starts_with("PROJECT#"));
    let until = request.pointer_mut("/ExpressionAttributeValues/:new_until");
    if let (Mutant::KeepsLocks, true, Some(until)) = (mutant, is_project, until) {
        *until = json!({"S": "9999-01-01T00:00:00Z"});
    }
}
