//! Mutants of what a prompt shows: a worker's cache that keeps what it has read, and summaries of
//! older messages.

use serde_json::{Value, json};

use crate::{
    conditions::prune,
    mutants::{
        Mutant, RawResponse,
        writes::{mentions, partition, sort_key},
    },
};

/// How many messages the cache reads at once.
const CACHED: u64 = 74;

/// Hides cards that have a result from a worker that reads open cards again.
pub(super) fn hide_results(answer: &mut Value) {
    let tables = answer["Responses"].as_object_mut();
    for items in tables.into_iter().flatten().filter_map(|(_, items)| items.as_array_mut()) {
        items.retain(|item| {
            let status = &item["card"]["M"]["status"]["S"];
            status.is_null() || status == "pending"
        });
    }
}

/// Hides the messages after those that a worker remembers.
pub(super) fn hide_new_messages(request: &Value, answer: &mut Value) {
    let values = &request["ExpressionAttributeValues"];
    let first = values[":first"]["S"].as_str().unwrap_or_default();
    let remembers = request["Limit"] == CACHED
        && request["ScanIndexForward"] != false
        && first.starts_with("MSG#");
    if remembers {
        *answer = json!({"Items": [], "Count": 0});
    }
}

/// Changes a transaction that stores a summary.
pub(super) fn change(mutant: Mutant, parts: &mut [Value]) {
    let stores = |part: &Value| {
        sort_key(part) == "SUMMARY"
            && partition(part).starts_with("SPACE#")
            && mentions(&part["Update"]["ConditionExpression"], "#by = :by")
    };
    for part in parts.iter_mut().filter(|part| stores(part)) {
        let update = &mut part["Update"];
        match mutant {
            Mutant::StoresLostSummaries => {
                update["ConditionExpression"] = json!("#to <= :to");
                prune(update);
            }
            Mutant::SummarizesUnread => {
                let to = &mut update["ExpressionAttributeValues"][":new_to"]["N"];
                let next = to.as_str().and_then(|to| to.parse::<u64>().ok()).map(|to| to + 1);
                *to = json!(next.unwrap_or_default().to_string());
            }
            _ => {}
        }
    }
}

/// Answers the renewal of a claim on a summary instead of the table.
pub(super) fn answer_update(mutant: Mutant, request: &Value) -> Option<RawResponse> {
    let renews = request["Key"]["SK"]["S"] == "SUMMARY"
        && request["UpdateExpression"] == "SET #claimedUntil = :until";
    (mutant == Mutant::StoresLostSummaries && renews).then(|| (200, "{}".into()))
}
