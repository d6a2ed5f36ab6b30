//! Mutants of the revisions of agents.

use serde_json::Value;

use crate::mutants::{
    Mutant,
    writes::{drop_where, sort_key},
};

/// Changes a transaction.
pub(super) fn change(mutant: Mutant, parts: &mut [Value]) {
    if mutant == Mutant::LosesRevisions {
        let changes = parts.iter().any(|part| part["Update"].is_object());
        drop_where(parts, |part| changes && sort_key(part).starts_with("REV#"));
    }
}
