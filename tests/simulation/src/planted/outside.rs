//! Mistakes about calls that reach outside.

use serde_json::{Value, json};

use super::{Answer, Planted, drop_where, mentions, sort_key};

/// Changes a transaction, or answers it instead.
pub(super) fn change(planted: Planted, parts: &mut [Value]) -> Option<Answer> {
    match planted {
        Planted::ForgetsBeginnings => {
            // Nobody expects what is not there.
            for part in parts.iter_mut().filter(|part| is_hidden(&part["Put"]["Item"]) && !is_pending(&part["Put"]["Item"])) {
                let put = part["Put"].as_object_mut()?;
                put.retain(|name, _| !name.starts_with("Expression"));
                put.insert("ConditionExpression".into(), json!("attribute_not_exists(PK)"));
            }
            drop_where(parts, |part| is_hidden(&part["Put"]["Item"]) && is_pending(&part["Put"]["Item"]));
        }
        Planted::ForgetsCards if parts.iter().any(|part| reaches_outside(&part["Put"]["Item"]) && !is_pending(&part["Put"]["Item"])) => {
            drop_where(parts, |part| sort_key(part).starts_with("MSG#"));
        }
        Planted::LeavesCallsOpen
            if mentions(&parts[0]["Update"]["ExpressionAttributeValues"][":output"]["S"], "the run ended while this was under way") =>
        {
            return Some((200, "{}".into()));
        }
        _ => {}
    }
    None
}

/// Hides from who takes a run over what was under way.
pub(super) fn hide(request: &Value, answer: &mut Value) {
    let reads_whole_run = request["ExpressionAttributeValues"].as_object().is_some_and(|values| values.len() == 1);
    if let Some(items) = answer["Items"].as_array_mut().filter(|_| reads_whole_run) {
        items.retain(|item| !(is_hidden(item) && is_pending(item)));
    }
}

/// Whether an item is what is kept of a call that reaches outside.
fn reaches_outside(item: &Value) -> bool {
    item["SK"]["S"].as_str().is_some_and(|sk| sk.starts_with("CALL#")) && item["outside"]["BOOL"] == true
}

/// Of one without a card.
fn is_hidden(item: &Value) -> bool {
    reaches_outside(item) && item["card"].is_null()
}

fn is_pending(item: &Value) -> bool {
    item["status"]["S"] == "pending"
}
