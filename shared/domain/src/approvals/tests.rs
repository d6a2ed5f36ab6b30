//! Rules, verdicts and allowances.

mod allowances;
mod checks;
mod verdicts;

use serde_json::{Value, json};

use super::*;
use crate::{agents::AgentConfig, errors::Error};

fn at(millis: i64) -> Time {
    Time::from_millis(millis)
}

fn agent() -> EntityId {
    EntityId::new(at(1), 1)
}

fn space(number: u128) -> SpaceId {
    SpaceId::new(at(1), number)
}

/// A rule, as a configuration writes it.
fn rule(json: Value) -> ApprovalRule {
    serde_json::from_value(json).unwrap()
}

fn rules(json: Value) -> Vec<ApprovalRule> {
    serde_json::from_value(json).unwrap()
}

/// A call of an agent in a space.
fn call<'a>(tool: &'a str, input: &'a Value) -> CheckedCall<'a> {
    CheckedCall {
        tool,
        input,
        agent: Named { id: agent(), name: "Ada" },
        space: Some(Named { id: space(1), name: "Desk" }),
    }
}

/// The configuration of an agent with these rules.
fn config(approvals: &Value) -> Value {
    json!({"model": {"provider": "scripted", "name": "m"}, "approvals": approvals})
}

#[test]
fn a_rule_has_its_defaults() {
    let short = rule(json!({"tools": ["pay"]}));
    let whole = json!({
        "tools": ["pay"], "action": "ask", "by": "members", "quorum": 1, "expiresAfter": "1 day",
        "onExpire": "decline",
    });
    assert_eq!(serde_json::to_value(&short).unwrap(), whole);
    let config: AgentConfig = serde_json::from_value(config(&json!([]))).unwrap();
    let written = serde_json::to_value(&config).unwrap();
    assert_eq!(written.get("approvals"), None, "no rules are not written");
}

#[test]
fn a_stored_rule_that_is_not_known_whole_refuses_all_calls() {
    let known = json!({"tools": ["pay"], "by": "owners"});
    let unknown = [
        json!({"tools": ["pay", "move_*"], "roles": ["finance"]}),
        json!({"tools": ["pay"], "action": "delay"}),
        json!({"tools": ["pay"], "by": "admins"}),
        json!({"tools": ["pay"], "onExpire": "retry"}),
        json!({"tools": {"not": ["skip_*"]}}),
        json!({"tools": []}),
        json!(7),
    ];
    let stored: Vec<Value> = [known.clone()].into_iter().chain(unknown).collect();
    let read = AgentConfig::read_stored(config(&Value::Array(stored))).unwrap();
    let found: Vec<_> =
        read.approvals.iter().map(|rule| (rule.tools.join(" "), rule.action)).collect();
    let deny = |tools: &str| (tools.to_owned(), RuleAction::Deny);
    let expected = [
        ("pay".to_owned(), RuleAction::Ask),
        deny("pay move_*"),
        deny("pay"),
        deny("pay"),
        deny("pay"),
        deny("*"),
        deny("*"),
        deny("*"),
    ];
    assert_eq!(found, expected);
    assert_eq!(read.approvals[0], rule(known));
    assert!(read.approvals.iter().all(|rule| rule.when.is_none()));
    // A change of such an agent is still accepted.
    let mut faults = crate::errors::Faults::default();
    read.check(&mut faults);
    assert_eq!(faults.done(), Ok(()));
    let no_list = AgentConfig::read_stored(config(&json!({"all": "ask"}))).unwrap();
    assert_eq!(no_list.approvals.len(), 1);
    let input = json!({});
    assert!(matches!(verdict(&no_list.approvals, &call("pay", &input)), Verdict::Deny(_, 0)));
    let none = AgentConfig::read_stored(config(&Value::Null)).unwrap();
    assert_eq!(none.approvals, []);
}
