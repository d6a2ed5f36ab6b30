//! Promises 1, 3 and 10 for pictures that tools draw: no call draws twice, a call that has ended
//! well has its picture, its card shows the same, and the run's usage counts it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{external_tools::DRAWS, oracle::Evidence};

pub(super) fn pictures_are_drawn_once_and_kept(evidence: &mut Evidence<'_>) {
    let mut found = drawn_twice(evidence);
    found.extend(wrong_calls(evidence));
    found.extend(wrong_usage(evidence));
    for (promise, text) in found {
        evidence.report(promise, text);
    }
}

fn drawn_twice(evidence: &Evidence<'_>) -> Vec<(u8, String)> {
    let several = evidence.ledger.drawn.iter().filter(|(_, times)| **times > 1);
    several.map(|(call, times)| (3, format!("{call} drew {times} pictures"))).collect()
}

/// Calls whose pictures are not those that were drawn, and cards that show others.
fn wrong_calls(evidence: &Evidence<'_>) -> Vec<(u8, String)> {
    let stored = &evidence.stored;
    let mut found = Vec::new();
    let mut kept = BTreeMap::new();
    let mut all = BTreeSet::new();
    for call in stored.calls.values().filter(|call| call["name"] == DRAWS) {
        let id = call["callId"].as_str().unwrap_or_default();
        let files = ids(&call["files"]);
        let has_ended_well = call["status"] == "completed";
        if has_ended_well && !evidence.ledger.drawn.contains_key(id) {
            found.push((3, format!("{id} is completed, but drew nothing")));
        }
        if !has_ended_well && !files.is_empty() {
            found.push((3, format!("{id} is {} and has a picture", call["status"])));
        }
        for file in &files {
            if !all.insert(file.clone()) {
                found.push((3, format!("two calls have the picture {file}")));
            }
        }
        kept.insert(id, files);
    }
    for (_, message) in stored.all_messages().filter(|(space, _)| !stored.is_deleted(space)) {
        let Some(files) = message["card"]["callId"].as_str().and_then(|id| kept.get(id)) else {
            continue;
        };
        if ids(&message["files"]) != *files {
            let card = &message["card"];
            found.push((
                1,
                format!("a card shows {}, its call has {files:?}: {card}", message["files"]),
            ));
        }
    }
    found
}

fn ids(files: &Value) -> Vec<String> {
    let id = |file: &Value| file["attachmentId"].as_str().map(str::to_owned);
    files.as_array().into_iter().flatten().filter_map(id).collect()
}

/// Runs whose usage is not that of their pictures.
fn wrong_usage(evidence: &Evidence<'_>) -> Vec<(u8, String)> {
    let stored = &evidence.stored;
    let mut expected: BTreeMap<&str, u64> = BTreeMap::new();
    for ((run, ..), call) in &stored.calls {
        let images = call["used"]["usage"]["images"].as_u64().unwrap_or_default();
        *expected.entry(run).or_default() += images;
    }
    let wrong = expected.into_iter().filter_map(|(id, expected)| {
        let counted = stored.runs.get(id)?["usage"]["images"].as_u64().unwrap_or_default();
        (counted != expected)
            .then(|| (10, format!("{id} drew {expected} pictures, its usage says {counted}")))
    });
    wrong.collect()
}
