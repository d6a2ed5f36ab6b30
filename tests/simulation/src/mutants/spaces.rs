//! Mutants of spaces: of their deletion, and of invites.

use serde_json::{Value, json};

use crate::{
    conditions::prune,
    mutants::{
        Mutant,
        writes::{mentions, partition},
    },
};

/// Changes a transaction that uses an invite.
pub(super) fn change(mutant: Mutant, parts: &mut [Value]) {
    let is_invite = |part: &&mut Value| partition(part).starts_with("INVITES#");
    for part in parts.iter_mut().filter(is_invite) {
        let update = &mut part["Update"];
        if mutant == Mutant::OverusesInvites
            && mentions(&update["ConditionExpression"], "#usesLeft")
        {
            update["ConditionExpression"] = json!("attribute_exists(PK)");
            prune(update);
        }
    }
}

/// Whether an item stays that is to be deleted.
pub(super) fn keeps(mutant: Mutant, request: &Value) -> bool {
    let key = &request["Key"];
    mutant == Mutant::LeavesItems
        && key["PK"]["S"].as_str().is_some_and(|pk| pk.starts_with("SPACE#"))
        && key["SK"]["S"] == "CARD"
}
