//! A run is canceled.

use std::time::{Duration, Instant};

use super::{
    model::{Gate, answer, say, say_held, silent, stop},
    routes::woken,
    stack::Stack,
    waiting::{SOON, patient},
};

#[tokio::test]
async fn a_cancel_in_mid_stream_is_seen_at_once_and_keeps_nothing_of_the_text() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let scripted = gate.clone();
    stack.model.replies("ada", move |_| say_held("I was about to ", &scripted, "say this."));
    let (person, agent) = (stack.person("Husam").await, stack.agent("Ada", &stack.model.name("ada")).await);
    let space = stack.space("Team", &[&person, &agent]).await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;

    // Three fast ones out of ten, since other tests use the machine too. A deployed worker looks every two seconds.
    let limit = if stack.is_local() { Duration::from_secs(1) } else { patient(Duration::from_secs(4)) };
    let (mut questions, mut took) = (Vec::<String>::new(), Vec::<Duration>::new());
    while took.iter().filter(|took| **took < limit).count() < 3 {
        assert!(took.len() < 10, "they took {took:?}");
        questions.push(format!("question {}", took.len()));
        let question = stack.post(&space, &person, questions.last().unwrap()).await;
        let run = woken(&question, &agent).unwrap();
        socket.shows(&space, "the text so far", SOON, |view| (view.live() == ["I was about to "]).then_some(())).await;

        let asked = Instant::now();
        stack.cancel(&run).await.must_be(202);
        let canceled = socket.frame("run.canceled", SOON, |frame| frame["run"]["id"] == run.as_str()).await;
        let started = socket.frame("stream.started", SOON, |frame| frame["runId"] == run.as_str()).await.body;
        let ended = socket.frame("stream.ended", SOON, |frame| frame["streamId"] == started["streamId"]).await;
        assert_eq!((&ended.body["reason"], &ended.body["messageId"]), (&"canceled".into(), &serde_json::Value::Null));
        assert_eq!(canceled.body["run"]["status"], "canceled");
        took.push(canceled.at.max(ended.at).duration_since(asked));

        assert!(socket.view(&space).live().is_empty());
        assert_eq!(stack.cancel(&run).await.status, 409, "it has ended");
        let run = stack.run(&run).await;
        assert_eq!((run["status"].as_str(), run["endReason"].as_str()), (Some("canceled"), Some("cancel")), "{run}");
        assert!(run["finishedAt"].is_string());
    }

    gate.open();
    assert_eq!(stack.texts(&space).await, questions);
    stack.post(&space, &person, "the last question").await;
    stack.quiet(&space).await;
    questions.extend(["the last question", "I was about to say this."].map(str::to_owned));
    assert_eq!(stack.texts(&space).await, questions, "canceled runs write nothing, later ones do");
}

#[tokio::test]
async fn a_run_whose_model_says_nothing_can_be_canceled() {
    let stack = Stack::start().await;
    stack.model.plays("ada", [silent()]);
    let (person, agent) = (stack.person("Husam").await, stack.agent("Ada", &stack.model.name("ada")).await);
    let space = stack.space("Team", &[&person, &agent]).await;
    let question = stack.post(&space, &person, "Anyone?").await;
    let run = woken(&question, &agent).unwrap();
    stack.model.asked_times("ada", 1).await;
    stack.cancel(&run).await.must_be(202);
    assert_eq!(stack.ended(&run, SOON).await["status"], "canceled");
    stack.post(&space, &person, "And now?").await;
    stack.quiet(&space).await;
}

#[tokio::test]
async fn what_was_said_before_a_cancel_stays() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    stack.model.plays("ada", [say("Said.").into(), answer([say_held("Not ", &gate, "said.")]), stop()]);
    let (person, agent) = (stack.person("Husam").await, stack.agent("Ada", &stack.model.name("ada")).await);
    let space = stack.space("Team", &[&person, &agent]).await;
    let question = stack.post(&space, &person, "Say two things.").await;
    gate.reached(1).await;
    stack.cancel(&woken(&question, &agent).unwrap()).await.must_be(202);
    gate.open();
    stack.quiet(&space).await;
    assert_eq!(stack.texts(&space).await, ["Say two things.", "Said."]);
    let run = stack.run(&woken(&question, &agent).unwrap()).await;
    assert_eq!((run["status"].as_str(), run["stepCount"].as_u64()), (Some("canceled"), Some(1)), "{run}");
}

#[tokio::test]
async fn a_run_that_has_ended_or_never_was_is_not_canceled() {
    let stack = Stack::start().await;
    let (person, agent) = (stack.person("Husam").await, stack.agent("Ada", &stack.model.name("ada")).await);
    let space = stack.space("Team", &[&person, &agent]).await;
    let question = stack.post(&space, &person, "Hello").await;
    stack.quiet(&space).await;
    let run = woken(&question, &agent).unwrap();
    assert_eq!(stack.cancel(&run).await.status, 409);
    assert_eq!(stack.run(&run).await["status"], "completed");
    assert_eq!(stack.cancel("run_01ARZ3NDEKTSV4RRFFQ69G5FAV").await.status, 404);
}
