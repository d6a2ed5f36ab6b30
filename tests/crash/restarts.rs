//! The process is killed at critical moments and started again on the same folder.

use std::time::Duration;

use futures::future::join_all;
use serde_json::json;

use crate::support::{
    model::{Gate, ModelRequest, answer, say, say_held, stop, wait},
    routes::triggered_run,
    stack::Stack,
    waiting::SOON,
};

#[tokio::test]
async fn a_kill_during_a_stream_leaves_exactly_one_answer() {
    let Some(mut stack) = Stack::local().await else { return };
    let gate = Gate::closed();
    stack.model.plays(
        "ada",
        [answer([say_held("It is sun", &gate, "ny.")]), say("It is sunny.").into(), stop()],
    );
    let (person, agent, space) = stack.pair().await;
    let socket = stack.socket().await;
    socket.subscribe(&space, None).await;
    let question = stack.post(&space, &person, "Weather?").await;
    socket
        .shows(&space, "the text so far", SOON, |view| (view.live() == ["It is sun"]).then_some(()))
        .await;

    stack.kill9();
    stack.restart().await;
    stack.quiet(&space).await;

    assert_eq!(stack.texts(&space).await, ["Weather?", "It is sunny."]);
    let run = stack.run(&triggered_run(&question, &agent).unwrap()).await;
    assert_eq!(
        (run["status"].as_str(), run["attempt"].as_u64()),
        (Some("completed"), Some(2)),
        "{run}"
    );
    let again = stack.socket().await;
    again.subscribe(&space, Some(0)).await;
    let shown = again
        .shows(&space, "both messages", SOON, |view| {
            (view.messages.len() == 2).then(|| view.clone())
        })
        .await;
    assert_eq!((shown.texts(), shown.live()), (vec!["Weather?", "It is sunny."], vec![]));
}

#[tokio::test]
async fn a_kill_before_the_models_first_byte_resends_the_same_prompt() {
    let Some(mut stack) = Stack::local().await else { return };
    let gate = Gate::closed();
    stack.model.plays(
        "ada",
        [answer([wait(&gate), say("Never heard.")]), say("Here I am.").into(), stop()],
    );
    let (person, _, space) = stack.pair().await;
    stack.post(&space, &person, "Where are you?").await;
    gate.reached(1).await;

    stack.kill9();
    stack.restart().await;
    stack.quiet(&space).await;

    assert_eq!(stack.texts(&space).await, ["Where are you?", "Here I am."]);
    let requests = stack.model.requests("ada");
    let without_the_time = |request: &ModelRequest| {
        let text = request.body["messages"].to_string();
        let (before, after) = text.split_once("NOW: ").unwrap();
        (before.to_owned(), after["2026-02-18T15:07:00Z".len()..].to_owned())
    };
    assert_eq!(without_the_time(&requests[1]), without_the_time(&requests[0]));
}

#[tokio::test]
async fn a_kill_between_two_steps_repeats_neither_the_first_nor_its_message() {
    let Some(mut stack) = Stack::local().await else { return };
    let gate = Gate::closed();
    let held = answer([wait(&gate), say("Never heard.")]);
    stack.model.plays("ada", [say("First.").into(), held, say("Second.").into(), stop()]);
    let (person, agent, space) = stack.pair().await;
    let question = stack.post(&space, &person, "Two, please.").await;
    gate.reached(1).await;

    stack.kill9();
    stack.restart().await;
    stack.quiet(&space).await;

    assert_eq!(stack.texts(&space).await, ["Two, please.", "First.", "Second."]);
    let requests = stack.model.requests("ada");
    let before = requests[1].messages();
    let after = requests[2].messages();
    assert_eq!(after[..before.len()], *before, "the restarted run sends another prompt");
    let run = stack.run(&triggered_run(&question, &agent).unwrap()).await;
    let steps = run["steps"].as_array().unwrap();
    assert_eq!(run["status"], "completed");
    assert_eq!(
        steps.iter().map(|step| step["index"].as_u64().unwrap()).collect::<Vec<_>>(),
        [0, 1, 2]
    );
}

#[tokio::test]
async fn a_kill_right_after_the_201_loses_neither_the_message_nor_its_run() {
    let Some(mut stack) = Stack::local().await else { return };
    stack.model.replies("ada", |request| say(&format!("re: {}", request.trigger_text())));
    let (person, _, space) = stack.pair().await;
    for round in 0..3 {
        stack.post(&space, &person, &format!("question {round}")).await;
        stack.kill9();
        stack.restart().await;
        stack.quiet(&space).await;
    }
    let mut texts = stack.texts(&space).await;
    texts.sort();
    assert_eq!(
        texts,
        [
            "question 0",
            "question 1",
            "question 2",
            "re: question 0",
            "re: question 1",
            "re: question 2"
        ]
    );
}

#[tokio::test]
async fn a_kill_under_load_loses_no_accepted_message() {
    let Some(mut stack) = Stack::local().await else { return };
    stack.model.replies("ada", |request| {
        answer([say(&format!("re: {}", request.trigger_text()))]).slow(5, Duration::from_millis(5))
    });
    let (person, agent, space) = stack.pair().await;
    stack.side_by_side(&agent).await;
    let texts: Vec<String> = (0..30).map(|number| format!("question {number}")).collect();
    join_all(texts.iter().map(|text| stack.post(&space, &person, text))).await;

    stack.kill9();
    stack.restart().await;
    stack.quiet(&space).await;

    let stored = stack.texts(&space).await;
    for text in &texts {
        let count = |wanted: &str| stored.iter().filter(|stored| *stored == wanted).count();
        assert_eq!((count(text), count(&format!("re: {text}"))), (1, 1), "{text} in {stored:#?}");
    }
    assert!(stack.runs_of(&space).await.iter().all(|run| run["status"] == "completed"));
}

#[tokio::test]
async fn idempotency_keys_and_read_positions_survive_a_kill() {
    let Some(mut stack) = Stack::local().await else { return };
    let (person, _, space) = stack.pair().await;
    let first = stack.post_with_key(&space, &person, "once", "key").await.must_be(201);
    let read = json!({ "seq": 1, "entityId": person });
    assert!(stack.put(&format!("/v1/spaces/{space}/read"), read).await.status < 300);
    stack.quiet(&space).await;

    stack.kill9();
    stack.restart().await;

    let again = stack.post_with_key(&space, &person, "once", "key").await.must_be(201);
    assert_eq!(again["id"], first["id"]);
    assert_eq!(stack.texts(&space).await, ["once"]);
    let shown = stack.get(&format!("/v1/spaces/{space}")).await.must_be(200);
    let member = shown["members"]
        .as_array()
        .unwrap()
        .iter()
        .find(|member| member["id"] == person.as_str())
        .unwrap()
        .clone();
    assert_eq!(member["readSeq"], 1);
}
