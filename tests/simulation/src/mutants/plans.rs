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
            for kind in ["Put", "Delete"] {
                let Some(write) = parts[0].get_mut(kind).and_then(Value::as_object_mut) else {
                    continue;
                };
                write.retain(|name, _| {
                    ![
                        "ConditionExpression",
                        "ExpressionAttributeNames",
                        "ExpressionAttributeValues",
                    ]
                    .contains(&name.as_str())
                });
            }
        }
        Mutant::ForgetsDeliveries => drop_where(parts, |part| partition(part).starts_with("HOOK#")),
        Mutant::ForgetsTimes => {
            for part in parts.iter_mut().filter(|part| is_plan(part)) {
                let Some(item) = part.pointer_mut("/Put/Item").and_then(Value::as_object_mut)
                else {
                    continue;
                };
                item.retain(|name, _| name != "due" && name != "dueAt");
            }
        }
        _ => {}
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
        && ["Put", "Delete"]
            .iter()
            .any(|kind| mentions(&part[*kind]["ConditionExpression"], "#nextRunAt = :at"))
}
