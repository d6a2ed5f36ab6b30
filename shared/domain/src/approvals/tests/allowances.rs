//! What may be remembered, and which calls an allowance answers.

use super::*;
use crate::access::{Caller, Membership};
use crate::{entities::EntityType, spaces::Role};

fn person(number: u128) -> EntityId {
    EntityId::new(at(1), 100 + number)
}

/// Makes an allowance under a rule.
fn made(rule: &ApprovalRule, remember: Value, by_operator: bool) -> Result<Allowance, Error> {
    let remember: Remember = serde_json::from_value(remember).unwrap();
    let new = NewAllowance {
        id: AllowanceId::new(at(1), 1),
        agent: agent(),
        tool: "pay",
        space: space(1),
        rule,
        tool_fingerprint: "fp",
        remember: &remember,
        by: person(1),
        by_name: "Olga",
        by_operator,
    };
    Allowance::new(&new, at(1_000))
}

#[test]
fn an_approval_is_remembered_as_it_says() {
    let rule = rule(json!({"tools": ["pay"]}));
    let short = made(&rule, json!({"in": "space"}), false).unwrap();
    assert_eq!((short.space_id, &short.when, short.expires_at), (Some(space(1)), &None, None));
    let whole = json!({"in": "everywhere", "when": "input.amount < 5", "for": "90 days"});
    let expected = Allowance {
        space_id: None,
        when: Some("input.amount < 5".into()),
        expires_at: Some(at(1_000 + 90 * 86_400_000)),
        ..short
    };
    assert_eq!(made(&rule, whole, true), Ok(expected));
}

#[test]
fn what_may_not_be_remembered_is_refused() {
    let one = rule(json!({"tools": ["pay"]}));
    let two = rule(json!({"tools": ["pay"], "quorum": 2}));
    let pointer = |result: Result<Allowance, Error>| match result {
        Err(Error::Invalid(faults)) => faults[0].pointer.clone(),
        other => format!("{other:?}"),
    };
    assert_eq!(pointer(made(&two, json!({"in": "space"}), true)), "/remember");
    let when = json!({"in": "space", "when": "amount"});
    assert_eq!(pointer(made(&one, when, true)), "/remember/when");
    let long = json!({"in": "space", "for": "366 days"});
    assert_eq!(pointer(made(&one, long, true)), "/remember/for");
    assert!(made(&one, json!({"in": "space", "for": "365 days"}), false).is_ok());
    let everywhere = made(&one, json!({"in": "everywhere"}), false);
    assert!(matches!(everywhere, Err(Error::Forbidden(_))), "{everywhere:?}");
}

#[test]
fn an_allowance_answers_only_the_calls_it_is_for() {
    let rule = rule(json!({"tools": ["pay"]}));
    let remember = json!({"in": "space", "when": "input.amount < 5", "for": "1 second"});
    let allowance = made(&rule, remember, false).unwrap();
    let [cheap, dear, odd] = [json!({"amount": 4}), json!({"amount": 5}), json!({})];
    let fitting = call("pay", &cheap);
    let fits = |call: &CheckedCall<'_>, now| allowance.fits(&rule, call, "fp", at(now));
    assert!(fits(&fitting, 1_000) && fits(&fitting, 1_999));
    assert!(!fits(&fitting, 2_000), "its time is over");
    assert!(!fits(&call("pay", &dear), 1_000));
    assert!(!fits(&call("pay", &odd), 1_000), "an error counts as false");
    assert!(!fits(&call("transfer", &cheap), 1_000));
    let other = Named { id: space(2), name: "Desk" };
    assert!(!fits(&CheckedCall { space: Some(other), ..fitting }, 1_000));
    assert!(!fits(&CheckedCall { space: None, ..fitting }, 1_000));
    let imposter = Named { id: person(1), name: "Ada" };
    assert!(!fits(&CheckedCall { agent: imposter, ..fitting }, 1_000));
    let everywhere = made(&rule, json!({"in": "everywhere"}), true).unwrap();
    assert!(everywhere.fits(
        &rule,
        &CheckedCall { space: Some(other), ..fitting },
        "fp",
        at(9_999)
    ));
    assert!(!everywhere.fits(&rule, &fitting, "other", at(9_999)), "the tool was changed");
    assert!(everywhere.fits(&rule, &CheckedCall { space: None, ..fitting }, "fp", at(9_999)));
}

#[test]
fn an_allowance_ends_with_any_change_of_its_rule() {
    let before = rule(json!({"tools": ["pay"], "when": "input.amount > 1"}));
    let allowance = made(&before, json!({"in": "space"}), false).unwrap();
    let input = json!({"amount": 3});
    let call = call("pay", &input);
    assert!(allowance.fits(&before, &call, "fp", at(1_000)));
    for after in [
        json!({"tools": ["pay"]}),
        json!({"tools": ["pay", "pay2"], "when": "input.amount > 1"}),
        json!({"tools": ["pay"], "when": "input.amount > 2"}),
        json!({"tools": ["pay"], "when": "input.amount > 1", "by": "owners"}),
        json!({"tools": ["pay"], "when": "input.amount > 1", "quorum": 2}),
        json!({"tools": ["pay"], "when": "input.amount > 1", "expiresAfter": "2 days"}),
        json!({"tools": ["pay"], "when": "input.amount > 1", "onExpire": "end"}),
    ] {
        assert!(!allowance.fits(&rule(after.clone()), &call, "fp", at(1_000)), "{after}");
    }
}

#[test]
fn an_allowance_is_deleted_by_its_maker_by_people_who_own_the_space_and_by_the_operator() {
    let rule = rule(json!({"tools": ["pay"]}));
    let allowance = made(&rule, json!({"in": "space"}), false).unwrap();
    let member = |role, kind, guest| Some(Membership { role, kind, guest });
    let [human, agent] = [EntityType::Human, EntityType::Agent];
    let memberships = [
        None,
        member(Role::Member, human, false),
        member(Role::Member, human, true),
        member(Role::Member, agent, false),
        member(Role::Owner, agent, false),
        member(Role::Owner, human, false),
    ];
    let statuses = |caller: Caller| {
        memberships.map(|membership| match caller.may_delete_allowance(&allowance, membership) {
            Ok(()) => 204,
            Err(Error::Forbidden(_)) => 403,
            Err(Error::NotFound(_)) => 404,
            Err(error) => panic!("expected a refusal, got {error:?}"),
        })
    };
    assert_eq!(statuses(Caller::Entity(person(2))), [404, 403, 403, 403, 403, 204]);
    assert_eq!(statuses(Caller::Entity(person(1))), [204; 6]);
    assert_eq!(statuses(Caller::Operator), [204; 6]);
}
