//! Entities and spaces: creating, reading, listing, changing and deleting them.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    api::bad_input::assert_problem,
    support::{
        routes::{id, triggered_run},
        stack::Stack,
        waiting::{SOON, wait_for},
    },
};

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
    expected["revision"] = 2.into();
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
async fn a_preview_lists_the_agents_to_trigger_and_stores_nothing() {
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
async fn a_paused_agent_is_not_triggered_and_a_retired_one_leaves_its_spaces() {
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
    assert!(triggered_run(&stack.post(&space, &person, "And now?").await, &agent).is_some());
    stack.quiet(&space).await;
    stack.delete(&path).await.must_be(204);
    wait_for("the retired agent leaves its space", SOON, async || {
        let shown = stack.get(&format!("/v1/spaces/{space}")).await.must_be(200);
        (shown["members"].as_array().unwrap().len() == 1).then_some(())
    })
    .await;
    assert_eq!(stack.post(&space, &person, "Gone?").await["dispatch"], json!([]));
}
