//! Mutants of external calls.

use serde_json::{Value, json};

use crate::mutants::writes::{drop_where, mentions, sort_key, written};
use crate::mutants::{Mutant, RawResponse};

/// Changes a transaction, or answers it instead.
pub(super) fn change(mutant: Mutant, parts: &mut [Value]) -> Option<RawResponse> {
    match mutant {
        Mutant::ForgetsBeginnings => {
            // The result must not expect the beginning that is not stored.
            for part in parts.iter_mut() {
                let item = written(part);
                if is_hidden(&item) && !is_pending(&item) {
                    let update = part["Update"].as_object_mut()?;
                    update.insert("ConditionExpression".into(), json!("attribute_not_exists(PK)"));
                    update["ExpressionAttributeValues"].as_object_mut()?.remove(":pending");
                }
            }
            drop_where(parts, |part| {
                let item = written(part);
                is_hidden(&item) && is_pending(&item)
            });
        }
        Mutant::ForgetsCards
            if parts
                .iter()
                .map(written)
                .any(|item| is_external_call(&item) && !is_pending(&item)) =>
        {
            drop_where(parts, |part| sort_key(part).starts_with("MSG#"));
        }
        Mutant::ForgetsPictures if parts.iter().any(|part| has_pictures(&written(part))) => {
            drop_where(parts, |part| sort_key(part).starts_with("FILE#"));
        }
        Mutant::LeavesCallsOpen
            if mentions(
                &parts[0]["Update"]["ExpressionAttributeValues"][":output"]["S"],
                "the run ended while this was under way",
            ) =>
        {
            return Some((200, "{}".into()));
        }
        _ => {}
    }
    None
}

/// Hides calls under way from a worker that takes over their run.
pub(super) fn hide(request: &Value, answer: &mut Value) {
    let reads_whole_run =
        request["ExpressionAttributeValues"].as_object().is_some_and(|values| values.len() == 1);
    if let Some(items) = answer["Items"].as_array_mut().filter(|_| reads_whole_run) {
        items.retain(|item| !(is_hidden(item) && is_pending(item)));
    }
}

/// Whether an item stores an external call.
fn is_external_call(item: &Value) -> bool {
    item["SK"]["S"].as_str().is_some_and(|sk| sk.starts_with("CALL#"))
        && item["outside"]["BOOL"] == true
}

/// Whether an item stores a call that has returned pictures.
fn has_pictures(item: &Value) -> bool {
    is_external_call(item) && !item["files"].is_null()
}

/// Whether an item stores an external call without a card.
fn is_hidden(item: &Value) -> bool {
    is_external_call(item) && item["card"].is_null()
}

fn is_pending(item: &Value) -> bool {
    item["status"]["S"] == "pending"
}
