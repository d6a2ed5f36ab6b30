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

mod sizes;

use serde_json::{Value, json};
use smartspace_embedded_table::{EmbeddedTable, NAME};
use smartspace_store::table::indexes::{Index, KeyNames};

use self::sizes::{kilobytes, size, value_size};

/// Write and read units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Units {
    /// Write units.
    pub write: f64,
    /// Read units.
    pub read: f64,
}

impl std::ops::AddAssign for Units {
    fn add_assign(&mut self, other: Self) {
        self.write += other.write;
        self.read += other.read;
    }
}

/// One item of a call: its kind, and its units in each partition that it touches.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The kind of the item.
    pub what: String,
    /// The partition key in the table, or the index and its partition key, with the units.
    pub partitions: Vec<(String, Units)>,
}

impl Part {
    /// The units in all partitions.
    pub fn units(&self) -> Units {
        let mut all = Units::default();
        for (_, units) in &self.partitions {
            all += *units;
        }
        all
    }
}

/// An item that a call writes, before the call.
pub struct Before {
    verb: &'static str,
    key: Value,
    item: Option<Value>,
    /// The item of a put, as the call has it.
    new: Option<Value>,
}

impl Before {
    /// The partitions that the write is known to touch before it takes effect.
    pub fn partitions(&self) -> Vec<String> {
        let own = [text(&self.key["PK"]).to_owned()];
        let images = [self.item.as_ref(), self.new.as_ref()];
        let entries = images.into_iter().flatten().flat_map(|image| {
            Index::ALL.iter().filter_map(|index| {
                Some(partition_of(index, &entry(Some(image), index.keys)?.partition))
            })
        });
        own.into_iter().chain(entries).collect()
    }
}

/// The items that a call will write.
pub fn before(table: &EmbeddedTable, operation: &str, request: &Value) -> Vec<Before> {
    let of = |verb: &'static str, part: &Value| {
        let key = if part["Key"].is_null() { &part["Item"] } else { &part["Key"] };
        let key = json!({"PK": key["PK"], "SK": key["SK"]});
        let new = part["Item"].is_object().then(|| part["Item"].clone());
        Before { verb, item: item_at(table, &key), key, new }
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
pub fn written(table: &EmbeddedTable, operation: &str, before: &[Before]) -> Vec<Part> {
    let factor = if operation == "TransactWriteItems" { 2.0 } else { 1.0 };
    let part = |Before { verb, key, item: old, .. }: &Before| {
        let new = item_at(table, key);
        let larger = [old, &new].into_iter().flatten().map(size).max().unwrap_or(0);
        let write = |write: f64| Units { write, read: 0.0 };
        let mut partitions =
            vec![(text(&key["PK"]).to_owned(), write(factor * kilobytes(larger, 1)))];
        for index in &Index::ALL {
            let moved = moved(entry(old.as_ref(), index.keys), entry(new.as_ref(), index.keys));
            partitions.extend(
                moved
                    .into_iter()
                    .map(|(partition, units)| (partition_of(index, &partition), write(units))),
            );
        }
        Part { what: format!("{verb} {}", name_of(key)), partitions }
    };
    before.iter().map(part).collect()
}

/// The units of a read.
pub fn read(operation: &str, request: &Value, answer: &Value) -> Vec<Part> {
    let part = |what: String, partition: &str, read: f64| Part {
        what,
        partitions: vec![(partition.to_owned(), Units { write: 0.0, read })],
    };
    match operation {
        "GetItem" => {
            let share = if request["ConsistentRead"] == true { 1.0 } else { 0.5 };
            let key = &request["Key"];
            vec![part(name_of(key), text(&key["PK"]), share * kilobytes(size(&answer["Item"]), 4))]
        }
        "BatchGetItem" => {
            let requested = &request["RequestItems"][NAME];
            let share = if requested["ConsistentRead"] == true { 1.0 } else { 0.5 };
            let found = answer["Responses"][NAME].as_array().map_or(&[][..], Vec::as_slice);
            let item = |key: &Value| {
                found.iter().find(|item| item["PK"] == key["PK"] && item["SK"] == key["SK"])
            };
            let keys = requested["Keys"].as_array().into_iter().flatten();
            keys.map(|key| {
                let units = share * kilobytes(item(key).map_or(0, size), 4);
                part(name_of(key), text(&key["PK"]), units)
            })
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
                &queried(request),
                share * kilobytes(bytes, 4),
            )]
        }
        _ => Vec::new(),
    }
}

/// The partition that a query reads.
pub fn queried(request: &Value) -> String {
    let partition = text(&request["ExpressionAttributeValues"][":pk"]);
    match request["IndexName"].as_str() {
        Some(index) => format!("{index} {partition}"),
        None => partition.to_owned(),
    }
}

/// The units that the embedded table reports, or `None` if it reports none, as for a failed call.
pub fn reported(answer: &Value) -> Option<f64> {
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

/// An item's entry in an index.
struct Entry {
    partition: String,
    sort_key: String,
    bytes: usize,
}

/// An item's entry in an index, if it has one. Indexes project only keys.
fn entry(item: Option<&Value>, KeyNames { pk, sk }: KeyNames) -> Option<Entry> {
    let item = item?;
    let partition = item[pk]["S"].as_str()?.to_owned();
    let sort_key = item[sk]["S"].as_str()?.to_owned();
    let bytes = ["PK", "SK", pk, sk].iter().map(|name| name.len() + value_size(&item[name])).sum();
    Some(Entry { partition, sort_key, bytes })
}

/// The partitions of an index that a change of an entry writes to, with the units.
fn moved(old: Option<Entry>, new: Option<Entry>) -> Vec<(String, f64)> {
    let is_same = old.as_ref().zip(new.as_ref()).is_some_and(|(old, new)| {
        (&old.partition, &old.sort_key) == (&new.partition, &new.sort_key)
    });
    let written = [old, new].into_iter().flatten().filter(|_| !is_same);
    written.map(|entry| (entry.partition, kilobytes(entry.bytes, 1))).collect()
}

fn partition_of(index: &Index, partition: &str) -> String {
    format!("{} {partition}", index.name)
}

fn text(value: &Value) -> &str {
    value["S"].as_str().unwrap_or_default()
}

/// The kind of an item: its key without ids.
fn name_of(key: &Value) -> String {
    let sk = text(&key["SK"]);
    let sk = sk.strip_prefix("CTX#").unwrap_or(sk);
    format!("{}/{}", kind(text(&key["PK"])), kind(sk))
}

fn kind(text: &str) -> &str {
    text.split('#').next().unwrap_or_default()
}
