//! The configuration of an agent: defaults, all fields, and the limit of its size.

use serde_json::{Value, json};

use crate::{
    api::bad_input::assert_problem,
    support::{routes::id, stack::Stack},
};

#[tokio::test]
async fn a_new_agent_has_the_documented_defaults() {
    let stack = Stack::start().await;
    let model = json!({ "provider": "scripted", "name": "demo" });
    let body = json!({ "type": "agent", "name": "Ada", "agent": { "model": model } });
    let reply = stack.create("/v1/entities", body).await;
    let location = reply.header("location").to_owned();
    let made = reply.must_be(201);
    assert_eq!(location, format!("/v1/entities/{}", id(&made)));
    let model = json!({
        "provider": "scripted",
        "name": "demo",
        "temperature": null,
        "maxOutputTokens": 4096,
        "contextWindow": 200_000,
        "fallback": [],
    });
    let expected = json!({
        "description": "", "instructions": "", "paused": false, "open": false,
        "signIn": false, "model": model,
        "loop": {
            "maxSteps": 20, "continueOn": "toolCalls", "timeLimit": "30 minutes",
            "remindUnsaid": true, "endAfterSend": true,
        },
        "context": { "window": 50, "history": "timeline" },
        "builtins": {
            "memories": true, "goals": true, "plans": true, "runs": true, "delegate": true,
            "messages": true, "search": true,
        },
        "concurrency": { "maxRuns": 5, "mode": "coalesce" },
        "budget": { "tokensPerDay": null, "costPerDay": null, "runsPerMinute": 60 },
        "maxChainDepth": 5, "tools": [], "mcp": { "servers": [] }, "webhooks": {},
    });
    assert_eq!(made["agent"], expected);
    assert_eq!(stack.get(&location).await.must_be(200), made);
}

#[tokio::test]
async fn a_full_configuration_is_stored_as_sent() {
    let stack = Stack::start().await;
    let agent = json!({
        "description": "d", "instructions": "i", "paused": false, "open": true,
        "signIn": false,
        "model": {
            "provider": "openai", "name": "gpt-4o", "temperature": 0.5, "maxOutputTokens": 100,
            "contextWindow": 8000, "fallback": [{ "provider": "openai", "name": "gpt-5" }],
        },
        "loop": {
            "maxSteps": 3, "continueOn": "writes", "timeLimit": "2 minutes",
            "remindUnsaid": false, "endAfterSend": false,
        },
        "context": { "window": 10, "history": "roles", "spaces": "all" },
        "builtins": {
            "memories": true, "goals": false, "plans": true, "runs": false, "delegate": false,
            "messages": false, "search": false,
        },
        "concurrency": { "maxRuns": 2, "mode": "parallel" },
        "budget": { "tokensPerDay": 1000, "costPerDay": 1.5, "runsPerMinute": 7 },
        "maxChainDepth": 3,
        "tools": [full_http_tool(), full_form_tool()],
        "mcp": { "servers": [{
            "name": "docs", "url": "https://example.com/mcp", "headers": {},
            "visible": false, "allowedTools": ["search"], "timeoutMs": 30000,
        }] },
        "approvals": [{
            "tools": ["fetchWeather", "docs__*"], "action": "ask", "when": "input.city != 'Oslo'",
            "by": "owners", "quorum": 2, "expiresAfter": "2 hours", "onExpire": "end",
        }],
        "webhooks": { "jira": { "scheme": "standard", "secrets": ["JIRA_HOOK"] } },
    });
    let body = json!({
        "type": "agent",
        "name": "Ada",
        "externalId": "ada@example.com",
        "agent": agent,
    });
    let created = stack.create("/v1/entities", body).await.must_be(201);
    assert_eq!(created["agent"], agent);
    let shown = stack.get(&format!("/v1/entities/{}", id(&created))).await.must_be(200);
    assert_eq!((&shown["agent"], &shown["externalId"]), (&agent, &json!("ada@example.com")));
}

fn full_http_tool() -> Value {
    json!({
        "name": "fetchWeather",
        "description": "…",
        "inputSchema": { "type": "object" },
        "visible": true,
        "readOnly": true,
        "idempotent": true,
        "execution": {
            "type": "http",
            "method": "GET",
            "url": "https://api.example.com/weather?city={{input.city}}",
            "headers": { "Authorization": "Bearer ${secret.WEATHER_KEY}" },
            "timeoutMs": 10000,
        },
    })
}

fn full_form_tool() -> Value {
    json!({
        "name": "getApproval",
        "description": "…",
        "inputSchema": {},
        "visible": false,
        "readOnly": false,
        "idempotent": false,
        "execution": {
            "type": "space",
            "ui": "form",
            "resultSchema": {},
            "expiresAfter": "10 minutes",
            "answerBy": "humans",
        },
    })
}

#[tokio::test]
async fn the_size_of_a_whole_configuration_is_limited() {
    let stack = Stack::start().await;
    let script = json!({ "rules": [{ "steps": [{ "text": "a".repeat(180_000) }] }] });
    let agent = stack
        .agent_with(
            "Ada",
            json!({ "model": { "provider": "scripted", "name": "demo", "script": script } }),
        )
        .await;
    let path = format!("/v1/entities/{agent}");
    let tools = |count: usize| {
        let tool = |number: usize| {
            let execution = json!({ "type": "static", "output": "o".repeat(20_000) });
            json!({
                "name": format!("tool{number}"),
                "description": "",
                "inputSchema": { "type": "object" },
                "execution": execution,
            })
        };
        json!({ "agent": { "tools": (0..count).map(tool).collect::<Vec<_>>() } })
    };
    for count in [12, 10, 5] {
        let refused = stack.patch(&path, tools(count)).await;
        assert_problem(&refused, &[422], "262144 bytes", "an agent with too large tools");
        assert_eq!(refused.body["errors"][0]["pointer"], "/agent");
    }
    let fits = stack.patch(&path, tools(3)).await.must_be(200);
    assert_eq!(stack.get(&path).await.must_be(200), fits);
}
