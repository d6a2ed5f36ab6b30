//! Members of spaces: joining, leaving, names, and read positions.

use std::collections::BTreeSet;

use serde_json::json;

use crate::support::{
    model::{Gate, answer, say_held},
    routes::{id, woken},
    stack::Stack,
    waiting::{SOON, wait_for},
};

#[tokio::test]
async fn an_agent_is_woken_only_while_it_is_a_member() {
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
    assert!(woken(&stack.post(&space, &person, "Welcome!").await, &agent).is_some());
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
async fn a_member_removed_during_a_stream_receives_no_more_of_it() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let gate = Gate::closed();
    stack.model.plays("ada", [answer([say_held("For members ", &gate, "only: the secret.")])]);
    let stays = stack.person("Husam").await;
    let goes = stack.person("Sara").await;
    let agent = stack.agent("Ada", &stack.model.name("ada")).await;
    let space = stack.space("Team", &[&stays, &goes, &agent]).await;
    let staying = stack.socket_of(&stays).await;
    let going = stack.socket_of(&goes).await;
    staying.subscribe(&space, None).await;
    going.subscribe(&space, None).await;
    let signed_in = stack.as_entity(&goes);
    let by_token = signed_in.socket().await;
    by_token.subscribe(&space, None).await;
    stack.post(&space, &stays, "?").await;
    for socket in [&going, &by_token] {
        socket
            .shows(&space, "the first words", SOON, |view| {
                (view.live() == ["For members "]).then_some(())
            })
            .await;
    }
    stack.delete(&format!("/v1/spaces/{space}/members/{goes}")).await.must_be(204);
    staying.frame("member.left", SOON, |frame| frame["entityId"] == goes.as_str()).await;
    for socket in [&going, &by_token] {
        let unsubscribed = socket
            .frame("unsubscribed", SOON, |frame| frame["spaceId"] == space.as_str())
            .await
            .body;
        assert_eq!(unsubscribed["reason"], "removed");
        let refused = socket.request(json!({ "action": "subscribe", "spaceId": space })).await;
        assert_eq!((&refused["type"], &refused["status"]), (&json!("error"), &json!(404)));
        let refused = socket
            .request(json!({ "action": "send", "spaceId": space, "text": "Let me in" }))
            .await;
        assert_eq!((&refused["type"], &refused["status"]), (&json!("error"), &json!(404)));
    }
    assert_eq!(signed_in.get(&format!("/v1/spaces/{space}/messages")).await.status, 404);
    gate.open();
    staying
        .shows(&space, "the message", SOON, |view| (view.messages.len() == 2).then_some(()))
        .await;
    stack.quiet(&space).await;
    for socket in [&going, &by_token] {
        assert!(socket.is_open().await);
        assert!(
            socket.frames().iter().all(|frame| !frame.body.to_string().contains("secret")),
            "{:?}",
            socket.frames()
        );
    }
}

#[tokio::test]
async fn the_run_of_a_removed_agent_is_canceled_and_posts_nothing() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    stack.model.plays("ada", [answer([say_held("I was about ", &gate, "to say.")])]);
    let person = stack.person("Husam").await;
    let agent = stack.agent("Ada", &stack.model.name("ada")).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    let question = stack.post(&space, &person, "?").await;
    gate.reached(1).await;
    stack.delete(&format!("/v1/spaces/{space}/members/{agent}")).await.must_be(204);
    let run = stack.ended(&woken(&question, &agent).unwrap(), SOON).await;
    assert_eq!((&run["status"], &run["endReason"]), (&json!("canceled"), &json!("removed")));
    gate.open();
    stack.quiet(&space).await;
    assert_eq!(stack.texts(&space).await, ["?"]);
}

#[tokio::test]
async fn read_positions_only_move_forward() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let space = stack.space("Alone", &[&person]).await;
    for number in 0..5 {
        stack.post(&space, &person, &format!("{number}")).await;
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
            frame["seq"] == 3 && frame["entityId"] == person.as_str()
        })
        .await;
    let shown = stack.get(&format!("/v1/spaces/{space}")).await.must_be(200);
    assert_eq!(shown["members"][0]["readSeq"], 5);
}

#[tokio::test]
async fn forty_agents_are_woken_once_each() {
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
    let woken: BTreeSet<String> =
        members[1..].iter().map(|agent| woken(&message, agent).unwrap()).collect();
    assert_eq!(woken.len(), 40);
    stack.quiet(&space).await;
    let runs = stack.runs_of(&space).await;
    assert_eq!(runs.iter().map(id).collect::<BTreeSet<_>>(), woken);
    assert_eq!(runs.len(), 40);
}
