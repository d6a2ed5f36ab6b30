//! Members that are removed while an agent writes.

use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep_until};

use crate::support::{
    deployed::deployed,
    model::{Gate, answer, say_held},
    routes::triggered_run,
    stack::Stack,
    waiting::SOON,
};

/// How long a run may still show its text to a member whom another process has removed. On AWS the
/// API is another process.
const ANOTHER_PROCESS_NOTICES: Duration = Duration::from_millis(250);

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
    let removed = Instant::now();
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
    if deployed().is_some() {
        sleep_until(removed + ANOTHER_PROCESS_NOTICES).await;
    }
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
    let run = stack.ended(&triggered_run(&question, &agent).unwrap(), SOON).await;
    assert_eq!((&run["status"], &run["endReason"]), (&json!("canceled"), &json!("removed")));
    gate.open();
    stack.quiet(&space).await;
    assert_eq!(stack.texts(&space).await, ["?"]);
}
