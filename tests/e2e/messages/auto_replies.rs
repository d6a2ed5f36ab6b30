//! How often agents answer agents that do not name them: `maxAutoReplies`, and the message that
//! ends their talk.

use serde_json::{Value, json};

use crate::support::{
    model::{Gate, answer, say, stop, wait},
    routes::{seq, triggered_run},
    stack::Stack,
    waiting::SOON,
};

/// The configuration of an agent that answers each message once.
fn once(stack: &Stack, model: &str) -> Value {
    json!({
        "model": {"provider": "openai", "name": stack.model.name(model)},
        "concurrency": {"mode": "coalesce"},
        "loop": {"endAfterSend": true},
        "maxChainDepth": 100,
    })
}

/// The decision on an agent.
fn decision(message: &Value, agent: &str) -> Value {
    let entries = message["dispatch"].as_array().unwrap();
    entries.iter().find(|entry| entry["agentId"] == agent).unwrap().clone()
}

#[tokio::test]
async fn agents_that_always_answer_end_and_the_last_message_says_so() {
    let stack = Stack::start().await;
    stack.model.replies("talker", |_| say("I have something to say."));
    let person = stack.person("Husam").await;
    let mut members = vec![person.clone()];
    for name in ["Ada", "Bob", "Eve"] {
        members.push(stack.agent_with(name, once(&stack, "talker")).await);
    }
    let members: Vec<_> = members.iter().collect();
    let space = stack.space_with("Team", &members, json!({})).await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    for _ in 0..2 {
        let first = seq(&stack.post(&space, &person, "weather").await);
        stack.quiet(&space).await;
        let messages = stack.messages(&space).await;
        let talk = messages.iter().filter(|message| seq(message) > first).count();
        assert!((6..=12).contains(&talk), "{talk} messages of three agents");
        let last = messages.last().unwrap();
        let ended = &last["chainEnded"];
        assert!(
            *ended == json!({"by": "auto_replies", "limit": 3})
                || *ended == json!({"by": "depth", "limit": 5}),
            "{last}"
        );
        let created = |frame: &Value| frame["message"]["id"] == last["id"];
        let created = socket.frame("message.created", SOON, created).await;
        assert_eq!(created.body["message"]["chainEnded"], *ended);
        assert!(messages.iter().all(|it| it["chainEnded"].is_null() || wakes_nobody(it)));
    }
}

fn wakes_nobody(message: &Value) -> bool {
    message["dispatch"].as_array().unwrap().iter().all(|entry| entry["runId"].is_null())
}

#[tokio::test]
async fn a_reason_says_how_often_an_agent_has_answered_and_a_mention_passes() {
    let stack = Stack::start().await;
    stack.model.answers("silent", |_| stop());
    let person = stack.person("Husam").await;
    let ada = stack.agent_with("Ada", once(&stack, "silent")).await;
    let bob = stack.agent_with("Bob", once(&stack, "silent")).await;
    let settings = json!({"maxAutoReplies": 2, "maxChainDepth": 100});
    let space = stack.space_with("Team", &[&person, &ada, &bob], settings).await;
    let from_ada = async |text: &str| {
        let message = stack.post(&space, &ada, text).await;
        stack.quiet(&space).await;
        message
    };
    stack.post(&space, &person, "hello").await;
    stack.quiet(&space).await;
    for _ in 0..2 {
        assert_eq!(decision(&from_ada("well").await, &bob)["source"], "broadcast");
    }
    let expected = json!({
        "agentId": bob, "runId": null, "reason": "auto_replies",
        "reasonText": "2 answers to agents since #1",
    });
    let last = from_ada("well").await;
    assert_eq!(decision(&last, &bob), expected);
    assert_eq!(last["chainEnded"], json!({"by": "auto_replies", "limit": 2}));
    let body = json!({"senderId": ada, "text": "well"});
    let preview = stack.create(&format!("/v1/spaces/{space}/messages/preview"), body).await;
    assert_eq!(decision(&preview.must_be(200), &bob), expected);

    let named = from_ada("well, @Bob").await;
    assert_eq!(decision(&named, &bob)["source"], "mention");
    assert_eq!(named["chainEnded"], Value::Null);
    assert_eq!(decision(&from_ada("well").await, &bob), expected, "a mention does not count");

    stack.post(&space, &person, "go on").await;
    stack.quiet(&space).await;
    assert_eq!(decision(&from_ada("well").await, &bob)["source"], "broadcast");
}

#[tokio::test]
async fn a_message_that_joins_a_run_does_not_count() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let held = gate.clone();
    stack.model.replies("bob", move |_| answer([wait(&held), say("Yes.")]));
    let person = stack.person("Husam").await;
    let ada = stack.agent_with("Ada", once(&stack, "ada")).await;
    let bob = stack.agent_with("Bob", once(&stack, "bob")).await;
    let settings = json!({"maxAutoReplies": 1, "maxChainDepth": 100, "triggerPolicy": "mention"});
    let space = stack.space_with("Team", &[&person, &ada, &bob], settings).await;
    stack.post(&space, &person, "@Bob hello").await;
    stack.model.nth_request("bob", 1).await;
    let path = format!("/v1/spaces/{space}");
    stack.patch(&path, json!({"triggerPolicy": "all"})).await.must_be(200);
    let mut runs = Vec::new();
    for _ in 0..4 {
        let message = stack.post(&space, &ada, "well").await;
        runs.push(triggered_run(&message, &bob).unwrap());
    }
    gate.open();
    assert_eq!(stack.ended(&runs[0], SOON).await["endReason"], "done");
    for joined in &runs[1..] {
        assert_eq!(stack.ended(joined, SOON).await["endReason"], "coalesced");
    }
    stack.quiet(&space).await;
    let next = stack.post(&space, &ada, "well").await;
    assert_eq!(decision(&next, &bob)["reasonText"], "1 answer to agents since #1");
}

#[tokio::test]
async fn a_message_at_the_depth_of_the_space_ends_the_chain() {
    let stack = Stack::start().await;
    stack.model.replies("talker", |_| say("I have something to say."));
    let person = stack.person("Husam").await;
    let ada = stack.agent_with("Ada", once(&stack, "talker")).await;
    let bob = stack.agent_with("Bob", once(&stack, "silent")).await;
    for (policy, expected) in
        [("all", json!({"by": "depth", "limit": 1})), ("mention", json!(null))]
    {
        let settings = json!({"maxChainDepth": 1, "triggerPolicy": policy});
        let space = stack.space_with("Team", &[&person, &ada, &bob], settings).await;
        stack.post(&space, &person, "@Ada hello").await;
        stack.quiet(&space).await;
        let answer = stack.messages(&space).await.remove(1);
        assert_eq!(answer["chainEnded"], expected, "{policy}: {answer}");
    }
}

#[tokio::test]
async fn members_read_the_limit_and_only_the_operator_sets_more_than_three() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let space = stack.space("Team", &[&person]).await;
    let path = format!("/v1/spaces/{space}");
    assert_eq!(stack.get(&path).await.must_be(200)["maxAutoReplies"], 3);
    let changed = stack.patch(&path, json!({"maxAutoReplies": 100})).await.must_be(200);
    assert_eq!(changed["maxAutoReplies"], 100);
    stack.patch(&path, json!({"maxAutoReplies": 101})).await.must_be(422);
}
