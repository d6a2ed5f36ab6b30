//! The approval rules of an agent: how they are stored and refused, and what calls need.

use serde_json::{Value, json};

use crate::support::{client::Client, stack::Stack};

fn scripted(approvals: &Value) -> Value {
    json!({
        "model": {"provider": "scripted", "name": "demo", "script": {"rules": []}},
        "approvals": approvals,
    })
}

async fn agent_with_rules(stack: &Stack, approvals: &Value) -> String {
    stack.agent_with("Ada", scripted(approvals)).await
}

/// What a call would need.
async fn preview(operator: &Client, agent: &str, call: Value) -> Value {
    let path = format!("/v1/agents/{agent}/approvals/preview");
    operator.create(&path, call).await.must_be(200)
}

#[tokio::test]
async fn rules_are_stored_with_their_defaults_and_reset_by_null() {
    let stack = Stack::start().await;
    let agent = agent_with_rules(&stack, &json!([{"tools": ["pay", "github__*"]}])).await;
    let path = format!("/v1/entities/{agent}");
    let stored = stack.get(&path).await.must_be(200);
    let whole = json!([{
        "tools": ["pay", "github__*"], "action": "ask", "by": "members", "quorum": 1,
        "expiresAfter": "1 day", "onExpire": "decline",
    }]);
    assert_eq!(stored["agent"]["approvals"], whole);
    let reset = stack.patch(&path, json!({"agent": {"approvals": null}})).await.must_be(200);
    assert_eq!(reset["agent"].get("approvals"), None);
    assert_eq!(stack.get(&path).await.must_be(200), reset);
}

#[tokio::test]
async fn a_wrong_rule_is_422_and_says_where() {
    let stack = Stack::start().await;
    let agent = agent_with_rules(&stack, &json!([])).await;
    let path = format!("/v1/entities/{agent}");
    for (rules, pointer) in [
        (json!([{"tools": ["skip_response"]}]), "/agent/approvals/0/tools/0"),
        (json!([{"tools": ["a"]}, {"tools": ["a b"]}]), "/agent/approvals/1/tools/0"),
        (json!([{"tools": ["a"], "when": "amount > 5"}]), "/agent/approvals/0/when"),
        (json!([{"tools": ["a"], "quorum": 11}]), "/agent/approvals/0/quorum"),
        (json!([{"tools": ["a"], "by": "everybody"}]), "/agent/approvals/0/by"),
        (json!([{"tools": ["a"], "roles": []}]), "/agent/approvals/0/roles"),
    ] {
        let reply = stack.patch(&path, json!({"agent": {"approvals": rules}})).await;
        let problem = reply.must_be(422);
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{rules}: {problem}");
    }
    let elsewhere = json!({
        "runtime": {"type": "webhook", "url": "https://example.com/a", "secret": "${secret.A}"},
        "approvals": [{"tools": ["a"]}],
    });
    let body = json!({"type": "agent", "name": "Remote", "agent": elsewhere});
    let problem = stack.create("/v1/entities", body).await.must_be(422);
    assert_eq!(problem["errors"][0]["pointer"], "/agent/approvals", "{problem}");
}

#[tokio::test]
async fn a_preview_says_what_a_call_needs() {
    let stack = Stack::start().await;
    let rules = json!([
        {"tools": ["pay"], "when": "space.name == 'Bank'", "by": "owners", "quorum": 2},
        {"tools": ["pay"], "when": "input.amount > 500"},
        {"tools": ["drop_*"], "action": "deny"},
    ]);
    let agent = agent_with_rules(&stack, &rules).await;
    let [desk, bank] = [stack.space("Desk", &[]).await, stack.space("Bank", &[]).await];
    let asks = |rule: usize, by: &str, quorum: u32| {
        json!({
            "verdict": "ask", "rule": rule, "by": by, "quorum": quorum, "allowanceId": null,
        })
    };
    let other = |verdict: &str, rule: Option<usize>| {
        json!({
            "verdict": verdict, "rule": rule, "by": null, "quorum": null, "allowanceId": null,
        })
    };
    for (call, expected) in [
        (json!({"tool": "pay", "input": {"amount": 1}, "spaceId": desk}), other("make", None)),
        (json!({"tool": "pay", "input": {"amount": 501}, "spaceId": desk}), asks(1, "members", 1)),
        (json!({"tool": "pay", "input": {"amount": 1}, "spaceId": bank}), asks(0, "owners", 2)),
        // Without a space, `space.name` is an error, which counts as true.
        (json!({"tool": "pay", "input": {"amount": 1}}), asks(0, "owners", 2)),
        (json!({"tool": "drop_table", "input": {}}), other("deny", Some(2))),
        (json!({"tool": "read", "input": {}}), other("make", None)),
    ] {
        assert_eq!(preview(&stack, &agent, call.clone()).await, expected, "{call}");
    }
}

#[tokio::test]
async fn a_preview_of_no_call_is_refused() {
    let stack = Stack::start().await;
    let agent = agent_with_rules(&stack, &json!([{"tools": ["*"]}])).await;
    let person = stack.person("Sara").await;
    let path = |agent: &str| format!("/v1/agents/{agent}/approvals/preview");
    let nowhere = "spc_01KC0000000000000000000000";
    let unknown = json!({"tool": "pay", "input": {}, "spaceId": nowhere});
    let problem = stack.create(&path(&agent), unknown).await.must_be(422);
    assert_eq!(problem["errors"][0]["pointer"], "/spaceId");
    stack.create(&path(&agent), json!({"tool": "pay"})).await.must_be(422);
    for name in ["", &"x".repeat(129)] {
        let call = json!({"tool": name, "input": {}});
        let problem = stack.create(&path(&agent), call).await.must_be(422);
        assert_eq!(problem["errors"][0]["pointer"], "/tool", "{problem}");
    }
    let large = json!({"tool": "pay", "input": {"text": "x".repeat(65_536)}});
    stack.create(&path(&agent), large).await.must_be(413);
    stack.create(&path(&person), json!({"tool": "pay", "input": {}})).await.must_be(404);
}
