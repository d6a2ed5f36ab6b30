//! The writes of a call of the table, with the keys of their items.

use serde_json::Value;

/// The writes of a call, each with its verb.
pub(super) fn writes<'a>(
    operation: &str,
    request: &'a mut Value,
) -> Vec<(&'static str, &'a mut Value)> {
    match operation {
        "PutItem" => vec![("put", request)],
        "UpdateItem" => vec![("update", request)],
        "DeleteItem" => vec![("delete", request)],
        "TransactWriteItems" => {
            let parts = request["TransactItems"].as_array_mut().into_iter().flatten();
            parts.filter_map(|part| part.as_object_mut()).filter_map(write_of).collect()
        }
        _ => Vec::new(),
    }
}

/// The write of a transaction's part.
fn write_of(part: &mut serde_json::Map<String, Value>) -> Option<(&'static str, &mut Value)> {
    let (kind, write) = part.iter_mut().find(|(_, write)| write.is_object())?;
    let verb = match kind.as_str() {
        "Put" => "put",
        "Update" => "update",
        "Delete" => "delete",
        _ => "check",
    };
    Some((verb, write))
}

/// The keys of all items that a call writes.
pub fn items(operation: &str, request: &mut Value) -> Vec<String> {
    writes(operation, request).into_iter().map(|(_, write)| item_key(write)).collect()
}

pub(super) fn key_of(write: &Value) -> &Value {
    if write["Item"].is_null() { &write["Key"] } else { &write["Item"] }
}

fn item_key(write: &Value) -> String {
    let text = |name: &str| key_of(write)[name]["S"].as_str().unwrap_or_default();
    format!("{}/{}", text("PK"), text("SK"))
}

/// The kind of a write's item: its key without ids and numbers.
pub(super) fn kind_of(write: &Value) -> String {
    let text = |name: &str| key_of(write)[name]["S"].as_str().unwrap_or_default();
    let first = |text: &str| match text.split_once('#') {
        Some((kind, _)) => format!("{kind}#"),
        None => text.to_owned(),
    };
    let sk = text("SK");
    let sk =
        sk.strip_prefix("CTX#").map_or_else(|| first(sk), |rest| format!("CTX#{}", first(rest)));
    format!("{}/{sk}", first(text("PK")))
}

/// Removes names and values that no expression uses: DynamoDB refuses them.
pub fn prune(write: &mut Value) {
    let text = |name: &str| write[name].as_str().unwrap_or_default().to_owned();
    let used = format!("{} {} ", text("UpdateExpression"), text("ConditionExpression"));
    let uses = |name: &str| {
        used.match_indices(name).any(|(at, _)| {
            !used[at + name.len()..].starts_with(|char: char| char.is_ascii_alphanumeric())
        })
    };
    for list in ["ExpressionAttributeNames", "ExpressionAttributeValues"] {
        let Some(object) = write[list].as_object_mut() else { continue };
        object.retain(|name, _| uses(name));
        if object.is_empty()
            && let Some(write) = write.as_object_mut()
        {
            write.remove(list);
        }
    }
}
