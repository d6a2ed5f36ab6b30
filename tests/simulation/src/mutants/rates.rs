//! Mutants of the rates of callers and of routers.

use serde_json::{Value, json};
use smartspace_domain::Time;

use crate::mutants::Mutant;

/// Changes a write of a bucket.
pub(super) fn change_put(mutant: Mutant, request: &mut Value) {
    let item = &mut request["Item"];
    let is_bucket = item["PK"]["S"].as_str().is_some_and(|pk| pk.starts_with("RATE#"));
    // Whatever was taken, the bucket is full.
    if mutant == Mutant::ForgetsRouterCalls && is_bucket && !item["fullAt"].is_null() {
        item["fullAt"] = json!({"S": Time::default()});
    }
}
