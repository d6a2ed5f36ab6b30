//! Mistakes about plans, and about what services send.

use serde_json::Value;

use super::{Planted, drop_where, mentions, partition, sort_key};
use crate::world::World;

/// In how many of a thousand firings a process dies between the two writes that they are then.
const DIES_BETWEEN: u64 = 300;

/// Changes a transaction.
pub(super) fn change(planted: Planted, world: &World, parts: &mut [Value]) {
    match planted {
        Planted::FiresInParts if fires(&parts[0]) && world.chance.happens("planted", DIES_BETWEEN) => drop_where(parts, fires),
        Planted::FiresAnyway if fires(&parts[0]) => {
            for kind in ["Put", "Delete"] {
                let Some(write) = parts[0].get_mut(kind).and_then(Value::as_object_mut) else { continue };
                write.retain(|name, _| {
                    !["ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues"].contains(&name.as_str())
                });
            }
        }
        Planted::ForgetsDeliveries => drop_where(parts, |part| partition(part).starts_with("HOOK#")),
        Planted::ForgetsTimes => {
            for part in parts.iter_mut().filter(|part| is_plan(part)) {
                let Some(item) = part.pointer_mut("/Put/Item").and_then(Value::as_object_mut) else { continue };
                item.retain(|name, _| name != "due" && name != "dueAt");
            }
        }
        _ => {}
    }
}

/// Whether a process dies behind this write, before the one that belongs to it.
pub(super) fn dies(planted: Planted, request: &Value) -> bool {
    let first = &request["TransactItems"][0];
    planted == Planted::FiresInParts && is_plan(first) && mentions(&first["ConditionCheck"]["ConditionExpression"], "nothing")
}

fn is_plan(part: &Value) -> bool {
    sort_key(part).starts_with("CTX#PLAN#")
}

/// Whether it moves a plan on from the time for which that fires.
fn fires(part: &Value) -> bool {
    is_plan(part) && ["Put", "Delete"].iter().any(|kind| mentions(&part[*kind]["ConditionExpression"], "#nextRunAt = :at"))
}
