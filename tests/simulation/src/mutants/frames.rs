//! Mutants of frames: of their limits, of subscriptions, of the joining of read positions, and of
//! large rooms.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    conditions::prune,
    mutants::{
        Mutant, RawResponse,
        writes::{mentions, partition, sort_key},
    },
};

/// The time of the reads after a subscription: three or four calls, one after the other.
const READS: Duration = Duration::from_millis(20);

/// Changes a transaction that stores a subscription.
pub(super) fn change(mutant: Mutant, parts: &mut [Value]) {
    for part in parts.iter_mut().filter(|_| mutant == Mutant::AppliesOlderFrames) {
        let put = &mut part["Put"];
        if mentions(&put["ConditionExpression"], "#n < :n") {
            put["ConditionExpression"] = json!("attribute_not_exists(nothing)");
            prune(put);
        }
    }
}

impl Mutant {
    /// How much later a call takes effect. It is answered at once.
    pub fn delays(self, operation: &str, request: &Value) -> Option<Duration> {
        let follows = |part: &Value| {
            !part["Put"].is_null()
                && partition(part).starts_with("SPACE#")
                && sort_key(part).starts_with("CONN#")
        };
        let applies = self == Self::ReadsBeforeFollowing && operation == "TransactWriteItems";
        let parts = request["TransactItems"].as_array().filter(|_| applies)?;
        parts.iter().any(follows).then_some(READS)
    }
}

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

/// Whether an item looks as if it did not exist.
pub(super) fn hides(mutant: Mutant, request: &Value) -> bool {
    let partition = request["Key"]["PK"]["S"].as_str().unwrap_or_default();
    mutant == Mutant::ForgetsSnapshots && partition.starts_with("STREAMS#")
}

impl Mutant {
    /// Changes a job, given as JSON text, on its way to a queue.
    pub fn cut_job(self, text: String) -> String {
        if self != Self::LosesParts || !text.contains(r#""to":{"#) {
            return text;
        }
        let mut job: Value = serde_json::from_str(&text).unwrap_or_default();
        if let Some(connections) = job["to"]["connections"].as_array_mut() {
            connections.truncate(1);
        }
        job.to_string()
    }
}
