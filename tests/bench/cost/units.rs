//! The capacity units of a call of the table, by the rules of DynamoDB: computed from the request,
//! and from the items before and after it.
//!
//! - A write unit is 1 KB of the larger image of the item. Transactions double it for the item, but
//!   not for its indexes. A check in a transaction costs as much as a write.
//! - An index costs its entry if the entry is added, removed or changed, and both entries if it
//!   moves.
//! - A read unit is 4 KB. A read that is not consistent costs half.
//!
//! The embedded table counts by the same rules, which its authors measured on DynamoDB. The result
//! of each call is compared with that count.

use serde_json::{Value, json};
use smartspace::embedded_table::{EmbeddedTable, NAME};
use smartspace_store::table::indexes::{Index, KeyNames};

/// Write and read units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Units {
    pub(crate) write: f64,
    pub(crate) read: f64,
}

impl std::ops::AddAssign for Units {
    fn add_assign(&mut self, other: Self) {
        self.write += other.write;
        self.read += other.read;
    }
}

/// One item of a call: its kind, and its units.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    pub(crate) what: String,
    pub(crate) units: Units,
}

/// An item that a call writes, before the call.
pub(crate) struct Before {
    verb: &'static str,
    key: Value,
    item: Option<Value>,
}

/// The items that a call will write.
pub(crate) fn before(table: &EmbeddedTable, operation: &str, request: &Value) -> Vec<Before> {
    let of = |verb: &'static str, part: &Value| {
        let key = if part["Key"].is_null() { &part["Item"] } else { &part["Key"] };
        let key = json!({"PK": key["PK"], "SK": key["SK"]});
        Before { verb, item: item_at(table, &key), key }
    };
    match operation {
        "PutItem" => vec![of("put", request)],
        "UpdateItem" => vec![of("update", request)],
        "DeleteItem" => vec![of("delete", request)],
        "TransactWriteItems" => {
            let parts = request["TransactItems"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|part| part.as_object()?.iter().next());
            parts
                .map(|(verb, part)| match verb.as_str() {
                    "Put" => of("put", part),
                    "Update" => of("update", part),
                    "Delete" => of("delete", part),
                    _ => of("check", part),
                })
                .collect()
        }
        _ => Vec::new(),
    }
}

/// The units of a write by item, after the call.
pub(crate) fn written(table: &EmbeddedTable, operation: &str, before: &[Before]) -> Vec<Part> {
    let factor = if operation == "TransactWriteItems" { 2.0 } else { 1.0 };
    let part = |Before { verb, key, item: old }: &Before| {
        let new = item_at(table, key);
        let larger = [old, &new].into_iter().flatten().map(size).max().unwrap_or(0);
        let indexes = Index::ALL
            .iter()
            .map(|index| {
                let KeyNames { pk, sk } = index.keys;
                moved(entry(old.as_ref(), pk, sk), entry(new.as_ref(), pk, sk))
            })
            .sum::<f64>();
        let write = factor * kilobytes(larger, 1) + indexes;
        Part { what: format!("{verb} {}", name_of(key)), units: Units { write, read: 0.0 } }
    };
    before.iter().map(part).collect()
}

/// The units of a read.
pub(crate) fn read(operation: &str, request: &Value, answer: &Value) -> Vec<Part> {
    let part = |what: String, read: f64| Part { what, units: Units { write: 0.0, read } };
    match operation {
        "GetItem" => {
            let share = if request["ConsistentRead"] == true { 1.0 } else { 0.5 };
            vec![part(name_of(&request["Key"]), share * kilobytes(size(&answer["Item"]), 4))]
        }
        "BatchGetItem" => {
            let requested = &request["RequestItems"][NAME];
            let share = if requested["ConsistentRead"] == true { 1.0 } else { 0.5 };
            let found = answer["Responses"][NAME].as_array().map_or(&[][..], Vec::as_slice);
            let item = |key: &Value| {
                found.iter().find(|item| item["PK"] == key["PK"] && item["SK"] == key["SK"])
            };
            let keys = requested["Keys"].as_array().into_iter().flatten();
            keys.map(|key| part(name_of(key), share * kilobytes(item(key).map_or(0, size), 4)))
                .collect()
        }
        "Query" => {
            let share = if request["ConsistentRead"] == true { 1.0 } else { 0.5 };
            let bytes = answer["Items"].as_array().into_iter().flatten().map(size).sum();
            let kind_of = |name: &str| {
                request["ExpressionAttributeValues"][name]["S"]
                    .as_str()
                    .map(kind)
                    .unwrap_or_default()
            };
            let index = request["IndexName"].as_str().unwrap_or_default();
            vec![part(
                format!("{index} {}/{}…{}", kind_of(":pk"), kind_of(":first"), kind_of(":last"))
                    .trim()
                    .to_owned(),
                share * kilobytes(bytes, 4),
            )]
        }
        _ => Vec::new(),
    }
}

/// The units that the embedded table reports, or `None` if it reports none, as for a failed call.
pub(crate) fn reported(answer: &Value) -> Option<f64> {
    match &answer["ConsumedCapacity"] {
        Value::Array(tables) => {
            Some(tables.iter().filter_map(|table| table["CapacityUnits"].as_f64()).sum())
        }
        table => table["CapacityUnits"].as_f64(),
    }
}

fn item_at(table: &EmbeddedTable, key: &Value) -> Option<Value> {
    let (_, answer) = table.answer(
        "GetItem",
        json!({"TableName": NAME, "Key": key, "ConsistentRead": true}).to_string().as_bytes(),
    );
    let item = serde_json::from_str::<Value>(&answer).ok()?["Item"].take();
    item.is_object().then_some(item)
}

fn kilobytes(bytes: usize, each: usize) -> f64 {
    bytes.div_ceil(each * 1024).max(1) as f64
}

/// An item's entry in an index: its key, and its size in bytes. Indexes project only keys.
fn entry(item: Option<&Value>, pk: &str, sk: &str) -> Option<(String, usize)> {
    let item = item?;
    let index_pk = item[pk]["S"].as_str()?;
    let index_sk = item[sk]["S"].as_str()?;
    let bytes = ["PK", "SK", pk, sk].iter().map(|name| name.len() + value_size(&item[name])).sum();
    Some((format!("{index_pk} {index_sk}"), bytes))
}

fn moved(old: Option<(String, usize)>, new: Option<(String, usize)>) -> f64 {
    match (old, new) {
        (None, None) => 0.0,
        (None, Some((_, bytes))) | (Some((_, bytes)), None) => kilobytes(bytes, 1),
        (Some((old, _)), Some((new, _))) if old == new => 0.0,
        (Some((_, old)), Some((_, new))) => kilobytes(old, 1) + kilobytes(new, 1),
    }
}

/// The size of an item in bytes: its names and values.
fn size(item: &Value) -> usize {
    item.as_object().into_iter().flatten().map(|(name, value)| name.len() + value_size(value)).sum()
}

fn value_size(value: &Value) -> usize {
    let Some((kind, value)) = value.as_object().and_then(|value| value.iter().next()) else {
        return 0;
    };
    let text = value.as_str().unwrap_or_default();
    match kind.as_str() {
        "S" => text.len(),
        "N" => {
            text.trim_matches(['-', '0', '.']).len().div_ceil(2)
                + 1
                + usize::from(text.starts_with('-'))
        }
        "B" => text.trim_end_matches('=').len() * 3 / 4,
        "L" => {
            3 + value
                .as_array()
                .into_iter()
                .flatten()
                .map(|value| 1 + value_size(value))
                .sum::<usize>()
        }
        "M" => {
            3 + value
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, value)| 1 + name.len() + value_size(value))
                .sum::<usize>()
        }
        _ => 1,
    }
}

/// The kind of an item: its key without ids.
fn name_of(key: &Value) -> String {
    let part = |name: &str| key[name]["S"].as_str().unwrap_or_default();
    let sk = part("SK");
    let sk = sk.strip_prefix("CTX#").unwrap_or(sk);
    format!("{}/{}", kind(part("PK")), kind(sk))
}

fn kind(text: &str) -> &str {
    text.split('#').next().unwrap_or_default()
}
