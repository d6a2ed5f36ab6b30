//! Which rules a configuration may have.

use super::*;

/// The faults of a configuration, as pointers and texts.
fn faults(config: Value) -> Vec<(String, String)> {
    let config: AgentConfig = serde_json::from_value(config).unwrap();
    let mut faults = crate::errors::Faults::default();
    config.check(&mut faults);
    match faults.done() {
        Ok(()) => Vec::new(),
        Err(Error::Invalid(faults)) => {
            faults.into_iter().map(|fault| (fault.pointer, fault.detail)).collect()
        }
        Err(error) => panic!("expected faults, got {error:?}"),
    }
}

fn people(count: u128) -> Vec<EntityId> {
    (0..count).map(|number| EntityId::new(at(1), number)).collect()
}

#[test]
fn a_rule_may_name_any_tools_and_people() {
    let names: Vec<String> = (0..20).map(|number| format!("tool_{number}*")).collect();
    let fine = json!([
        {"tools": names, "action": "deny"},
        {"tools": ["no_tool_of_this_agent", "send_message", "my-server__get-it", "*", "a*b*c"]},
        {"tools": ["skip_*"], "when": "input.x > 1 && tool == 'a' && agent.id != space.id"},
        {"tools": ["pay"], "by": people(100), "quorum": 10, "expiresAfter": "7 days"},
        {"tools": ["pay"], "by": people(1), "quorum": 1, "onExpire": "end"},
    ]);
    assert_eq!(faults(config(&fine)), []);
    let many = vec![json!({"tools": ["pay"]}); 50];
    assert_eq!(faults(config(&json!(many))), []);
}

#[test]
fn a_wrong_rule_is_refused_with_its_place() {
    let seven = "expected at most 7 days";
    let name = "expected 1 to 128 characters: A-Z, a-z, 0-9, _, - and *";
    let tools = "expected 1 to 20 names or patterns";
    let skip = "expected another tool: skip_response does nothing that could be approved";
    let when = "expected a CEL expression over input, tool, agent, space: unknown name \
                'amount'; an expression can use 'input', 'tool', 'agent', 'space' and the \
                variables of macros";
    let who = "expected members, owners, or 1 to 100 ids";
    let twice = vec![agent(), agent()];
    let cases = [
        (json!({"tools": []}), "tools", tools),
        (json!({"tools": vec!["a"; 21]}), "tools", tools),
        (json!({"tools": ["pay", ""]}), "tools/1", name),
        (json!({"tools": ["a b"]}), "tools/0", name),
        (json!({"tools": ["é"]}), "tools/0", name),
        (json!({"tools": ["x".repeat(129)]}), "tools/0", name),
        (json!({"tools": ["*", "skip_response"]}), "tools/1", skip),
        (json!({"tools": ["a"], "when": "amount > 5"}), "when", when),
        (json!({"tools": ["a"], "when": "'x'".repeat(700)}), "when", "expected at most 2048 bytes"),
        (json!({"tools": ["a"], "by": people(101)}), "by", who),
        (json!({"tools": ["a"], "by": twice}), "by", "expected each id once"),
        (json!({"tools": ["a"], "quorum": 0}), "quorum", "expected 1 to 10, got 0"),
        (json!({"tools": ["a"], "quorum": 11}), "quorum", "expected 1 to 10, got 11"),
        (
            json!({"tools": ["a"], "by": people(2), "quorum": 3}),
            "quorum",
            "expected at most the number of people in by, 2",
        ),
        (json!({"tools": ["a"], "expiresAfter": "8 days"}), "expiresAfter", seven),
    ];
    for (rule, field, expected) in cases {
        let found = faults(config(&json!([{"tools": ["fine"]}, rule])));
        let expected = [(format!("/approvals/1/{field}"), expected.to_owned())];
        assert_eq!(found, expected, "{rule}");
    }
    let nobody = faults(config(&json!([{"tools": ["a"], "by": []}])));
    assert_eq!(nobody[0], ("/approvals/0/by".to_owned(), who.to_owned()));
    let many = faults(config(&json!(vec![json!({"tools": ["a"]}); 51])));
    assert_eq!(many, [("/approvals".to_owned(), "expected at most 50 rules".to_owned())]);
}

#[test]
fn a_remote_agent_has_no_rules() {
    let (url, secret) = ("https://example.com/hook", "${secret.HOOK}");
    let remote = json!({
        "runtime": {"type": "webhook", "url": url, "secret": secret},
        "approvals": [{"tools": ["a"]}],
    });
    let none = "expected none: a remote agent has its own tools";
    assert_eq!(faults(remote), [("/approvals".to_owned(), none.to_owned())]);
}

#[test]
fn an_unknown_field_or_value_of_a_rule_is_refused() {
    for wrong in [
        json!({"tools": ["a"], "roles": []}),
        json!({"tools": ["a"], "action": "delay"}),
        json!({"tools": ["a"], "by": "everybody"}),
        json!({"tools": ["a"], "onExpire": "make"}),
        json!({"tools": ["a"], "expiresAfter": "soon"}),
        json!({}),
    ] {
        assert!(serde_json::from_value::<ApprovalRule>(wrong.clone()).is_err(), "{wrong}");
    }
}
