//! Mutants of plans, and of deliveries from services.

use serde_json::Value;

use crate::chance::Chance;
use crate::mutants::writes::{drop_where, mentions, partition, sort_key};
use crate::mutants::{Mutant, PLACE};

/// In how many of a thousand firings the process dies between the two writes.
const DIES_BETWEEN: u64 = 300;

/// Changes a transaction.
pub(super) fn change(mutant: Mutant, chance: &Chance, parts: &mut [Value]) {
    match mutant {
        Mutant::FiresInParts if fires(&parts[0]) && chance.happens(PLACE, DIES_BETWEEN) => {
            drop_where(parts, fires);
        }
        Mutant::FiresAnyway if fires(&parts[0]) => {
            if let Some(delete) = parts[0].get_mut("Delete").and_then(Value::as_object_mut) {
                delete.retain(|name, _| name != "ConditionExpression" && !name.starts_with("Expr"));
            }
            if let Some(update) = parts[0].get_mut("Update") {
                update["ConditionExpression"] = "attribute_exists(PK)".into();
                if let Some(values) = update["ExpressionAttributeValues"].as_object_mut() {
                    values.retain(|name, _| name.starts_with(":new_"));
                }
            }
        }
        Mutant::ForgetsDeliveries => drop_where(parts, |part| partition(part).starts_with("HOOK#")),
        Mutant::ForgetsTimes => {
            for part in parts.iter_mut().filter(|part| is_plan(part)) {
                if let Some(item) = part.pointer_mut("/Put/Item").and_then(Value::as_object_mut) {
                    item.retain(|name, _| name != "due" && name != "dueAt");
                }
                forget_time(&mut part["Update"]);
            }
        }
        _ => {}
    }
}

/// Lets a change of a plan remove its due time instead of setting it.
fn forget_time(update: &mut Value) {
    let changes = |expression: &&str| expression.contains("REMOVE #dueCount");
    let Some(expression) = update["UpdateExpression"].as_str().filter(changes) else { return };
    let (set, removed) = expression.split_once("REMOVE ").unwrap_or((expression, ""));
    let kept: Vec<_> = set
        .trim()
        .trim_start_matches("SET ")
        .split(", ")
        .filter(|part| !part.starts_with("#due = ") && !part.starts_with("#dueAt = "))
        .collect();
    let removed: Vec<_> = removed
        .split(", ")
        .filter(|name| !["#due", "#dueAt"].contains(name))
        .chain(["#due", "#dueAt"])
        .collect();
    let expression = format!("SET {} REMOVE {}", kept.join(", "), removed.join(", "));
    update["UpdateExpression"] = expression.into();
    for name in ["due", "dueAt"] {
        update["ExpressionAttributeNames"][format!("#{name}")] = name.into();
        if let Some(values) = update["ExpressionAttributeValues"].as_object_mut() {
            values.remove(&format!(":new_{name}"));
        }
    }
}

/// Whether the process dies after this write, before the second one.
pub(super) fn dies(mutant: Mutant, request: &Value) -> bool {
    let first = &request["TransactItems"][0];
    mutant == Mutant::FiresInParts
        && is_plan(first)
        && mentions(&first["ConditionCheck"]["ConditionExpression"], "nothing")
}

fn is_plan(part: &Value) -> bool {
    sort_key(part).starts_with("CTX#PLAN#")
}

/// Whether a write moves a plan from the time for which it fires to its next time.
fn fires(part: &Value) -> bool {
    is_plan(part)
        && ["Update", "Delete"]
            .iter()
            .any(|kind| mentions(&part[*kind]["ConditionExpression"], "#nextRunAt = :at"))
}
