//! Mutants of spaces that are deleted.

use serde_json::Value;

use crate::mutants::Mutant;

/// Whether an item stays that is to be deleted.
pub(super) fn keeps(mutant: Mutant, request: &Value) -> bool {
    let key = &request["Key"];
    mutant == Mutant::LeavesItems
        && key["PK"]["S"].as_str().is_some_and(|pk| pk.starts_with("SPACE#"))
        && key["SK"]["S"] == "CARD"
}
