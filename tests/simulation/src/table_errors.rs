//! The errors that the table returns, in the form in which DynamoDB returns them.

use serde_json::{Value, json};

/// A response of the table: its status and its body.
pub type RawResponse = (u16, String);

/// An error of this kind.
pub(crate) fn problem(status: u16, kind: &str, mut body: Value) -> RawResponse {
    body["__type"] = format!("com.amazonaws.dynamodb.v20120810#{kind}").into();
    (status, body.to_string())
}

/// The error after a conflict with another transaction.
pub(crate) fn conflict(operation: &str, request: &Value) -> RawResponse {
    if operation != "TransactWriteItems" {
        return problem(400, "TransactionConflictException", json!({}));
    }
    let parts = request["TransactItems"].as_array().map_or(1, Vec::len);
    let failed: Vec<_> = (0..parts).map(|part| part == 0).collect();
    canceled(&failed, "TransactionConflict")
}

/// The error of a transaction whose failed parts have this reason.
pub(crate) fn canceled(failed: &[bool], reason: &str) -> RawResponse {
    let reasons: Vec<_> = failed
        .iter()
        .map(|failed| json!({"Code": if *failed { reason } else { "None" }}))
        .collect();
    problem(400, "TransactionCanceledException", json!({"CancellationReasons": reasons}))
}
