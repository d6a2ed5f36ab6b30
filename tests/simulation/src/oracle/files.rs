//! Promises 1, 5 and 10 for files: a message has the files that it was sent with, a file that a
//! message names stays until it is deleted, nothing is left of deleted files and spaces, and the
//! counters of files are exact.

use std::collections::{BTreeMap, BTreeSet};

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
    found.extend(unsent_of_former_members(evidence, &files));
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
        let shown = message["files"].as_array().into_iter().flatten();
        let shown = shown
            .filter_map(|file| Some((file["attachmentId"].as_str()?, file["deleted"] == true)));
        let shown: Vec<_> = shown.collect();
        let sent = evidence.ledger.sent_files.iter().find(|sent| sent.text == text);
        if sent.is_some_and(|sent| !sent.files.iter().eq(shown.iter().map(|(id, _)| id))) {
            found.push((1, format!("the message {text:?} has the files {shown:?}")));
        }
        // `changes` looks for the files of deleted messages.
        let seq = message["seq"].as_u64().unwrap_or_default();
        if evidence.stored.is_deleted(space) || evidence.stored.is_tombstone(space, seq) {
            continue;
        }
        for (id, deleted) in shown {
            let file = files.iter().find(|file| file.id == id && file.space == space);
            let requested = evidence.ledger.deleted_files.get(id);
            if deleted {
                if requested.is_none() || file.is_some() {
                    found.push((1, format!("{text:?} shows {id} as deleted, which it is not")));
                }
                continue;
            }
            if requested == Some(&true) {
                found.push((1, format!("{text:?} shows {id}, which was deleted")));
            }
            let is_named = |file: &&StoredFile<'_>| {
                file.item["named"].as_array().is_some_and(|named| named.contains(&message["seq"]))
            };
            let is_sent = file.filter(is_named).is_some_and(|file| {
                file.item["status"] == "ready"
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
    for file in files {
        let is_deleted = evidence.ledger.deleted_files.get(file.id) == Some(&true);
        if is_deleted || file.item["dropped"] == true {
            found.push((5, format!("{} was deleted, and is still there", file.id)));
        }
    }
    found
}

/// Counters of files that are not the sum of these.
fn wrong_counts(items: &[Value], files: &[StoredFile<'_>]) -> Vec<(u8, String)> {
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    let mut pending: BTreeMap<String, i64> = BTreeMap::new();
    for file in files.iter().filter(|file| file.item["status"] != "refused") {
        let bytes = file.item["bytes"].as_u64().unwrap_or_default();
        let by = file.item["createdBy"].as_str().map(|entity| format!("ENTITY#{entity}"));
        let all = (file.item["countsInAll"] == true).then(|| "FILES#ALL".to_owned());
        let space = format!("FILES#{}", file.space);
        if let Some(by) = by.clone().filter(|_| file.item["status"] == "pending") {
            *pending.entry(by).or_default() += 1;
        }
        for counter in [Some(space), by, all].into_iter().flatten() {
            *expected.entry(counter).or_default() += bytes;
        }
    }
    let mut found = Vec::new();
    for item in items.iter().filter(|item| item["SK"] == "USED") {
        let counter = item["PK"].as_str().unwrap_or_default();
        let expected = expected.remove(counter).unwrap_or(0);
        if item["bytes"] != expected {
            let counted = &item["bytes"];
            found.push((10, format!("{counter} has {expected} bytes of files, counted {counted}")));
        }
        let (expected, counted) = (pending.remove(counter).unwrap_or(0), &item["pending"]);
        if counted.as_i64().unwrap_or(0) != expected {
            found.push((10, format!("{counter} has {expected} pending files, counted {counted}")));
        }
    }
    found.extend(expected.keys().map(|counter| (10, format!("{counter} counts no files"))));
    found
}

/// Files that no message names, of entities that are not members of their space.
fn unsent_of_former_members(
    evidence: &Evidence<'_>,
    files: &[StoredFile<'_>],
) -> Vec<(u8, String)> {
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.item["named"].is_null()) {
        let Some(by) = file.item["createdBy"].as_str() else { continue };
        let member = evidence.stored.members.get(&(file.space.to_owned(), by.to_owned()));
        if member.is_none_or(|member| member["left"] == true) {
            found.push((5, format!("{} stays, and {by} has left {}", file.id, file.space)));
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
    let deleted = files_of_tombstones(evidence);
    for key in objects {
        let id = key.file.to_string();
        let known = files.iter().find(|file| file.id == id);
        // A local host that dies forgets to look at an upload that ends after its deletion.
        let is_deleted = evidence.stored.is_deleted(&key.space.to_string())
            || deleted.contains(&id)
            || evidence.ledger.deleted_files.contains_key(&id)
            || evidence.ledger.has_lost_members(key.space);
        let is_forgotten = evidence.env.parameters.local && is_deleted;
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

/// The files of messages that were deleted.
fn files_of_tombstones(evidence: &Evidence<'_>) -> BTreeSet<String> {
    let stored = &evidence.stored;
    let is_deleted = |space: &str, message: &Value| {
        stored.is_tombstone(space, message["seq"].as_u64().unwrap_or_default())
    };
    let deleted = stored.all_messages().filter(|(space, message)| is_deleted(space, message));
    let files = deleted.filter_map(|(_, message)| message["files"].as_array()).flatten();
    files.filter_map(|file| Some(file["attachmentId"].as_str()?.to_owned())).collect()
}
