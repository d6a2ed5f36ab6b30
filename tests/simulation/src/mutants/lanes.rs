//! Mutants of turns: slots and lanes.

use serde_json::{Value, json};

use crate::conditions::prune;
use crate::mutants::Mutant;
use crate::mutants::writes::{drop_where, ends_run, mentions, sort_key, starts_run};

/// Changes a transaction.
pub(super) fn change(mutant: Mutant, parts: &mut [Value]) {
    match mutant {
        Mutant::IgnoresSlots => {
            for part in parts.iter_mut().filter(|part| sort_key(part) == "SLOTS") {
                let update = &mut part["Update"];
                if mentions(&update["ConditionExpression"], "size(#held)") {
                    update["ConditionExpression"] = json!("attribute_exists(PK)");
                    prune(update);
                }
            }
        }
        Mutant::IgnoresLanes => {
            for part in parts.iter_mut().filter(|part| is_lane(sort_key(part))) {
                if let Some(put) = part.get_mut("Put") {
                    if let Some(fields) = put.as_object_mut() {
                        fields.remove("ConditionExpression");
                    }
                    prune(put);
                }
                if let Some(update) = part.get_mut("Update") {
                    update["ConditionExpression"] = json!("attribute_exists(PK)");
                    prune(update);
                }
            }
        }
        Mutant::ForgetsAutoReplies => {
            for part in parts.iter_mut().filter(|part| is_lane(sort_key(part))) {
                let put = part.get_mut("Put");
                if let Some(lane) = put.and_then(|put| put["Item"].as_object_mut()) {
                    lane.remove("auto");
                }
            }
        }
        Mutant::KeepsTurns if parts.iter().any(ends_run) => {
            drop_where(parts, |part| sort_key(part) == "SLOTS" || is_lane(sort_key(part)));
        }
        Mutant::ForgetsJoined => {
            drop_where(parts, |part| mentions(&part["Update"]["UpdateExpression"], "#joined"));
        }
        Mutant::JoinsEndedRun => {
            // A lane keeps its first run as if it were queued.
            if parts.iter().any(|part| ends_run(part) || starts_run(part)) {
                drop_where(parts, |part| is_lane(sort_key(part)));
            }
            let joins =
                |part: &&mut Value| mentions(&part["Update"]["UpdateExpression"], "#joined");
            for part in parts.iter_mut().filter(joins) {
                part["Update"]["ConditionExpression"] = json!("attribute_exists(PK)");
                prune(&mut part["Update"]);
            }
        }
        _ => {}
    }
}

fn is_lane(sort_key: &str) -> bool {
    sort_key.starts_with("RUNLANE#")
}

/// Hides the lanes in the answer to a batch.
pub(super) fn hide_lanes(answer: &mut Value) {
    let tables = answer["Responses"].as_object_mut();
    for items in tables.into_iter().flatten().filter_map(|(_, items)| items.as_array_mut()) {
        items.retain(|item| !is_lane(item["SK"]["S"].as_str().unwrap_or_default()));
    }
}
