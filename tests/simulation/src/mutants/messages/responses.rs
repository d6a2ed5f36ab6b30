//! Changes of the responses of the table.

use serde_json::{Map, Value, json};
use smartspace_domain::{Time, limits::TALK, quota::RateWindow};

/// Hides the items that made the conditions of a transaction fail.
pub(in crate::mutants) fn hide_existing_items(answer: &mut Value) {
    for reason in answer["CancellationReasons"].as_array_mut().into_iter().flatten() {
        if reason["Item"]["SK"]["S"].as_str().is_some_and(|sk| !sk.starts_with("HEAD")) {
            reason["Item"] = Value::Null;
        }
    }
}

/// Sets every depth limit to 4: no space of the simulation allows that depth.
pub(in crate::mutants) fn hide_depth_limit(answer: &mut Value) {
    visit(answer, &mut |object| {
        if object.contains_key("maxChainDepth") {
            object.insert("maxChainDepth".into(), json!({"N": "4"}));
        }
    });
}

/// Makes everyone who left a space look like a member.
pub(in crate::mutants) fn hide_departures(answer: &mut Value) {
    visit(answer, &mut |object| {
        let key = object.get("SK").and_then(|sk| sk["S"].as_str());
        let entity = key.and_then(|sk| sk.strip_prefix("PAST#")).map(str::to_owned);
        if let Some(entity) = entity {
            object.insert("SK".into(), json!({"S": format!("MEMBER#{entity}")}));
        }
    });
}

/// Makes a message that was dispatched look as if it was not yet.
pub(in crate::mutants) fn hide_settling(answer: &mut Value) {
    visit(answer, &mut |object| {
        let key = object.get("SK").and_then(|sk| sk["S"].as_str());
        if key.is_some_and(|sk| sk.starts_with("MSG#")) {
            object.insert("due".into(), json!({"S": "DUE#0"}));
            object.insert("dueAt".into(), json!({"S": "2026-01-01T00:00:00.000Z"}));
        }
    });
}

/// Hides the counts of a minute that is not yet the one of this clock.
pub(in crate::mutants) fn hide_later_minutes(answer: &mut Value, now: Time) {
    let current = RateWindow::number_of(now);
    visit(answer, &mut |object| {
        let number = object.get("minute").and_then(|minute| minute["M"]["number"]["N"].as_str());
        if number.and_then(|number| number.parse().ok()).is_some_and(|number: i64| number > current)
        {
            object.remove("minute");
        }
    });
}

/// Hides the newest message of a talk that an append reads up to the head.
pub(in crate::mutants) fn hide_head(request: &Value, answer: &mut Value) {
    let first = request["ExpressionAttributeValues"][":first"]["S"].as_str().unwrap_or_default();
    let is_talk = request["Limit"] == TALK && request["ScanIndexForward"] == false;
    if is_talk
        && first.starts_with("MSG#")
        && let Some(items) = answer["Items"].as_array_mut()
        && !items.is_empty()
    {
        items.remove(0);
    }
}

fn visit(value: &mut Value, change: &mut impl FnMut(&mut Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            change(object);
            object.values_mut().for_each(|value| visit(value, change));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| visit(value, change)),
        _ => {}
    }
}
