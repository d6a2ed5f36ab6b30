//! Mutants of the blocks of searches, and of what a search reads.

use serde_json::{Value, json};
use smartspace_domain::search::BLOCK_MESSAGES;

use crate::{
    mutants::{
        Mutant, RawResponse,
        writes::{drop_where, partition, sort_key},
    },
    storage::Storage,
};

/// Changes a transaction.
pub(super) fn change(mutant: Mutant, parts: &mut [Value]) {
    let puts_block = |part: &Value| part["Put"].is_object() && is_block(part);
    match mutant {
        Mutant::BuildsWithoutRev if parts.iter().any(puts_block) => {
            drop_where(parts, |part| {
                partition(part).starts_with("FIND#") && sort_key(part) == "META"
            });
        }
        Mutant::EditsKeepBlocks if parts.iter().any(|it| sort_key(it).starts_with("MSG#")) => {
            drop_where(parts, |part| part["Delete"].is_object() && is_block(part));
        }
        _ => {}
    }
}

fn is_block(part: &Value) -> bool {
    partition(part).starts_with("FIND#") && sort_key(part).starts_with("BLOCK#")
}

/// Answers a query for messages that no block covers, and that are much older than the newest one,
/// as if there were none.
pub(super) fn answer_query(
    mutant: Mutant,
    storage: &Storage,
    request: &Value,
) -> Option<RawResponse> {
    if mutant != Mutant::SkipsGaps || request["ScanIndexForward"] != false {
        return None;
    }
    let value = |name: &str| request["ExpressionAttributeValues"][name]["S"].as_str();
    let last: u64 = value(":last")?.strip_prefix("MSG#")?.parse().ok()?;
    let newer = format!("MSG#{:012}", last + BLOCK_MESSAGES);
    let is_old = storage.has(value(":pk")?, &newer);
    is_old.then(|| (200, json!({"Items": [], "Count": 0}).to_string()))
}

/// Changes a query.
pub(super) fn change_query(mutant: Mutant, request: &mut Value) {
    let values = &request["ExpressionAttributeValues"];
    let is_of = |start: &str| values[":pk"]["S"].as_str().is_some_and(|pk| pk.starts_with(start));
    if mutant == Mutant::ReadsOldBlocks && is_of("FIND#") {
        request["ConsistentRead"] = json!(false);
    }
}
