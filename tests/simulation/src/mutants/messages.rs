//! Mutants of messages, their numbers, keys, depths and senders.

mod responses;

use serde_json::{Value, json};

pub(super) use self::responses::{hide_departures, hide_depth_limit, hide_existing_items};
use crate::chance::Chance;
use crate::mutants::writes::{drop_where, mentions, partition, prune, sort_key};
use crate::mutants::{Mutant, PLACE, RawResponse};

/// Changes a transaction, or answers it instead.
pub(super) fn change(mutant: Mutant, chance: &Chance, parts: &mut [Value]) -> Option<RawResponse> {
    match mutant {
        Mutant::ForgetsKeys => drop_where(parts, |part| partition(part).starts_with("IDEM#")),
        Mutant::ForgetsDepth => forget_depth(parts),
        Mutant::KeepsRosterVersion => keep_roster_version(parts),
        _ if parts.iter().any(|part| sort_key(part).starts_with("MSG#")) => {
            return change_message(mutant, chance, parts);
        }
        _ => {}
    }
    None
}

/// Changes a transaction that stores a message: first the space's head, then the message, then the
/// check of its sender.
fn change_message(mutant: Mutant, chance: &Chance, parts: &mut [Value]) -> Option<RawResponse> {
    match mutant {
        Mutant::AnswersBeforeKeeping if chance.happens(PLACE, 50) => {
            return Some((200, "{}".into()));
        }
        Mutant::LosesRuns => drop_where(parts, |part| {
            !part["Put"].is_null()
                && partition(part).starts_with("RUN#")
                && sort_key(part) == "META"
        }),
        Mutant::SkipsNumbers if chance.happens(PLACE, 100) => skip_number(parts)?,
        Mutant::OverwritesNumbers => {
            parts[0]["Update"]["ConditionExpression"] = json!("attribute_exists(PK)");
            prune(&mut parts[0]["Update"]);
            let message = parts[1]["Put"].as_object_mut()?;
            message.remove("ConditionExpression");
            message.remove("ExpressionAttributeNames");
        }
        Mutant::ForgetsResults => drop_where(parts, |part| sort_key(part).starts_with("CALL#")),
        Mutant::IgnoresMembership => {
            let check = &mut parts[2]["ConditionCheck"];
            check["ConditionExpression"] = json!("attribute_exists(PK)");
            prune(check);
        }
        _ => {}
    }
    None
}

fn skip_number(parts: &mut [Value]) -> Option<()> {
    let values = &mut parts[0]["Update"]["ExpressionAttributeValues"];
    let next = values[":next"]["N"].as_str()?.parse::<u64>().ok()? + 1;
    values[":next"] = json!({"N": next.to_string()});
    let message = &mut parts[1]["Put"]["Item"];
    message["seq"] = json!({"N": next.to_string()});
    message["SK"] = json!({"S": format!("MSG#{next:012}")});
    Some(())
}

fn forget_depth(parts: &mut [Value]) {
    for part in parts {
        if !part["Put"]["Item"]["chainDepth"].is_null() {
            part["Put"]["Item"]["chainDepth"] = json!({"N": "0"});
        }
    }
}

fn keep_roster_version(parts: &mut [Value]) {
    let changes_roster =
        |part: &Value| mentions(&part["Update"]["UpdateExpression"], "SET #roster = :next");
    for part in parts.iter_mut().filter(|part| changes_roster(part)) {
        let values = &mut part["Update"]["ExpressionAttributeValues"];
        values[":next"] = values[":roster"].clone();
    }
}
