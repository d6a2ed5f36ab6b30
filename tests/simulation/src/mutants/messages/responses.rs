//! Changes of the responses of the table.

use serde_json::{Map, Value, json};

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
        if key.is_some_and(|sk| sk.starts_with("MEMBER#")) {
            object.remove("left");
        }
    });
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
