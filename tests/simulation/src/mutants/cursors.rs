//! Mutants of read cursors.

use serde_json::{Value, json};

use crate::mutants::Mutant;
use crate::mutants::writes::{drop_where, mentions, partition};
use crate::storage::Storage;

/// Changes a transaction.
pub(super) fn change(mutant: Mutant, storage: &Storage, parts: &mut [Value]) {
    match mutant {
        Mutant::ReadsToTheNewest => {
            let items = storage.items();
            for cursor in parts.iter_mut().filter(|part| is_cursor(part)) {
                let space = partition(cursor).to_owned();
                let head =
                    items.iter().find(|item| item["PK"] == space.as_str() && item["SK"] == "HEAD");
                let Some(head) = head else { return };
                let seq = head["seq"].to_string();
                cursor["Update"]["ExpressionAttributeValues"][":mark"] = json!({"N": seq});
            }
        }
        Mutant::ForgetsReading => drop_where(parts, is_cursor),
        Mutant::ReadsBackwards => {
            for cursor in parts.iter_mut().filter(|part| is_cursor(part)) {
                cursor["Update"]["ConditionExpression"] = json!("attribute_exists(PK)");
            }
        }
        _ => {}
    }
}

fn is_cursor(part: &Value) -> bool {
    mentions(&part["Update"]["UpdateExpression"], "#cursor = :mark")
}
