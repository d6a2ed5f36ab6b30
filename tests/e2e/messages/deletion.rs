//! What a deletion does besides the tombstone: to replies, decisions and stored prompts, also if
//! the process dies in its middle.

use serde_json::{Value, json};

use crate::{
    support::{
        model::{Gate, answer, call, say, stop, wait},
        routes::{seq, text, triggered_run},
        stack::Stack,
        waiting::{FORGOTTEN, SOON, wait_for},
    },
    tools::forms::scene::{FormScene, approval, approval_call},
};

const SECRET: &str = "The password is tangerine.";

/// Waits until a run shows no more of the secret than that it was deleted. Returns the run.
async fn forgotten(stack: &Stack, run: &str) -> Value {
    let run = wait_for(&format!("{run} forgets the message"), FORGOTTEN, async || {
        let shown = stack.run(run).await;
        (!shown.to_string().contains("tangerine")).then_some(shown)
    })
    .await;
    assert!(run["redactedAt"].is_string(), "{run}");
    assert!(run.to_string().contains("[deleted]"), "{run}");
    run
}

#[tokio::test]
async fn a_reply_to_a_tombstone_triggers_its_sender() {
    let stack = Stack::start().await;
    stack.model.plays("ada", [say("Shall I restart it?").into(), stop(), say("Done.").into()]);
    let (person, agent, space) = stack.pair().await;
    stack.post(&space, &person, "The server hangs.").await;
    stack.quiet(&space).await;
    assert_eq!(stack.texts(&space).await, ["The server hangs.", "Shall I restart it?"]);
    stack.delete_message(&space, 2).await.must_be(204);
    let body = json!({"senderId": person, "text": "Yes.", "replyTo": 2});
    let reply = stack.post_body(&space, &body).await;
    let parent = stack.get(&format!("/v1/spaces/{space}/messages/2")).await.must_be(200);
    let expected = json!({"seq": 2, "messageId": parent["id"], "senderId": agent});
    assert_eq!((&reply["replyTo"], &reply["thread"]), (&expected, &json!(2)));
    assert!(triggered_run(&reply, &agent).is_some());
    assert_eq!(reply["dispatch"][0]["source"], "reply");
    stack.quiet(&space).await;
    let request = stack.model.requests("ada").into_iter().find(|it| it.trigger_text() == "Yes.");
    assert!(request.unwrap().user().block("SPACE HISTORY").contains(&"#2 [deleted]".to_owned()));
}

#[tokio::test]
async fn a_message_that_is_deleted_while_a_router_is_asked_triggers_nobody() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let held = gate.clone();
    stack.model.answers("router", move |_| {
        let input = json!({"agents": [{"name": "Ada", "reason": "fits"}], "others": []});
        answer([wait(&held), call("choose", input)])
    });
    let person = stack.person("Husam").await;
    let ada = stack.agent("Ada", &stack.model.name("ada")).await;
    let bob = stack.agent("Bob", &stack.model.name("bob")).await;
    let router = json!({"model": {"provider": "openai", "name": stack.model.name("router")}});
    let settings = json!({"triggerPolicy": "router", "router": router, "gate": {"mode": "off"}});
    let space = stack.space_with("Office", &[&person, &ada, &bob], settings).await;
    let message = stack.post(&space, &person, SECRET).await;
    gate.reached(1).await;
    stack.delete_message(&space, seq(&message)).await.must_be(204);
    gate.open();
    // Its decision would come before that of a later message.
    stack.post(&space, &person, "@Bob, are you there?").await;
    stack.quiet(&space).await;
    let tombstone = stack.messages(&space).await.remove(0);
    assert!(tombstone["deleted"].is_object(), "{tombstone}");
    assert_eq!(triggered_run(&tombstone, &ada), None);
    assert_eq!(stack.model.requests("ada").len(), 0);
}

#[tokio::test]
async fn a_run_that_waits_for_people_resumes_without_a_deleted_text() {
    // The first message has a run of its own, which does nothing.
    let scene = FormScene::new(json!([approval()]), [stop(), approval_call(), stop()]).await;
    let secret = scene.stack.post(&scene.space, &scene.people[0], SECRET).await;
    scene.stack.quiet(&scene.space).await;
    let run = scene.trigger().await;
    let form = scene.requested("getApproval").await;
    scene.status(&run, "waiting_tool").await;
    assert!(scene.stack.run(&run).await.to_string().contains("tangerine"));
    scene.stack.delete_message(&scene.space, seq(&secret)).await.must_be(204);
    forgotten(&scene.stack, &run).await;
    assert_eq!(scene.stack.run(&run).await["status"], "waiting_tool");
    scene.answers(1, &form, json!({"output": {"choice": "Approve"}})).await.must_be(202);
    let ended = scene.stack.ended(&run, SOON).await;
    assert_eq!(ended["status"], "completed");
    let resumed = scene.stack.model.requests("ada").pop().unwrap();
    let history = resumed.user().block("SPACE HISTORY").to_vec();
    assert!(history.contains(&"#1 [deleted]".to_owned()), "{history:?}");
}

#[tokio::test]
async fn a_deletion_is_finished_after_the_death_of_the_process() {
    let Some(mut stack) = Stack::local().await else { return };
    stack.model.plays("ada", [stop(), say("I keep silent.").into(), stop()]);
    let (person, agent, space) = stack.pair().await;
    let secret = stack.post(&space, &person, SECRET).await;
    stack.quiet(&space).await;
    let later = stack.post(&space, &person, "What did I say?").await;
    stack.quiet(&space).await;
    stack.delete_message(&space, seq(&secret)).await.must_be(204);
    stack.kill9();
    stack.restart().await;
    for message in [&secret, &later] {
        forgotten(&stack, &triggered_run(message, &agent).unwrap()).await;
    }
    let messages = stack.messages(&space).await;
    assert!(!json!(messages).to_string().contains("tangerine"), "{messages:?}");
    // What the agent wrote itself stays.
    let others: Vec<_> = messages[1..].iter().map(text).collect();
    assert_eq!(others, ["What did I say?", "I keep silent."]);
}
