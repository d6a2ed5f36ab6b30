//! Promise 9 for guests: an invite lets in as many as it says, and whoever came by an invite that
//! was revoked is out.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{ledger::Invited, oracle::Evidence};

pub(super) fn an_invite_lets_in_as_many_as_it_says(evidence: &mut Evidence<'_>) {
    let stored = &evidence.stored;
    let mut found = Vec::new();
    for Invited { invite, uses, revoked, answers } in &evidence.ledger.invited {
        let guests: Vec<_> = stored
            .members
            .iter()
            .filter(|(_, member)| member["guestBy"] == invite.as_str())
            .map(|((_, guest), member)| (guest.as_str(), member))
            .collect();
        // A space that all its guests have left ends.
        let space = stored.invites.get(invite).and_then(|invite| invite["spaceId"].as_str());
        if *revoked && space.is_some_and(|space| !stored.spaces.contains_key(space)) {
            continue;
        }
        let left = stored.invites.get(invite).and_then(|invite| invite["usesLeft"].as_u64());
        if left.is_none_or(|left| left + guests.len() as u64 != *uses) {
            found.push(format!(
                "{invite} had {uses} uses, let {} guests in and has {left:?} left",
                guests.len()
            ));
        }
        let is_in = |member: &Value| member["left"] != true;
        if *revoked && let Some((guest, _)) = guests.iter().find(|(_, member)| is_in(member)) {
            found.push(format!("{guest} is still there, but {invite} was revoked"));
        }
        let mut accepted = BTreeSet::new();
        for (status, answer) in answers.iter().flatten() {
            let guest = answer["entity"]["id"].as_str().unwrap_or_default();
            if *status != 200 {
                continue;
            }
            accepted.insert(guest);
            if !guests.iter().any(|(known, _)| *known == guest) {
                found.push(format!("{guest} was let in by {invite} and is no guest of it"));
            }
        }
        if accepted.len() as u64 > *uses {
            found.push(format!("{invite} had {uses} uses and was accepted by {accepted:?}"));
        }
    }
    for text in found {
        evidence.report(9, text);
    }
}
