//! The items of spaces that were deleted. The oracle judges a deleted space by them, as if its
//! history had ended with the deletion.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use smartspace_embedded_table::{EmbeddedTable, NAME};

use crate::storage::{Storage, plain_item};

/// The partition and sort key of an item, and the item.
type Images = Vec<((String, String), Value)>;

/// Deleted items of spaces, by their keys.
#[derive(Default)]
pub(super) struct Removed(BTreeMap<(String, String), Value>);

impl Removed {
    /// The items of spaces that a call is about to delete.
    pub(super) fn by(table: &EmbeddedTable, operation: &str, body: &[u8]) -> Images {
        let may_delete = match operation {
            "DeleteItem" => true,
            "TransactWriteItems" => contains(body, br#""Delete":"#),
            _ => false,
        };
        if !may_delete || !contains(body, b"SPACE#") {
            return Vec::new();
        }
        let request: Value = serde_json::from_slice(body).unwrap_or_default();
        let parts = request["TransactItems"].as_array().map(Vec::as_slice).unwrap_or_default();
        // A member that leaves or joins again moves within its space.
        if parts.iter().any(puts_member) {
            return Vec::new();
        }
        let deleted = parts.iter().map(|part| &part["Delete"]["Key"]).chain([&request["Key"]]);
        deleted.filter_map(|key| image(table, key)).collect()
    }

    pub(super) fn add(&mut self, images: Images) {
        self.0.extend(images);
    }

    pub(super) fn of(&self, space: &str) -> Vec<Value> {
        let partition = format!("SPACE#{space}");
        self.0
            .iter()
            .filter(|((pk, _), _)| *pk == partition)
            .map(|(_, item)| item.clone())
            .collect()
    }
}

impl Storage {
    /// Deletes the items that have expired at this time, in seconds since 1970.
    pub(crate) fn delete_expired(&self, at: i64) {
        let items = self.items();
        let expired =
            items.iter().filter(|item| item["expiresAt"].as_i64().is_some_and(|end| end < at));
        for item in expired {
            let key = json!({"PK": {"S": item["PK"]}, "SK": {"S": item["SK"]}});
            let request = json!({"TableName": NAME, "Key": key});
            self.answer("DeleteItem", request.to_string().as_bytes());
        }
    }
}

fn image(table: &EmbeddedTable, key: &Value) -> Option<((String, String), Value)> {
    let place = (key["PK"]["S"].as_str()?.to_owned(), key["SK"]["S"].as_str()?.to_owned());
    // Subscriptions come and go all the time.
    if !place.0.starts_with("SPACE#") || place.1.starts_with("CONN#") {
        return None;
    }
    let request = json!({"TableName": NAME, "Key": key, "ConsistentRead": true});
    let (_, answer) = table.answer("GetItem", request.to_string().as_bytes());
    let answer: Value = serde_json::from_str(&answer).ok()?;
    answer["Item"].is_object().then(|| (place, plain_item(&answer["Item"])))
}

fn puts_member(part: &Value) -> bool {
    let key = part["Put"]["Item"]["SK"]["S"].as_str().or(part["Update"]["Key"]["SK"]["S"].as_str());
    key.is_some_and(|sk| ["MEMBER#", "PAST#"].iter().any(|start| sk.starts_with(start)))
}

fn contains(body: &[u8], text: &[u8]) -> bool {
    body.windows(text.len()).any(|window| window == text)
}
