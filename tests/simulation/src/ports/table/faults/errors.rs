//! The errors that the table returns.

use serde_json::{Value, json};

use crate::ports::table::RawResponse;

/// An error in the form in which DynamoDB returns it.
pub(super) fn problem(status: u16, kind: &str, mut body: Value) -> RawResponse {
    body["__type"] = format!("com.amazonaws.dynamodb.v20120810#{kind}").into();
    (status, body.to_string())
}

/// The error after a conflict with another transaction.
pub(super) fn conflict(operation: &str, request: &Value) -> RawResponse {
    if operation != "TransactWriteItems" {
        return problem(400, "TransactionConflictException", json!({}));
    }
    let parts = request["TransactItems"].as_array().map_or(1, Vec::len);
    let reasons: Vec<_> = (0..parts)
        .map(|part| json!({"Code": if part == 0 { "TransactionConflict" } else { "None" }}))
        .collect();
    problem(400, "TransactionCanceledException", json!({"CancellationReasons": reasons}))
}
