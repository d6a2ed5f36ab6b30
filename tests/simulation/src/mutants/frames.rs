//! Mutants of the limits of frames, and of the joining of read positions.

use serde_json::{Value, json};

use crate::mutants::{Mutant, RawResponse};

/// Changes an update of a connection's bucket.
pub(super) fn change_update(mutant: Mutant, request: &mut Value) {
    if request["Key"]["SK"]["S"] != "FRAMES" {
        return;
    }
    let values = &mut request["ExpressionAttributeValues"];
    match mutant {
        // A full bucket is full again at once.
        Mutant::ForgetsTokensOfFrames if !values[":then"].is_null() => {
            values[":then"] = json!({"N": "0"});
        }
        _ => {}
    }
}

/// Answers an update instead of the table.
pub(super) fn answer_update(mutant: Mutant, request: &Value) -> Option<RawResponse> {
    let takes_over = request["Key"]["SK"]["S"] == "READS"
        && request["UpdateExpression"] == "SET #nextAtMs = :to";
    (mutant == Mutant::AbandonsReads && takes_over).then(|| {
        let refused = "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException";
        (400, json!({"__type": refused, "message": "The conditional request failed"}).to_string())
    })
}
