//! Mutants of spaces: of their deletion, of their files, of invites, and of stops.

use serde_json::{Value, json};

use crate::{
    conditions::prune,
    mutants::{
        Mutant,
        writes::{drop_where, mentions, partition, sort_key},
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

/// Changes a transaction that deletes a file, in which an entity joins an empty space, or that
/// stops a chain.
pub(super) fn change_ends(mutant: Mutant, parts: &mut [Value]) {
    let deletes_file =
        |part: &Value| !part["Delete"].is_null() && sort_key(part).starts_with("FILE#");
    match mutant {
        Mutant::CountsDeletedFiles if parts.iter().any(deletes_file) => {
            drop_where(parts, |part| sort_key(part) == "USED");
        }
        Mutant::EndsJoinedSpaces => drop_where(parts, |part| {
            mentions(&part["Update"]["UpdateExpression"], "REMOVE #emptiedAt")
        }),
        Mutant::IgnoresStoppedChains => drop_where(parts, |part| {
            mentions(&part["Update"]["UpdateExpression"], "#stoppedChains")
        }),
        _ => {}
    }
}

/// Whether an item stays that is to be deleted.
pub(super) fn keeps(mutant: Mutant, request: &Value) -> bool {
    let key = &request["Key"];
    mutant == Mutant::LeavesItems
        && key["PK"]["S"].as_str().is_some_and(|pk| pk.starts_with("SPACE#"))
        && key["SK"]["S"] == "CARD"
}
