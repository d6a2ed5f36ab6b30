//! A later version of the product on the same table: every item gets fields that this version does
//! not know, as soon as it is created. They must be there as long as the item is.

use std::{
    collections::{BTreeSet, HashSet},
    sync::Mutex,
};

use serde_json::{Map, Value, json};
use smartspace_embedded_table::NAME;
use tokio::time::Instant;

use crate::{
    locked,
    storage::{Storage, samples::Samples},
};

/// The name of every unknown field.
const LATER: &str = "laterField";

/// The beginnings of keys whose items are replaced as a whole: counters, keys of requests, tickets
/// and connections, none of which lasts longer than a day, and copies of parts of other items. A
/// version that does not know an attribute of a copy could not keep it equal to the original. A
/// former member is written anew each time that it leaves. The note of a delivery and the prompt of
/// a remote agent's run are written again if the first answer was lost. Slots and lanes are read,
/// changed and written as a whole. So are the changes of a space, and texts and decisions of
/// messages that are edited or deleted.
const REPLACED: [&str; 14] = [
    "RATE#", "IDEM#", "CONN#", "TICKET#", "GATE", "CARD", "PAST#", "DLV#", "PROMPT", "SLOTS",
    "RUNLANE#", "CHANGES", "TEXT#", "WOKEN#",
];

/// The items that have unknown fields, and those that have lost some.
#[derive(Debug, Default)]
pub(super) struct Later {
    marked: Mutex<HashSet<(String, String)>>,
    losses: Mutex<BTreeSet<String>>,
}

impl Later {
    pub(super) fn losses(&self) -> BTreeSet<String> {
        locked(&self.losses).clone()
    }

    /// Notes a deleted item.
    pub(super) fn deleted(&self, key: &Value) {
        locked(&self.marked).remove(&names(key));
    }

    /// Looks at an item after a write. Returns the item with unknown fields if it is new.
    pub(super) fn written(&self, mut item: Value) -> Option<Value> {
        let key = names(&item);
        if REPLACED.iter().any(|start| key.0.starts_with(start) || key.1.starts_with(start)) {
            return None;
        }
        if locked(&self.marked).insert(key.clone()) {
            mark(&mut item);
            return Some(item);
        }
        for lost in lost(&item) {
            let text = format!("{} {} lost an unknown field {lost}", key.0, key.1);
            locked(&self.losses).insert(text);
        }
        None
    }
}

impl Storage {
    /// What items have lost of the fields that this version does not know.
    pub fn losses(&self) -> BTreeSet<String> {
        self.later.as_ref().map(Later::losses).unwrap_or_default()
    }

    /// One item of each kind and shape.
    pub fn samples(&self) -> Vec<Value> {
        self.samples.as_ref().map(Samples::items).unwrap_or_default()
    }

    /// Looks at the items of a write for the later version and the samples.
    pub(super) fn look_at_written(&self, operation: &str, body: &[u8]) {
        if self.later.is_none() && self.samples.is_none() {
            return;
        }
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let parts = match operation {
            "TransactWriteItems" => body["TransactItems"].as_array().cloned().unwrap_or_default(),
            _ => vec![json!({operation.trim_end_matches("Item"): body})],
        };
        for part in &parts {
            if let (Some(later), Some(key)) = (&self.later, part.pointer("/Delete/Key")) {
                later.deleted(key);
            }
            let key = part.pointer("/Put/Item").or_else(|| part.pointer("/Update/Key"));
            let item = key.map(|key| self.item(key)).filter(|item| !item.is_null());
            let Some(item) = item else { continue };
            if let Some(samples) = &self.samples {
                samples.written(&item);
            }
            if let Some(item) = self.later.as_ref().and_then(|later| later.written(item)) {
                let put = json!({"TableName": NAME, "Item": item}).to_string().into_bytes();
                let _ = self.table.answer("PutItem", &put);
                locked(&self.pending).push_back((Instant::now(), "PutItem".into(), put));
            }
        }
    }
}

fn names(item: &Value) -> (String, String) {
    let name = |key: &str| item[key]["S"].as_str().unwrap_or_default().to_owned();
    (name("PK"), name("SK"))
}

/// The objects below the item that this version writes again as a whole.
const NESTED: [&str; 2] = ["/settings/M", "/settings/M/budget/M"];

/// The objects of an agent's configuration.
const OF_CONFIG: [&str; 4] = ["", "/model", "/loop", "/budget"];

fn mark(item: &mut Value) {
    let text = json!({"M": {"text": {"S": "of a later version"}}});
    item[LATER] = text.clone();
    for place in NESTED {
        if let Some(object) = item.pointer_mut(place) {
            object[LATER] = text.clone();
        }
    }
    if let Some(mut config) = config(item) {
        for place in OF_CONFIG {
            if let Some(Value::Object(object)) = config.pointer_mut(place) {
                object.insert(LATER.into(), json!({"text": "of a later version"}));
            }
        }
        item["agent"]["S"] = config.to_string().into();
    }
}

fn lost(item: &Value) -> Vec<&'static str> {
    let has = |object: Option<&Value>| object.is_none_or(|object| !object[LATER].is_null());
    let mut lost = Vec::new();
    if !has(Some(item)) {
        lost.push("of the item");
    }
    lost.extend(NESTED.iter().copied().filter(|place| !has(item.pointer(place))));
    if let Some(config) = config(item) {
        lost.extend(OF_CONFIG.iter().copied().filter(|place| !has(config.pointer(place))));
    }
    lost
}

fn config(item: &Value) -> Option<Value> {
    serde_json::from_str::<Map<String, Value>>(item["agent"]["S"].as_str()?).ok().map(Value::Object)
}
