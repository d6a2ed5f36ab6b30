//! One item of each kind and shape that the product writes, for the golden items.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Mutex,
};

use serde_json::Value;

use crate::locked;

/// The first item of each kind and shape.
#[derive(Debug, Default)]
pub(super) struct Samples(Mutex<BTreeMap<(String, BTreeSet<String>), Value>>);

impl Samples {
    /// Looks at an item that was written.
    pub(super) fn written(&self, item: &Value) {
        locked(&self.0).entry((kind(item), shape(item))).or_insert_with(|| item.clone());
    }

    pub(super) fn items(&self) -> Vec<Value> {
        locked(&self.0).values().cloned().collect()
    }
}

/// The kind of an item, by the pattern of its keys: `space-msg` for `SPACE#s` and `MSG#n`.
pub fn kind(item: &Value) -> String {
    let name = |key: &str| item[key]["S"].as_str().unwrap_or_default().to_owned();
    let pk = name("PK");
    let sk = name("SK");
    let partition = pk.split('#').next().unwrap_or_default();
    // Its sort keys have no prefix.
    if partition == "USAGE" {
        return partition.to_lowercase();
    }
    // The sort key is the id of a message.
    if partition == "MENTIONS" {
        return "mentions-msg".to_owned();
    }
    let of_agent = if pk.starts_with("RATE#ent_") { "-agent" } else { "" };
    let words = if sk.starts_with("CTX#") { 2 } else { 1 };
    let sort: Vec<_> = sk.split('#').take(words).collect();
    format!("{partition}{of_agent}-{}", sort.join("-")).to_lowercase()
}

/// The paths of an item's attributes, with their types. Names that are not fixed are `*`.
pub fn shape(item: &Value) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    for (name, value) in item.as_object().into_iter().flatten() {
        // An attribute may be named for an entity, and those of the indexes have digits.
        let is_named = name.len() < 20 && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        add(if is_named { name } else { "*" }, value, &mut paths);
    }
    paths
}

fn add(path: &str, value: &Value, paths: &mut BTreeSet<String>) {
    let Some((kind, value)) = value.as_object().and_then(|typed| typed.iter().next()) else {
        return;
    };
    paths.insert(format!("{path}: {kind}"));
    for (name, value) in value.as_object().into_iter().flatten() {
        let is_field = name.len() < 20 && name.bytes().all(|byte| byte.is_ascii_alphabetic());
        let is_free = path.rsplit('.').next().is_some_and(|last| ["by", "marks"].contains(&last));
        let name = if is_field && !is_free { name } else { "*" };
        add(&format!("{path}.{name}"), value, paths);
    }
    for value in value.as_array().into_iter().flatten() {
        add(&format!("{path}[]"), value, paths);
    }
}
