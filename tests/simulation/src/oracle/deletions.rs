//! Promise 5 for spaces that are deleted: nothing is left of them at the end. Also, no job may fail
//! again and again when nothing else fails.

use serde_json::Value;

use crate::{
    env::Env,
    ledger::Ledger,
    oracle::{Evidence, Stored, changes},
};

/// The items of the table, and those of deleted spaces as they were before they were deleted.
pub(super) fn with_deleted_spaces(env: &Env, ledger: &Ledger) -> Stored {
    let mut items = env.storage.items();
    changes::restore_runs(env, &mut items);
    let mut deleted = ledger.deleted.clone();
    deleted.retain(|space| {
        let removed = env.storage.removed(&space.to_string());
        !removed.is_empty() && {
            items.extend(removed.into_iter().map(as_deleted));
            true
        }
    });
    let deleted = deleted.iter().map(ToString::to_string).collect();
    Stored { deleted, ..Stored::from_items(&items) }
}

/// An item of a deleted space: nothing is due, and its members have left.
fn as_deleted(mut item: Value) -> Value {
    if let Some(fields) = item.as_object_mut() {
        fields.remove("dueAt");
        if fields.get("SK").and_then(Value::as_str).is_some_and(|sk| sk.starts_with("MEMBER#")) {
            fields.insert("left".into(), true.into());
        }
    }
    item
}

pub(super) fn nothing_is_left_of_a_deleted_space(evidence: &mut Evidence<'_>) {
    let mut found = Vec::new();
    for space in &evidence.ledger.deleted {
        let id = space.to_string();
        if !evidence.stored.is_deleted(&id) {
            found.push(format!("{id} was to be deleted, and is not"));
        }
        for item in evidence.env.storage.items() {
            let pk = item["PK"].as_str().unwrap_or_default();
            let sk = item["SK"].as_str().unwrap_or_default();
            // Subscriptions go with their connections.
            let is_part = pk == format!("SPACE#{id}") && !sk.starts_with("CONN#");
            let is_block = pk == format!("FIND#{id}");
            if is_part || is_block || (pk.starts_with("ENTITY#") && sk.ends_with(&id)) {
                found.push(format!("{pk}/{sk} is left of the deleted space {id}"));
            }
        }
    }
    if evidence.died_in_calm > 0 {
        found.push(format!("{} jobs failed again and again in the calm", evidence.died_in_calm));
    }
    for text in found {
        evidence.report(5, text);
    }
}
