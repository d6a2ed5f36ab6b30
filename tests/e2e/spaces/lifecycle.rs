//! Entities and spaces: creating, reading, listing, changing and deleting them.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    api::bad_input::assert_problem,
    support::{
        routes::{id, seq, woken},
        stack::Stack,
        waiting::{SOON, wait_for},
    },
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
        "description": "", "instructions": "", "paused": false, "open": false, "model": model,
        "loop": { "maxSteps": 20, "continueOn": "toolCalls", "timeLimit": "30 minutes" },
        "context": { "window": 50, "history": "timeline" },
        "concurrency": { "maxRuns": 5, "mode": "parallel" },
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
        "model": {
            "provider": "openai", "name": "m", "temperature": 0.5, "maxOutputTokens": 100,
            "contextWindow": 8000, "fallback": [{ "provider": "anthropic", "name": "n" }],
        },
        "loop": { "maxSteps": 3, "continueOn": "writes", "timeLimit": "2 minutes" },
        "context": { "window": 10, "history": "roles", "spaces": "all" },
        "concurrency": { "maxRuns": 2, "mode": "coalesce" },
        "budget": { "tokensPerDay": 1000, "costPerDay": 1.5, "runsPerMinute": 7 },
        "maxChainDepth": 3,
        "tools": [full_http_tool(), full_form_tool()],
        "mcp": { "servers": [{
            "name": "docs", "url": "https://example.com/mcp", "headers": {},
            "visible": false, "allowedTools": ["search"], "timeoutMs": 30000,
        }] },
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
async fn an_external_id_is_unique_and_free_again_after_deletion() {
    let stack = Stack::start().await;
    let body = json!({ "type": "human", "name": "Sara", "externalId": "sara-1" });
    let first = id(&stack.create("/v1/entities", body.clone()).await.must_be(201));
    stack.create("/v1/entities", body.clone()).await.must_be(409);
    let other = stack.person("Other").await;
    stack
        .patch(&format!("/v1/entities/{other}"), json!({ "externalId": "sara-1" }))
        .await
        .must_be(409);
    stack.delete(&format!("/v1/entities/{first}")).await.must_be(204);
    stack.get(&format!("/v1/entities/{first}")).await.must_be(404);
    stack.delete(&format!("/v1/entities/{first}")).await.must_be(404);
    stack.create("/v1/entities", body).await.must_be(201);
}

#[tokio::test]
async fn a_merge_patch_changes_only_the_given_fields() {
    let stack = Stack::start().await;
    let agent = stack.agent("Ada", "m").await;
    let path = format!("/v1/entities/{agent}");
    let before = stack.get(&path).await.must_be(200);
    let patch = json!({
        "name": "Ada II",
        "agent": { "paused": true, "model": { "temperature": 1.0 }, "loop": { "maxSteps": 7 } },
    });
    let changed = stack.patch(&path, patch).await.must_be(200);
    let mut expected = before.clone();
    expected["name"] = "Ada II".into();
    expected["agent"]["paused"] = true.into();
    expected["agent"]["model"]["temperature"] = json!(1.0);
    expected["agent"]["loop"]["maxSteps"] = 7.into();
    assert_eq!(changed, expected);
    assert_eq!(stack.get(&path).await.must_be(200), expected);
    // Null restores the default.
    let back = stack.patch(&path, json!({ "agent": { "loop": null } })).await.must_be(200);
    assert_eq!(back["agent"]["loop"]["maxSteps"], 20);
    stack.patch(&path, json!({ "type": "human" })).await.must_be(422);
    stack.patch(&path, json!({ "agent": { "model": null } })).await.must_be(422);
    stack.patch(&path, json!({ "id": "x" })).await.must_be(422);
}

#[tokio::test]
async fn paged_lists_contain_every_item_once() {
    let stack = Stack::start().await;
    let mut made = Vec::new();
    for number in 0..7 {
        made.push(stack.person(&format!("Person {number}")).await);
    }
    let mut spaces = Vec::new();
    for number in 0..5 {
        spaces.push(stack.space(&format!("Space {number}"), &[&made[0]]).await);
    }
    for (path, expected) in [("/v1/entities?limit=3", &made), ("/v1/spaces?limit=2", &spaces)] {
        let listed: Vec<_> = stack.all(path).await.iter().map(id).collect();
        let ours: Vec<_> = listed.iter().filter(|id| expected.contains(id)).collect();
        assert_eq!(ours.len(), expected.len());
        assert!(expected.iter().all(|id| listed.contains(id)));
    }
}

#[tokio::test]
async fn a_space_can_be_read_changed_and_deleted() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let agent = stack.agent("Ada", "m").await;
    let reply =
        stack.create("/v1/spaces", json!({ "name": "Team", "members": [person, agent] })).await;
    let location = reply.header("location").to_owned();
    let made = reply.must_be(201);
    assert_eq!(location, format!("/v1/spaces/{}", id(&made)));
    let names = |space: &Value| {
        space["members"]
            .as_array()
            .unwrap()
            .iter()
            .map(|member| member["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&made), ["Husam", "Ada"]);
    assert_eq!(
        (&made["triggerPolicy"], &made["maxChainDepth"], &made["seq"]),
        (&json!("all"), &json!(5), &json!(0))
    );
    assert_eq!(made["budget"]["runsPerMinute"], 120);

    let socket = stack.socket_of(&person).await;
    socket.subscribe(&id(&made), None).await;
    let changed = stack
        .patch(&location, json!({ "name": "Team 2", "triggerPolicy": "mention" }))
        .await
        .must_be(200);
    assert_eq!(
        (&changed["name"], &changed["triggerPolicy"]),
        (&json!("Team 2"), &json!("mention"))
    );
    let updated = socket.frame("space.updated", SOON, |_| true).await.body;
    assert_eq!(updated["space"]["name"], "Team 2");

    stack.delete(&location).await.must_be(204);
    stack.get(&location).await.must_be(404);
    socket.frame("space.deleted", SOON, |frame| frame["spaceId"] == made["id"]).await;
    let refused = stack.post_with_key(&id(&made), &person, "Anybody?", "k").await;
    assert_eq!(refused.status, 404, "{}", refused.text);
    assert!(stack.all("/v1/spaces").await.iter().all(|space| space["id"] != made["id"]));
}

#[tokio::test]
async fn a_post_with_an_idempotency_key_creates_one_entity_or_space() {
    let stack = Stack::start().await;
    let keyed = async |path: &str, body: &Value| {
        let request = stack
            .request(Method::POST, path)
            .bearer_auth(&stack.key)
            .header("idempotency-key", "same")
            .json(body);
        stack.send(request).await
    };
    for (path, body, other) in [
        (
            "/v1/entities",
            json!({ "type": "human", "name": "One" }),
            json!({ "type": "human", "name": "Two" }),
        ),
        ("/v1/spaces", json!({ "name": "One" }), json!({ "name": "Two" })),
    ] {
        let first = keyed(path, &body).await.must_be(201);
        assert_eq!(keyed(path, &body).await.must_be(201)["id"], first["id"]);
        keyed(path, &other).await.must_be(422);
        stack.delete(&format!("{path}/{}", id(&first))).await.must_be(204);
        assert_problem(
            &keyed(path, &body).await,
            &[409],
            "idempotency-key",
            "the key of a deleted object",
        );
    }
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

#[tokio::test]
async fn messages_can_be_paged_in_both_directions() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let space = stack.space("Alone", &[&person]).await;
    for number in 1..=9 {
        stack.post(&space, &person, &format!("message {number}")).await;
    }
    let page = async |query: &str| {
        let page = stack.get(&format!("/v1/spaces/{space}/messages?{query}")).await.must_be(200);
        let seqs: Vec<u64> = page["items"].as_array().unwrap().iter().map(seq).collect();
        (seqs, page["nextCursor"].as_str().map(str::to_owned))
    };
    let (newest, next) = page("limit=4").await;
    assert_eq!(newest, [6, 7, 8, 9]);
    let (older, next) = page(&format!("limit=4&cursor={}", next.unwrap())).await;
    assert_eq!(older, [2, 3, 4, 5]);
    assert_eq!(page(&format!("limit=4&cursor={}", next.unwrap())).await, (vec![1], None));
    assert_eq!(page("after=7").await, (vec![8, 9], None));
    assert_eq!(page("before=3").await, (vec![1, 2], None));
    let (first, next) = page("after=0&limit=5").await;
    assert_eq!(first, [1, 2, 3, 4, 5]);
    assert_eq!(page(&format!("limit=5&cursor={}", next.unwrap())).await, (vec![6, 7, 8, 9], None));
    assert_eq!(page("after=9").await, (vec![], None));
}

#[tokio::test]
async fn a_preview_lists_the_agents_to_wake_and_stores_nothing() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let agent = stack.agent("Ada", "m").await;
    let space = stack.space("Team", &[&person, &agent]).await;
    let path = format!("/v1/spaces/{space}/messages/preview");
    let body = json!({ "text": "@Ada?", "senderId": person });
    let preview = stack.create(&path, body).await.must_be(200);
    assert_eq!(
        preview,
        json!({ "dispatch": [{ "agentId": agent, "runId": null, "source": "mention" }] })
    );
    assert!(stack.messages(&space).await.is_empty());
    assert!(stack.runs_of(&space).await.is_empty());
}

#[tokio::test]
async fn a_paused_agent_is_not_woken_and_a_retired_one_leaves_its_spaces() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let agent = stack.agent("Ada", &stack.model.name("ada")).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    let path = format!("/v1/entities/{agent}");
    stack.patch(&path, json!({ "agent": { "paused": true } })).await.must_be(200);
    let ignored = stack.post(&space, &person, "Awake?").await;
    assert_eq!(
        ignored["dispatch"],
        json!([{ "agentId": agent, "runId": null, "reason": "paused" }])
    );
    stack.patch(&path, json!({ "agent": { "paused": false } })).await.must_be(200);
    assert!(woken(&stack.post(&space, &person, "And now?").await, &agent).is_some());
    stack.quiet(&space).await;
    stack.delete(&path).await.must_be(204);
    wait_for("the retired agent leaves its space", SOON, async || {
        let shown = stack.get(&format!("/v1/spaces/{space}")).await.must_be(200);
        (shown["members"].as_array().unwrap().len() == 1).then_some(())
    })
    .await;
    assert_eq!(stack.post(&space, &person, "Gone?").await["dispatch"], json!([]));
}
