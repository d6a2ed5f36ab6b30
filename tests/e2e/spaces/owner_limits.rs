//! What an owner can set in a space beside what the operator has set, and the forms of a budget.

use serde_json::{Value, json};

use crate::support::{client::Client, stack::Stack, tokens::SECRET};

/// A space of the operator, and a client of its owner.
async fn governed(stack: &Stack, settings: Value) -> (Client, String) {
    let owner = stack.person("Noor").await;
    let mut settings = settings;
    settings["name"] = "Governed".into();
    let made = stack.create("/v1/spaces", settings).await.must_be(201);
    let path = format!("/v1/spaces/{}", made["id"].as_str().unwrap());
    let role = json!({"role": "owner"});
    stack.put(&format!("{path}/members/{owner}"), role).await.must_be(200);
    (stack.as_entity(&owner), path)
}

async fn stack() -> Option<Stack> {
    Stack::with_env(&[("SMARTSPACE_JWT_SECRET", SECRET)]).await
}

/// Refuses a patch with 403 and a text that begins with the name of a setting.
async fn must_refuse(client: &Client, path: &str, patch: Value, setting: &str) {
    let refused = client.patch(path, patch.clone()).await.must_be(403);
    let detail = refused["detail"].as_str().unwrap();
    assert!(detail.starts_with(&format!("{setting}: only the operator can ")), "{patch}: {detail}");
}

#[tokio::test]
async fn an_owner_cannot_raise_what_the_operator_has_lowered() {
    let Some(stack) = stack().await else { return };
    let low = json!({"maxChainDepth": 2, "maxAutoReplies": 1, "budget": {
        "runsPerMinute": 10, "tokensPerDay": 1_000, "costPerDay": 1}});
    let (owner, path) = governed(&stack, low).await;
    let raised = [
        (json!({"maxChainDepth": 3}), "maxChainDepth"),
        (json!({"maxChainDepth": null}), "maxChainDepth"),
        (json!({"maxAutoReplies": 2}), "maxAutoReplies"),
        (json!({"budget": {"runsPerMinute": 11}}), "budget.runsPerMinute"),
        (json!({"budget": {"tokensPerDay": 1_001}}), "budget.tokensPerDay"),
        (json!({"budget": {"tokensPerDay": null}}), "budget.tokensPerDay"),
        (json!({"budget": {"costPerDay": null}}), "budget.costPerDay"),
        (json!({"budget": null}), "budget.runsPerMinute"),
    ];
    // What the owner has lowered, it raises again, up to the operator's limit.
    for lowered in [false, true] {
        if lowered {
            let lower = json!({"maxChainDepth": 1, "budget": {
                "runsPerMinute": 5, "tokensPerDay": 10, "costPerDay": 0.5}});
            owner.patch(&path, lower).await.must_be(200);
        }
        for (patch, setting) in &raised {
            must_refuse(&owner, &path, patch.clone(), setting).await;
        }
    }
    let back = json!({"maxChainDepth": 2, "budget": {
        "runsPerMinute": 10, "tokensPerDay": 1_000, "costPerDay": 1}});
    owner.patch(&path, back).await.must_be(200);

    stack.patch(&path, json!({"budget": {"tokensPerDay": null}})).await.must_be(200);
    owner.patch(&path, json!({"budget": {"tokensPerDay": 5}})).await.must_be(200);
    owner.patch(&path, json!({"budget": {"tokensPerDay": 9_000}})).await.must_be(200);
    let after = owner.patch(&path, json!({"budget": {"tokensPerDay": null}})).await.must_be(200);
    assert_eq!(after["budget"]["tokensPerDay"], Value::Null);
    // A limit that the operator sets later holds from then on.
    stack.patch(&path, json!({"budget": {"runsPerMinute": 3}})).await.must_be(200);
    let four = json!({"budget": {"runsPerMinute": 4}});
    must_refuse(&owner, &path, four, "budget.runsPerMinute").await;
}

#[tokio::test]
async fn an_owner_keeps_the_operators_router_and_chooses_the_policy_beside_it() {
    let Some(stack) = stack().await else { return };
    let model = json!({"provider": "openai", "name": "m"});
    let router = json!({"model": model, "instructions": "i".repeat(30_000)});
    let (owner, path) = governed(&stack, json!({"router": router})).await;
    owner.patch(&path, json!({"triggerPolicy": "router"})).await.must_be(200);
    let other = json!({"router": {"model": {"name": "dear"}}});
    must_refuse(&owner, &path, other, "router.model").await;
    must_refuse(&owner, &path, json!({"router": {"model": null}}), "router.model").await;
    must_refuse(&owner, &path, json!({"router": null}), "router.model").await;
    let long = json!({"router": {"instructions": "j".repeat(2_001)}});
    must_refuse(&owner, &path, long, "router.instructions").await;
    let changed = json!({"router": {"instructions": "Short.", "maxAgents": 1}});
    let changed = owner.patch(&path, changed).await.must_be(200);
    assert_eq!(changed["router"]["model"], model);
    assert_eq!(changed["router"]["instructions"], "Short.");
}

#[tokio::test]
async fn the_policy_router_needs_a_model_that_the_operator_sets_or_a_gate() {
    let Some(stack) = stack().await else { return };
    let (owner, path) = governed(&stack, json!({})).await;
    let detail = "the policy router needs a model here, or gate.mode on: set one of them, or \
                  choose another triggerPolicy";
    let expected = json!([{"pointer": "/router/model", "detail": detail}]);
    let policy = json!({"triggerPolicy": "router", "gate": {"mode": "off"}});
    let refused = owner.patch(&path, policy.clone()).await.must_be(422);
    assert_eq!(refused["errors"], expected);
    let new = json!({"name": "New", "triggerPolicy": "router", "gate": {"mode": "shadow"}});
    for client in [&owner, &*stack] {
        let refused = client.create("/v1/spaces", new.clone()).await.must_be(422);
        assert_eq!(refused["errors"], expected);
    }
    owner.patch(&path, json!({"triggerPolicy": "router"})).await.must_be(200);
    let refused = owner.patch(&path, json!({"gate": {"mode": "off"}})).await.must_be(422);
    assert_eq!(refused["errors"], expected);
    let quiet = json!({"gate": {"dial": "quiet"}});
    let changed = owner.patch(&path, quiet).await.must_be(200);
    assert_eq!(changed["gate"], json!({"mode": "on", "dial": "quiet"}));
    let env = [("SMARTSPACE_JWT_SECRET", SECRET), ("SMARTSPACE_ROUTER_MODEL", "openai/any")];
    let Some(stack) = Stack::with_env(&env).await else { return };
    let (owner, path) = governed(&stack, json!({})).await;
    let changed = owner.patch(&path, policy).await.must_be(200);
    assert_eq!((&changed["triggerPolicy"], &changed["router"]), (&json!("router"), &Value::Null));
    owner.create("/v1/spaces", new).await.must_be(201);
}

#[tokio::test]
async fn an_absent_an_empty_and_a_null_budget_have_the_same_default() {
    let stack = Stack::start().await;
    let default = json!({"tokensPerDay": null, "costPerDay": null, "runsPerMinute": 120});
    for budget in [
        None,
        Some(json!({})),
        Some(Value::Null),
        Some(json!({"runsPerMinute": null})),
        Some(json!({"tokensPerDay": null, "costPerDay": null, "runsPerMinute": null})),
    ] {
        let mut new = json!({"name": "New", "maxChainDepth": null, "router": null});
        if let Some(budget) = &budget {
            new["budget"] = budget.clone();
        }
        let made = stack.create("/v1/spaces", new).await.must_be(201);
        assert_eq!((&made["budget"], &made["maxChainDepth"]), (&default, &json!(5)), "{budget:?}");
        let path = format!("/v1/spaces/{}", made["id"].as_str().unwrap());
        let patch = budget.map_or(json!({}), |budget| json!({"budget": budget}));
        let patched = stack.patch(&path, patch).await.must_be(200);
        assert_eq!(patched["budget"], default);
        let set = json!({"budget": {"runsPerMinute": 7, "tokensPerDay": 9}});
        stack.patch(&path, set).await.must_be(200);
        let patched = stack.patch(&path, json!({"budget": {"runsPerMinute": null}})).await;
        assert_eq!(patched.must_be(200)["budget"]["runsPerMinute"], 120);
        let patched = stack.patch(&path, json!({"budget": null})).await.must_be(200);
        assert_eq!(patched["budget"], default);
    }
}

#[tokio::test]
async fn unknown_names_are_refused_even_with_null() {
    let stack = Stack::start().await;
    let path = format!("/v1/spaces/{}", stack.space("Team", &[]).await);
    for (patch, name) in [
        (json!({"budgets": null}), "budgets"),
        (json!({"members": null}), "members"),
        (json!({"budget": {"runsPerHour": null}}), "runsPerHour"),
        (json!({"router": {"modell": null}}), "modell"),
        (json!({"budget": {"runsPerMinute": null, "x": null}}), "`x`"),
    ] {
        let refused = stack.patch(&path, patch.clone()).await.must_be(422);
        let detail = refused["errors"][0]["detail"].as_str().unwrap();
        assert!(detail.starts_with("unknown field") && detail.contains(name), "{patch}: {detail}");
    }
    let new = json!({"name": "New", "budget": {"runsPerHour": null}});
    stack.create("/v1/spaces", new).await.must_be(422);
}
