//! The part of a call's result that says which agents its message triggers. The model that made
//! the call reads it, and it is stored with the call in the transaction that stores the message.

use serde_json::{Value, json};
use smartspace_domain::dispatch::{Dispatch, Reason};

use crate::shared::member::MemberRecord;

/// Instead of names, if the `trigger` function decides.
const LATER: &str = "not decided yet";
/// Instead of a reason, if there is nobody to trigger.
const NOBODY: &str = "no other agent is here";

/// Adds to the result of a call which agents its message triggers, by name, and if it triggers
/// none, why. `dispatch` is `None` if that is decided later.
pub(super) fn with_wakes(
    output: &Value,
    dispatch: Option<&[Dispatch]>,
    members: &[MemberRecord],
) -> Value {
    let mut output = output.clone();
    let Some(dispatch) = dispatch else {
        output["wakes"] = json!(LATER);
        return output;
    };
    let is_woken = |id| dispatch.iter().any(|it| it.agent_id == id && it.run_id.is_some());
    let woken = members.iter().filter(|member| is_woken(member.entity_id));
    let names: Vec<&str> = woken.map(|member| member.name.as_str()).collect();
    if names.is_empty() {
        output["why"] = json!(why(dispatch));
    }
    output["wakes"] = json!(names);
    output
}

/// Why nobody is triggered. An agent that a later check kept out is the one that the message was
/// for, so its reason comes first.
fn why(dispatch: &[Dispatch]) -> String {
    let mut reasons: Vec<Reason> = dispatch.iter().filter_map(|it| it.reason).collect();
    reasons.sort_unstable_by(|one, other| other.cmp(one));
    reasons.dedup();
    if reasons.is_empty() {
        return NOBODY.to_owned();
    }
    reasons.into_iter().map(Reason::as_str).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use smartspace_domain::{Time, ids::EntityId};

    use super::*;

    fn refused(number: u128, reason: Reason) -> Dispatch {
        Dispatch::refused(EntityId::new(Time::from_millis(1), number), reason)
    }

    #[test]
    fn the_reason_of_the_agent_that_was_meant_comes_first() {
        assert_eq!(why(&[]), "no other agent is here");
        let policy = || refused(1, Reason::Policy);
        assert_eq!(why(&[policy(), refused(2, Reason::Policy)]), "policy");
        assert_eq!(why(&[policy(), refused(2, Reason::Rate)]), "rate, policy");
    }

    #[test]
    fn a_decision_that_comes_later_is_not_guessed() {
        let output = with_wakes(&json!({"success": true}), None, &[]);
        assert_eq!(output, json!({"success": true, "wakes": "not decided yet"}));
    }
}
