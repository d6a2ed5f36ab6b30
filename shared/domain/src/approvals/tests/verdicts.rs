//! What rules say about calls.

use proptest::prelude::*;

use super::*;

/// The verdict in short: what happens, and by which rule.
fn short(rules: &[ApprovalRule], call: &CheckedCall<'_>) -> (&'static str, Option<usize>) {
    match verdict(rules, call) {
        Verdict::Make => ("make", None),
        Verdict::Deny(rule, index) => {
            assert_eq!((rule, rule.action), (&rules[index], RuleAction::Deny));
            ("deny", Some(index))
        }
        Verdict::Ask(rule, index) => {
            assert_eq!((rule, rule.action), (&rules[index], RuleAction::Ask));
            ("ask", Some(index))
        }
    }
}

#[test]
fn a_deny_wins_wherever_it_stands_and_then_the_first_rule_that_asks() {
    let rules = rules(json!([
        {"tools": ["pay"], "when": "input.amount > 500", "by": "owners"},
        {"tools": ["pay", "github__*"]},
        {"tools": ["pay"], "action": "deny", "when": "input.amount > 9000"},
        {"tools": ["*_all"], "action": "deny"},
        {"tools": ["read_*"], "when": "false"},
    ]));
    let cases = [
        ("pay", json!({"amount": 10}), ("ask", Some(1))),
        ("pay", json!({"amount": 501}), ("ask", Some(0))),
        ("pay", json!({"amount": 9001}), ("deny", Some(2))),
        // An error counts as true, here of all three.
        ("pay", json!({}), ("deny", Some(2))),
        ("github__merge", json!({}), ("ask", Some(1))),
        ("github__drop_all", json!({}), ("deny", Some(3))),
        ("read_file", json!({}), ("make", None)),
        ("payment", json!({}), ("make", None)),
    ];
    for (tool, input, expected) in cases {
        assert_eq!(short(&rules, &call(tool, &input)), expected, "{tool} {input}");
    }
}

#[test]
fn a_when_reads_the_call_the_agent_and_the_space() {
    let input = json!({"a": [1, 2]});
    let here = call("pay", &input);
    let nowhere = CheckedCall { space: None, ..here };
    let agent = format!("agent.id == '{}' && agent.name == 'Ada'", agent());
    let space = format!("space.id == '{}' && space.name == 'Desk'", space(1));
    for (when, expected) in [
        ("input.a[1] == 2", [true, true]),
        ("tool == 'pay'", [true, true]),
        (agent.as_str(), [true, true]),
        (space.as_str(), [true, true]),
        ("space != null", [true, false]),
        ("space != null && space.name == 'Desk'", [true, false]),
        ("tool == 'transfer'", [false, false]),
        // No bool is an error, which counts as true.
        ("input.a", [true, true]),
        ("1 / 0 == 1", [true, true]),
    ] {
        let rules = rules(json!([{"tools": ["*"], "when": when}]));
        let asks = [here, nowhere].map(|call| short(&rules, &call).0 == "ask");
        assert_eq!(asks, expected, "{when}");
    }
    // An expression that is never read whole: the input is too large.
    let large = json!({"text": "x".repeat(64 * 1024)});
    let rules = rules(json!([{"tools": ["*"], "when": "input.text == ''"}]));
    assert_eq!(short(&rules, &call("pay", &large)), ("ask", Some(0)));
    let fits = json!({"text": "x".repeat(60 * 1024)});
    assert_eq!(short(&rules, &call("pay", &fits)), ("make", None));
}

#[test]
fn no_rule_names_the_tool_that_ends_a_run() {
    let input = json!({});
    let all = rules(json!([{"tools": ["*", "skip*"], "action": "deny"}, {"tools": ["*"]}]));
    assert_eq!(short(&all, &call("skip_response", &input)), ("make", None));
    assert_eq!(short(&all, &call("send_message", &input)), ("deny", Some(0)));
    let found =
        ["skip_response", "send_message"].map(|tool| (names(&all, tool), may_ask(&all, tool)));
    assert_eq!(found, [(false, false), (true, true)]);
}

#[test]
fn a_tool_is_named_by_rules_that_deny_and_asked_about_by_rules_that_ask() {
    let rules = rules(json!([{"tools": ["drop_*"], "action": "deny"}, {"tools": ["pay"]}]));
    let found =
        ["drop_table", "pay", "read"].map(|tool| (names(&rules, tool), may_ask(&rules, tool)));
    assert_eq!(found, [(true, false), (true, true), (false, false)]);
}

proptest! {
    #[test]
    fn a_star_stands_for_any_text(pattern in "[ab*]{1,8}", name in "[ab]{0,8}") {
        let expression = format!("^{}$", pattern.replace('*', ".*"));
        let expected = regex_lite::Regex::new(&expression).unwrap().is_match(&name);
        let rule = rule(json!({"tools": [pattern]}));
        prop_assert_eq!(rule.covers(&name), expected);
    }
}
