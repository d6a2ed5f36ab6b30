//! Promises 1, 5 and 10 for files: a message has the files that it was sent with, what a message
//! names stays, nothing is left of a deleted space, and what members keep unsent is counted.

use std::collections::BTreeMap;

use serde_json::Value;
use smartspace_ports::files::FileKey;

use crate::oracle::Evidence;

/// A file, as the table has it.
struct StoredFile<'a> {
    space: &'a str,
    id: &'a str,
    item: &'a Value,
}

pub(super) fn files_are_those_of_their_messages(evidence: &mut Evidence<'_>) {
    let items = evidence.env.storage.items();
    let objects = evidence.env.files.keys();
    let files: Vec<_> = items.iter().filter_map(file).collect();
    let mut found = wrong_messages(evidence, &files, &objects);
    found.extend(wrong_counts(&items, &files));
    found.extend(left_overs(evidence, &files, &objects));
    for (promise, text) in found {
        evidence.report(promise, text);
    }
}

fn file(item: &Value) -> Option<StoredFile<'_>> {
    let space = item["PK"].as_str()?.strip_prefix("FILES#")?;
    let id = item["SK"].as_str()?.strip_prefix("FILE#")?;
    Some(StoredFile { space, id, item })
}

/// Messages whose files are not those that they were sent with, or are not there.
fn wrong_messages(
    evidence: &Evidence<'_>,
    files: &[StoredFile<'_>],
    objects: &[FileKey],
) -> Vec<(u8, String)> {
    let mut found = Vec::new();
    for (space, message) in evidence.stored.all_messages() {
        let text = message["text"].as_str().unwrap_or_default();
        let named: Vec<&str> = message["files"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|file| file["attachmentId"].as_str())
            .collect();
        let sent = evidence.ledger.sent_files.iter().find(|sent| sent.text == text);
        if sent.is_some_and(|sent| sent.files != named) {
            found.push((1, format!("the message {text:?} has the files {named:?}")));
        }
        if evidence.stored.is_deleted(space) {
            continue;
        }
        for id in named {
            let file = files.iter().find(|file| file.id == id && file.space == space);
            let is_sent = file.is_some_and(|file| {
                file.item["sent"] == true
                    && file.item["status"] == "ready"
                    && file.item["dropped"].is_null()
                    && file.item["dueAt"].is_null()
            });
            if !is_sent {
                found.push((1, format!("{text:?} names {id}, which is not stored as sent")));
            }
            if !objects.iter().any(|key| key.file.to_string() == id) {
                found.push((1, format!("{text:?} names {id}, which the storage has not")));
            }
        }
    }
    found
}

/// Counters of unsent files that are not the sum of these.
fn wrong_counts(items: &[Value], files: &[StoredFile<'_>]) -> Vec<(u8, String)> {
    let mut unsent: BTreeMap<(String, String), u64> = BTreeMap::new();
    for file in files.iter().filter(|it| it.item["sent"].is_null()) {
        if file.item["status"] != "refused" {
            let of = file.item["createdBy"].as_str().unwrap_or("OPERATOR");
            let bytes = file.item["bytes"].as_u64().unwrap_or_default();
            *unsent.entry((file.space.to_owned(), of.to_owned())).or_default() += bytes;
        }
    }
    let mut found = Vec::new();
    for item in items {
        let of = || {
            Some((
                item["PK"].as_str()?.strip_prefix("FILES#")?,
                item["SK"].as_str()?.strip_prefix("UNSENT#")?,
            ))
        };
        let Some((space, who)) = of() else { continue };
        let expected = unsent.get(&(space.to_owned(), who.to_owned())).copied().unwrap_or(0);
        if item["bytes"] != expected {
            let counted = &item["bytes"];
            found.push((10, format!("{who} keeps {expected} bytes in {space}, counted {counted}")));
        }
    }
    found
}

/// Files of deleted spaces, and files that the table does not know.
fn left_overs(
    evidence: &Evidence<'_>,
    files: &[StoredFile<'_>],
    objects: &[FileKey],
) -> Vec<(u8, String)> {
    let mut found = Vec::new();
    for file in files.iter().filter(|file| evidence.stored.is_deleted(file.space)) {
        found.push((5, format!("{} is left of the deleted space {}", file.id, file.space)));
    }
    for key in objects {
        let id = key.file.to_string();
        let known = files.iter().find(|file| file.id == id);
        // A local host that dies forgets to look at a file of a space that it has deleted.
        let is_forgotten =
            evidence.env.parameters.local && evidence.stored.is_deleted(&key.space.to_string());
        if known.is_none() && !is_forgotten {
            found.push((5, format!("the storage has {key}, which no item names")));
        }
        let is_refused = known.is_some_and(|file| file.item["status"] == "refused");
        if is_refused && !evidence.env.parameters.local {
            found.push((5, format!("the storage still has {key}, which was refused")));
        }
    }
    found
}
