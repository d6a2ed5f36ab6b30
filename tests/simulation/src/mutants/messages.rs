//! Mutants of messages, their numbers, keys, depths and senders.

mod responses;

use serde_json::{Value, json};

pub(super) use self::responses::{
    hide_departures, hide_depth_limit, hide_existing_items, hide_head, hide_later_minutes,
    hide_settling,
};
use crate::chance::Chance;
use crate::conditions::prune;
use crate::mutants::writes::{drop_where, mentions, partition, sort_key};
use crate::mutants::{Mutant, PLACE, RawResponse};
use crate::storage::Storage;

/// Changes a transaction, or answers it instead.
pub(super) fn change(mutant: Mutant, chance: &Chance, parts: &mut [Value]) -> Option<RawResponse> {
    match mutant {
        Mutant::ForgetsKeys => drop_where(parts, |part| partition(part).starts_with("IDEM#")),
        Mutant::ForgetsDepth => forget_depth(parts),
        Mutant::KeepsRosterVersion => keep_roster_version(parts),
        Mutant::ResetsMinutes => allow_other_minutes(parts),
        _ if parts.iter().any(|part| sort_key(part).starts_with("MSG#")) => {
            return change_message(mutant, chance, parts);
        }
        _ => {}
    }
    None
}

/// Drops the conditions on the runs of a space's minute.
fn allow_other_minutes(parts: &mut [Value]) {
    let heads = parts.iter_mut().filter(|part| sort_key(part) == "HEAD");
    for update in heads.filter_map(|part| part.get_mut("Update")) {
        let condition = update["ConditionExpression"].as_str().unwrap_or_default();
        let kept: Vec<_> =
            condition.split(" AND ").filter(|clause| !clause.contains("#minute")).collect();
        update["ConditionExpression"] = json!(kept.join(" AND "));
        prune(update);
    }
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
        Mutant::LosesLastAnswers => {
            drop_where(parts, |part| sort_key(part).starts_with("STEP#"));
        }
        Mutant::SkipsNumbers if chance.happens(PLACE, 100) => skip_number(parts)?,
        Mutant::OverwritesNumbers => {
            parts[0]["Update"]["ConditionExpression"] = json!("attribute_exists(PK)");
            prune(&mut parts[0]["Update"]);
            let message = parts[1]["Put"].as_object_mut()?;
            message.remove("ConditionExpression");
            message.remove("ExpressionAttributeNames");
        }
        Mutant::ForgetsSeconds => without_part(&mut parts[0], ", #second = :second")?,
        Mutant::KeepsOldPlaces => {
            without_part(&mut parts[0], ", #g2pk = :list, #g2sk = :place")?;
        }
        Mutant::CountsNoCards => without_part(&mut parts[0], ", #cards = :cards")?,
        Mutant::ForgetsResults => drop_where(parts, |part| sort_key(part).starts_with("CALL#")),
        Mutant::IgnoresMembership if sort_key(&parts[2]).starts_with("MEMBER#") => {
            let sender = &parts[2];
            let kind = if sender["Update"].is_null() { "ConditionCheck" } else { "Update" };
            let (table, key) = (&sender[kind]["TableName"], &sender[kind]["Key"]);
            let check = json!({
                "TableName": table,
                "Key": key,
                "ConditionExpression": "attribute_not_exists(nothing)",
            });
            parts[2] = json!({ "ConditionCheck": check });
        }
        Mutant::LeavesUnread if sort_key(&parts[2]).starts_with("MEMBER#") => {
            let mut sender = parts[2]["Update"].take();
            if let Some(check) = sender.as_object_mut() {
                check.remove("UpdateExpression");
                check.remove("ReturnValues");
                prune(&mut sender);
                parts[2] = json!({ "ConditionCheck": sender });
            }
        }
        _ => {}
    }
    None
}

/// Leaves a part of the update of `HEAD` out.
fn without_part(part: &mut Value, text: &str) -> Option<()> {
    let head = &mut part["Update"];
    let without = head["UpdateExpression"].as_str()?.replace(text, "");
    head["UpdateExpression"] = json!(without);
    prune(head);
    Some(())
}

/// Reads the item of a former member instead of the missing item of a member.
pub(super) fn find_departed(storage: &Storage, operation: &str, request: &mut Value) {
    let redirect = |key: &mut Value, table: &Value| {
        let Some(entity) = key["SK"]["S"].as_str().and_then(|sk| sk.strip_prefix("MEMBER#")) else {
            return;
        };
        let past = json!({"PK": key["PK"], "SK": {"S": format!("PAST#{entity}")}});
        let stored = |key: &Value| {
            let get = json!({"TableName": table, "Key": key, "ConsistentRead": true});
            storage.answer("GetItem", get.to_string().as_bytes()).1.contains("\"Item\"")
        };
        if !stored(key) && stored(&past) {
            *key = past;
        }
    };
    if operation == "GetItem" {
        let table = request["TableName"].clone();
        return redirect(&mut request["Key"], &table);
    }
    for (table, wanted) in request["RequestItems"].as_object_mut().into_iter().flatten() {
        let Some(keys) = wanted["Keys"].as_array_mut() else { continue };
        let is_past =
            |key: &Value| key["SK"]["S"].as_str().is_some_and(|sk| sk.starts_with("PAST#"));
        // A request for both items gets both.
        if !keys.iter().any(is_past) {
            let table = json!(table);
            for key in keys {
                redirect(key, &table);
            }
        }
    }
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
