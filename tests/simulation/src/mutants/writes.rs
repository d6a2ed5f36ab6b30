//! Reads and edits the writes of a transaction, as DynamoDB takes them.

use serde_json::{Value, json};

use crate::conditions::prune;

/// The item, or the key of the item, that a write is about.
fn place(part: &Value) -> &Value {
    let body = part
        .as_object()
        .and_then(|part| part.values().find(|body| !body.is_null()))
        .unwrap_or(&Value::Null);
    if body["Item"].is_null() { &body["Key"] } else { &body["Item"] }
}

pub(super) fn partition(part: &Value) -> &str {
    place(part)["PK"]["S"].as_str().unwrap_or_default()
}

pub(super) fn sort_key(part: &Value) -> &str {
    place(part)["SK"]["S"].as_str().unwrap_or_default()
}

pub(super) fn mentions(expression: &Value, text: &str) -> bool {
    expression.as_str().is_some_and(|expression| expression.contains(text))
}

pub(super) fn ends_run(part: &Value) -> bool {
    sort_key(part) == "META" && mentions(&part["Update"]["UpdateExpression"], "#finishedAt = :now")
}

/// Whether an update starts a run for a worker.
pub(super) fn starts(expression: &Value) -> bool {
    mentions(expression, "if_not_exists(#startedAt")
}

pub(super) fn starts_run(part: &Value) -> bool {
    starts(&part["Update"]["UpdateExpression"])
}

/// Replaces the matching writes by a condition that always holds, so that the others keep their
/// positions.
pub(super) fn drop_where(parts: &mut [Value], which: impl Fn(&Value) -> bool) {
    for part in parts.iter_mut().filter(|part| which(part)) {
        let key = json!({"PK": place(part)["PK"], "SK": place(part)["SK"]});
        let table = part
            .as_object()
            .and_then(|part| part.values().next())
            .map(|body| body["TableName"].clone());
        *part = json!({"ConditionCheck": {
            "TableName": table, "Key": key,
            "ConditionExpression": "attribute_not_exists(nothing)",
        }});
    }
}

/// Removes the check of the lease from a write.
pub(super) fn without_lease(write: &mut Value) {
    if mentions(&write["ConditionExpression"], "#lease = :mine") {
        write["ConditionExpression"] = json!("attribute_exists(PK)");
        prune(write);
    }
}

/// The item that a write stores, as far as the write names its attributes.
pub(super) fn written(part: &Value) -> Value {
    let mut item = part["Put"]["Item"].clone();
    if let Some(values) = part["Update"]["ExpressionAttributeValues"].as_object() {
        item = part["Update"]["Key"].clone();
        for (name, value) in values {
            if let Some(name) = name.strip_prefix(":new_") {
                item[name] = value.clone();
            }
        }
    }
    item
}
