//! What is kept: a table, and a copy of it that index reads see, up to two seconds behind.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Mutex,
    time::Duration,
};

use serde_json::{Value, json};
use smartspace::embedded_table::{EmbeddedTable, NAME};
use tokio::time::Instant;

use crate::locked;

/// The table, and its copy.
pub struct Storage {
    table: EmbeddedTable,
    copy: EmbeddedTable,
    /// Writes that the copy has not seen, with their times.
    behind: Mutex<VecDeque<(Instant, String, Vec<u8>)>>,
    /// When runs ended, by their ids: the moment when the table knew.
    ended: Mutex<BTreeMap<String, Instant>>,
}

impl Storage {
    /// An empty one.
    pub fn new() -> Result<Self, String> {
        let (table, copy) = (EmbeddedTable::in_memory()?, EmbeddedTable::in_memory()?);
        Ok(Self { table, copy, behind: Mutex::default(), ended: Mutex::default() })
    }

    /// Answers a call from the table.
    pub fn answer(&self, operation: &str, body: &[u8]) -> (u16, String) {
        let answer = self.table.answer(operation, body);
        if answer.0 == 200 && !["GetItem", "BatchGetItem", "Query", "Scan"].contains(&operation) {
            match operation {
                "TransactWriteItems" => self.note_ends(body),
                "CreateTable" => return self.copy.answer(operation, body),
                _ => {}
            }
            locked(&self.behind).push_back((Instant::now(), operation.to_owned(), body.to_vec()));
        }
        answer
    }

    /// Answers a read from the copy, which has seen all that is older than `lag`, and what it was asked before.
    pub fn answer_stale(&self, lag: Duration, operation: &str, body: &[u8]) -> (u16, String) {
        let mut behind = locked(&self.behind);
        while let Some((_, operation, body)) = behind.pop_front_if(|(at, _, _)| at.elapsed() >= lag) {
            let _ = self.copy.answer(&operation, &body);
        }
        self.copy.answer(operation, body)
    }

    /// When the table knew that a run had ended.
    pub fn ended(&self, run: &str) -> Option<Instant> {
        locked(&self.ended).get(run).copied()
    }

    fn note_ends(&self, body: &[u8]) {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        for part in body["TransactItems"].as_array().into_iter().flatten() {
            let update = &part["Update"];
            let key = update["Key"]["PK"]["S"].as_str().and_then(|pk| pk.strip_prefix("RUN#"));
            let ends = update["UpdateExpression"].as_str().is_some_and(|text| text.contains("#finishedAt"));
            if let (Some(run), true) = (key, ends) {
                locked(&self.ended).entry(run.to_owned()).or_insert_with(Instant::now);
            }
        }
    }

    /// All items, as plain JSON.
    pub fn items(&self) -> Vec<Value> {
        let mut items = Vec::new();
        let mut from = Value::Null;
        loop {
            let mut request = json!({"TableName": NAME});
            if !from.is_null() {
                request["ExclusiveStartKey"] = from;
            }
            let (_, answer) = self.table.answer("Scan", request.to_string().as_bytes());
            let mut answer: Value = serde_json::from_str(&answer).unwrap_or_default();
            items.extend(answer["Items"].as_array().into_iter().flatten().map(plain_item));
            from = answer["LastEvaluatedKey"].take();
            if from.is_null() {
                return items;
            }
        }
    }
}

/// An item without the types of its attributes.
fn plain_item(item: &Value) -> Value {
    item.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), plain(value))).collect::<serde_json::Map<_, _>>().into()
}

fn plain(value: &Value) -> Value {
    let Some((kind, value)) = value.as_object().and_then(|object| object.iter().next()) else { return Value::Null };
    match kind.as_str() {
        "N" => value.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Value::Null),
        "M" => plain_item(value),
        "L" => value.as_array().into_iter().flatten().map(plain).collect::<Vec<_>>().into(),
        "NULL" => Value::Null,
        _ => value.clone(),
    }
}
