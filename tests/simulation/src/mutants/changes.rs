//! Mutants of edits, deletions, reactions and replies, and of what a deletion leaves elsewhere.

use std::time::Duration;

use serde_json::{Value, json};
use smartspace_domain::Time;

use crate::{
    chance::Chance,
    mutants::{
        Mutant, PLACE, RawResponse,
        writes::{drop_where, mentions, partition, sort_key},
    },
    storage::Storage,
};

/// The bytes of a selector, with which an emoji has another form.
const SELECTOR: &str = "efb88f";

/// Changes a transaction.
pub(super) fn change(mutant: Mutant, chance: &Chance, storage: &Storage, parts: &mut [Value]) {
    match mutant {
        Mutant::LosesThreadItems => drop_where(parts, |part| {
            !part["Put"].is_null() && sort_key(part).starts_with("THREAD#")
        }),
        Mutant::KeepsSummaryClaim if parts.iter().any(deletes) => {
            drop_where(parts, |part| sort_key(part) == "SUMMARY");
        }
        Mutant::KeepsSharedParts => drop_where(parts, |part| rewrites_part(storage, part)),
        Mutant::ReactsTwice => {
            let reacts = |part: &&mut Value| sort_key(part).starts_with("REACT#");
            for part in parts.iter_mut().filter(reacts) {
                if chance.happens(PLACE, 500) {
                    use_other_form(&mut part["Update"]);
                }
            }
        }
        Mutant::ForgetsUses => drop_where(parts, takes_use),
        _ => {}
    }
}

/// Answers a write that is not part of a transaction instead of the table.
pub(super) fn answer(mutant: Mutant, storage: &Storage, request: &Value) -> Option<RawResponse> {
    let part = if request["Item"].is_null() {
        json!({"Update": request})
    } else {
        json!({"Put": request})
    };
    let drops = match mutant {
        Mutant::KeepsSharedParts => rewrites_part(storage, &part),
        Mutant::ForgetsUses => takes_use(&part),
        _ => false,
    };
    drops.then(|| (200, "{}".into()))
}

/// Whether a write makes a message a tombstone.
fn deletes(part: &Value) -> bool {
    sort_key(part).starts_with("MSG#")
        && mentions(&part["Update"]["UpdateExpression"], "#deleted = ")
}

/// Whether a write changes a part of prompts that is stored already.
fn rewrites_part(storage: &Storage, part: &Value) -> bool {
    partition(part).starts_with("PART#") && storage.has(partition(part), sort_key(part))
}

/// Whether a write takes a message from those that name a file.
fn takes_use(part: &Value) -> bool {
    let update = &part["Update"];
    partition(part).starts_with("FILES#")
        && sort_key(part).starts_with("FILE#")
        && mentions(&update["UpdateExpression"], "#unnamed = ")
}

/// Stores a reaction under another form of its emoji.
fn use_other_form(update: &mut Value) {
    let names = update["ExpressionAttributeNames"].as_object_mut();
    for name in names.into_iter().flatten().filter_map(|(_, name)| match name {
        Value::String(name) if name.starts_with("r_") => Some(name),
        _ => None,
    }) {
        if let Some((emoji, entity)) = name.rsplit_once("_ent_") {
            *name = format!("{emoji}{SELECTOR}_ent_{entity}");
        }
    }
}

/// Hides the number of changes from readers, but not from those that change messages.
pub(super) fn hide_changes(request: &Value, answer: &mut Value) {
    if reads_for_change(request) {
        return;
    }
    for item in items_of(answer).filter(|item| item["SK"]["S"] == "HEAD") {
        if let Some(fields) = item.as_object_mut() {
            fields.remove("changed");
        }
    }
}

/// Lets an edit find a tombstone as if it was not deleted.
pub(super) fn hide_deletions(request: &Value, answer: &mut Value) {
    if !reads_for_change(request) {
        return;
    }
    for item in items_of(answer) {
        let is_message = item["SK"]["S"].as_str().is_some_and(|sk| sk.starts_with("MSG#"));
        if let Some(fields) = item.as_object_mut().filter(|_| is_message) {
            fields.remove("deleted");
        }
    }
}

/// Whether a batch is the read of an edit or a deletion.
fn reads_for_change(request: &Value) -> bool {
    let tables = request["RequestItems"].as_object().into_iter().flatten();
    let mut keys = tables.filter_map(|(_, wanted)| wanted["Keys"].as_array()).flatten();
    keys.any(|key| key["SK"]["S"].as_str().is_some_and(|sk| sk.starts_with("MSG#")))
        && request.to_string().contains(r#""S":"CHANGES""#)
}

/// The items of the answer to a read.
fn items_of(answer: &mut Value) -> impl Iterator<Item = &mut Value> {
    let mut found = Vec::new();
    if let Some(fields) = answer.as_object_mut() {
        for (name, value) in fields {
            match (name.as_str(), value) {
                ("Item", item) => found.push(item),
                ("Items", Value::Array(items)) => found.extend(items),
                ("Responses", Value::Object(tables)) => {
                    let lists = tables.values_mut().filter_map(Value::as_array_mut);
                    found.extend(lists.flatten());
                }
                _ => {}
            }
        }
    }
    found.into_iter()
}

/// Shows runs at work as if they had ended.
pub(super) fn end_readers(answer: &mut Value) {
    for item in items_of(answer) {
        let status = item["status"]["S"].as_str().unwrap_or_default();
        if item["SK"]["S"] == "META" && ["running", "waiting"].contains(&status) {
            if let Some(fields) = item.as_object_mut() {
                fields.remove("due");
            }
            item["status"] = json!({"S": "completed"});
            let created = item["createdAt"]["S"].as_str().and_then(|at| at.parse::<Time>().ok());
            let finished = created.unwrap_or_default() - Duration::from_mins(1);
            item["finishedAt"] = json!({"S": finished});
        }
    }
}

/// Hides former members.
pub(super) fn hide_former(answer: &mut Value) {
    let is_former = |item: &Value| {
        let sk = item["SK"]["S"].as_str().unwrap_or_default();
        sk.starts_with("PAST#") || item["left"]["BOOL"] == true
    };
    if let Some(items) = answer["Items"].as_array_mut() {
        items.retain(|item| !is_former(item));
    }
}
