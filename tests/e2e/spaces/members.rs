//! Members of spaces: joining, leaving, names, and read positions.

mod removed;

use std::collections::BTreeSet;

use serde_json::json;

use crate::support::{
    routes::{id, triggered_run},
    stack::Stack,
    waiting::{SOON, wait_for},
};

#[tokio::test]
async fn an_agent_is_triggered_only_while_it_is_a_member() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let agent = stack.agent("Ada", &stack.model.name("ada")).await;
    let space = stack.space("Team", &[&person]).await;
    let membership = format!("/v1/spaces/{space}/members/{agent}");
    assert_eq!(stack.post(&space, &person, "Alone?").await["dispatch"], json!([]));

    let member = stack.put(&membership, json!({})).await.must_be(200);
    assert_eq!(
        (&member["id"], &member["name"], &member["type"], &member["role"]),
        (&json!(agent), &json!("Ada"), &json!("agent"), &json!("member"))
    );
    assert_eq!(stack.put(&membership, json!({})).await.must_be(200), member, "a repeated request");
    assert!(triggered_run(&stack.post(&space, &person, "Welcome!").await, &agent).is_some());
    stack.quiet(&space).await;
    let lines = stack.model.requests("ada")[0].user().timeline();
    let marks: Vec<_> = lines.iter().map(|line| (line.seen, line.text.as_str())).collect();
    assert_eq!(
        marks,
        [(true, "Alone?"), (false, "Welcome!")],
        "messages from before the agent joined count as seen"
    );

    stack.delete(&membership).await.must_be(204);
    stack.delete(&membership).await.must_be(204);
    assert_eq!(stack.post(&space, &person, "Gone?").await["dispatch"], json!([]));
    let refused = stack.post_with_key(&space, &agent, "I am still here.", "k").await;
    assert_eq!(refused.status, 422, "{}", refused.text);
}

#[tokio::test]
async fn agents_of_one_space_have_different_names() {
    let stack = Stack::start().await;
    let ada = stack.agent("Ada", "m").await;
    let other = stack.agent("ADA", "m").await;
    let space = stack.space("Team", &[&ada]).await;
    stack.put(&format!("/v1/spaces/{space}/members/{other}"), json!({})).await.must_be(409);
    stack
        .create("/v1/spaces", json!({ "name": "Both", "members": [ada, other] }))
        .await
        .must_be(409);
    let bob = stack.agent("Bob", "m").await;
    stack.put(&format!("/v1/spaces/{space}/members/{bob}"), json!({})).await.must_be(200);
    stack.patch(&format!("/v1/entities/{bob}"), json!({ "name": "ada" })).await.must_be(409);
    stack.patch(&format!("/v1/entities/{bob}"), json!({ "name": "Robert" })).await.must_be(200);
    let shown = stack.get(&format!("/v1/spaces/{space}")).await.must_be(200);
    assert!(
        shown["members"].as_array().unwrap().iter().any(|member| member["name"] == "Robert"),
        "the space shows the old name of a member"
    );
    let person = stack.person("Husam").await;
    stack.put(&format!("/v1/spaces/{space}/members/{person}"), json!({})).await.must_be(200);
    let named = stack.post(&space, &person, "@robert?").await;
    let decision = named["dispatch"]
        .as_array()
        .unwrap()
        .iter()
        .find(|decision| decision["agentId"] == bob.as_str())
        .unwrap()
        .clone();
    assert_eq!(decision["source"], "mention");
}

#[tokio::test]
async fn read_positions_only_move_forward() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let other = stack.person("Sara").await;
    let space = stack.space("Pair", &[&person, &other]).await;
    for number in 0..5 {
        stack.post(&space, &other, &format!("{number}")).await;
    }
    let socket = stack.socket().await;
    socket.subscribe(&space, None).await;
    let read = async |seq: u64| {
        stack
            .put(&format!("/v1/spaces/{space}/read"), json!({ "seq": seq, "entityId": person }))
            .await
            .must_be(200)["seq"]
            .clone()
    };
    assert_eq!((read(3).await, read(1).await, read(99).await), (json!(3), json!(3), json!(5)));
    socket
        .frame("space.read", SOON, |frame| {
            frame["seq"] == 5 && frame["entityId"] == person.as_str()
        })
        .await;
    let shown = stack.get(&format!("/v1/spaces/{space}")).await.must_be(200);
    let members = shown["members"].as_array().unwrap();
    assert!(members.iter().all(|member| member["readSeq"] == 5), "{members:?}");
}

#[tokio::test]
async fn forty_agents_are_triggered_once_each() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let mut members = vec![person.clone()];
    for number in 0..40 {
        members.push(stack.agent(&format!("Agent {number}"), &stack.model.name("many")).await);
    }
    let space = stack.space("Crowd", &members.iter().collect::<Vec<_>>()).await;
    let socket = stack.socket().await;
    socket.subscribe(&space, None).await;
    let posted = stack.post(&space, &person, "Everyone!").await;
    assert!(posted["dispatch"].is_null(), "the dispatch of more than 30 agents is decided later");
    socket.frame("message.updated", SOON, |frame| frame["message"]["id"] == posted["id"]).await;

    let message = wait_for("the dispatch decision", SOON, async || {
        let message = stack.messages(&space).await.remove(0);
        message["dispatch"].is_array().then_some(message)
    })
    .await;
    let triggered: BTreeSet<String> =
        members[1..].iter().map(|agent| triggered_run(&message, agent).unwrap()).collect();
    assert_eq!(triggered.len(), 40);
    stack.quiet(&space).await;
    let runs = stack.runs_of(&space).await;
    assert_eq!(runs.iter().map(id).collect::<BTreeSet<_>>(), triggered);
    assert_eq!(runs.len(), 40);
}
