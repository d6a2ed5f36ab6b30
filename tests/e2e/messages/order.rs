//! Many simultaneous messages: they get one order, none is lost, and none is stored twice.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::join_all;
use serde_json::{Value, json};

use crate::support::{
    routes::{id, seq, text, triggered_run},
    stack::Stack,
    waiting::is_ended,
};

#[tokio::test]
async fn a_hundred_simultaneous_messages_get_one_order_and_trigger_each_agent_once() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let agents = [
        stack.agent("Ada", &stack.model.name("ada")).await,
        stack.agent("Bob", &stack.model.name("bob")).await,
    ];
    for agent in &agents {
        // On a slow machine almost all runs are active at once.
        let slots = json!({"agent": {"concurrency": {"mode": "parallel", "maxRuns": 100}}});
        stack.patch(&format!("/v1/entities/{agent}"), slots).await.must_be(200);
    }
    let space = stack.space("Team", &[&person, &agents[0], &agents[1]]).await;

    let texts: Vec<String> = (0..100).map(|number| format!("message {number}")).collect();
    let posted = join_all(texts.iter().map(|text| stack.post(&space, &person, text))).await;

    let messages = stack.messages(&space).await;
    assert_eq!(messages.iter().map(seq).collect::<Vec<_>>(), (1..=100).collect::<Vec<_>>());
    let stored: BTreeMap<String, &str> =
        messages.iter().map(|message| (id(message), text(message))).collect();
    assert_eq!(
        stored.values().copied().collect::<BTreeSet<_>>(),
        texts.iter().map(String::as_str).collect()
    );
    for (message, text) in posted.iter().zip(&texts) {
        assert_eq!(stored[&id(message)], text);
    }

    stack.quiet_within(&space, std::time::Duration::from_secs(90)).await;
    for agent in &agents {
        let expected: BTreeSet<(String, String)> = messages
            .iter()
            .map(|message| {
                (id(message), triggered_run(message, agent).expect("a run of each agent"))
            })
            .collect();
        let runs = stack.all(&format!("/v1/agents/{agent}/runs?limit=200")).await;
        assert!(runs.iter().all(is_ended));
        let found: Vec<(String, String)> =
            runs.iter().map(|run| (trigger_of(run), id(run))).collect();
        assert_eq!(found.len(), 100, "no run is listed twice");
        assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
    }
    assert_eq!(stack.runs_of(&space).await.len(), 200);
}

fn trigger_of(run: &Value) -> String {
    run["trigger"]["messageId"].as_str().unwrap_or_else(|| panic!("{run}")).to_owned()
}

#[tokio::test]
async fn an_idempotency_key_makes_one_message_however_often_it_is_sent() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let agent = stack.agent("Ada", &stack.model.name("ada")).await;
    let space = stack.space("Team", &[&person, &agent]).await;

    let replies =
        join_all((0..50).map(|_| stack.post_with_key(&space, &person, "once", "key-1"))).await;
    let ids: BTreeSet<String> = replies.into_iter().map(|reply| id(&reply.must_be(201))).collect();
    assert_eq!(ids.len(), 1);
    assert_eq!(stack.texts(&space).await, ["once"]);

    let other = stack.post_with_key(&space, &person, "other", "key-1").await;
    assert_eq!(other.status, 422, "{}", other.text);
    assert_eq!(other.header("content-type"), "application/problem+json");
    let later = stack.post_with_key(&space, &person, "once", "key-1").await.must_be(201);
    assert_eq!(ids, BTreeSet::from([id(&later)]));
    stack.post_with_key(&space, &person, "other", "key-2").await.must_be(201);
    assert_eq!(stack.texts(&space).await, ["once", "other"]);

    stack.quiet(&space).await;
    assert_eq!(stack.runs_of(&space).await.len(), 2);
}

#[tokio::test]
async fn an_idempotency_key_is_scoped_to_its_path() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let here = stack.space("Here", &[&person]).await;
    let there = stack.space("There", &[&person]).await;
    let first = stack.post_with_key(&here, &person, "hello", "key").await.must_be(201);
    let second = stack.post_with_key(&there, &person, "hello", "key").await.must_be(201);
    assert_ne!(id(&first), id(&second));
}

#[tokio::test]
async fn messages_of_runs_and_people_share_one_order() {
    let stack = Stack::start().await;
    stack.model.replies("ada", |request| {
        crate::support::model::say(&format!("re: {}", request.trigger_text()))
    });
    let person = stack.person("Husam").await;
    let agent = stack.agent("Ada", &stack.model.name("ada")).await;
    stack.side_by_side(&agent).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    let texts: Vec<String> = (0..20).map(|number| format!("question {number}")).collect();
    join_all(texts.iter().map(|text| stack.post(&space, &person, text))).await;
    stack.quiet(&space).await;

    let messages = stack.messages(&space).await;
    assert_eq!(messages.iter().map(seq).collect::<Vec<_>>(), (1..=40).collect::<Vec<_>>());
    let position = |wanted: &str| messages.iter().position(|message| text(message) == wanted);
    for text in &texts {
        assert!(
            position(text).unwrap()
                < position(&format!("re: {text}")).unwrap_or_else(|| panic!("no answer to {text}"))
        );
    }
}

#[tokio::test]
async fn an_idempotency_key_returns_its_message_even_after_the_sender_has_left() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let space = stack.space("Team", &[&person]).await;
    let first = stack.post_with_key(&space, &person, "hello", "key").await.must_be(201);
    stack.delete(&format!("/v1/spaces/{space}/members/{person}")).await.must_be(204);
    let again = stack.post_with_key(&space, &person, "hello", "key").await.must_be(201);
    assert_eq!((id(&again), seq(&again)), (id(&first), 1));
    assert_eq!(stack.post_with_key(&space, &person, "other", "key").await.status, 422);
    assert_eq!(stack.post_with_key(&space, &person, "hello", "another key").await.status, 422);
}
