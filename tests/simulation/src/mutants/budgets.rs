//! Mutants of budgets and usage.

use serde_json::{Value, json};

use crate::{
    conditions::prune,
    mutants::{
        Mutant, RawResponse,
        writes::{drop_where, mentions, partition},
    },
};

/// Changes an update of a counter, or answers it instead of the table.
pub(super) fn change_update(mutant: Mutant, request: &mut Value) -> Option<RawResponse> {
    if !request["Key"]["PK"]["S"].as_str().is_some_and(|pk| pk.starts_with("BUDGET#")) {
        return None;
    }
    let reserves = !request["ExpressionAttributeValues"][":reservation"].is_null();
    match mutant {
        Mutant::IgnoresBudgets if reserves => {
            request["ConditionExpression"] = json!("attribute_not_exists(nothing)");
            prune(request);
        }
        Mutant::ForgetsSettling if mentions(&request["UpdateExpression"], "REMOVE #r_") => {
            return Some((200, "{}".into()));
        }
        _ => {}
    }
    None
}

/// Changes a transaction.
pub(super) fn change(mutant: Mutant, parts: &mut [Value]) {
    if mutant == Mutant::ForgetsUsage {
        drop_where(parts, |part| partition(part).starts_with("USAGE#"));
    }
}
