//! Promise 5 for spaces without members: a space ends some time after its last member has left, not
//! earlier, and not if the member comes back before.

use crate::{ledger::Emptied, oracle::Evidence};

pub(super) fn empty_spaces_end(evidence: &mut Evidence<'_>) {
    let parameters = &evidence.env.parameters;
    // The clocks of two processes may differ.
    let least = parameters.empty_spaces_kept.saturating_sub(parameters.clock_spread * 2);
    let mut found = Vec::new();
    for Emptied { space, from, readmitted } in &evidence.ledger.emptied {
        let is_there = evidence.stored.spaces.contains_key(&space.to_string());
        match readmitted {
            None if is_there => found.push(format!("{space} has no member, and has not ended")),
            Some((_, Some(200))) if !is_there => {
                found.push(format!("{space} has ended, although its member has come back"));
            }
            Some((_, Some(404))) if is_there => {
                found.push(format!("{space} is there, and its member could not come back"));
            }
            Some((at, Some(404))) if *at - *from < least => {
                found.push(format!("{space} has ended too early"));
            }
            _ => {}
        }
    }
    for text in found {
        evidence.report(5, text);
    }
}
