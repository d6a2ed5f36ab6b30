//! Canceling runs with the API.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{
    model::{Gate, answer, say, say_held, silent, stop},
    routes::triggered_run,
    socket::Socket,
    stack::{Stack, Team},
    waiting::{SOON, patient},
};

#[tokio::test]
async fn a_cancel_during_a_stream_takes_effect_at_once_and_discards_the_text() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let scripted = gate.clone();
    stack.model.replies("ada", move |_| say_held("I was about to ", &scripted, "say this."));
    let team = stack.team().await;
    let socket = stack.socket_of(&team.person).await;
    socket.subscribe(&team.space, None).await;

    // At least three of ten are fast, since other tests use the machine too. A deployed worker
    // looks for cancels every two seconds.
    let limit =
        if stack.is_local() { Duration::from_secs(1) } else { patient(Duration::from_secs(4)) };
    let mut questions: Vec<String> = Vec::new();
    let mut took: Vec<Duration> = Vec::new();
    while took.iter().filter(|took| **took < limit).count() < 3 {
        assert!(took.len() < 10, "they took {took:?}");
        questions.push(format!("question {}", took.len()));
        took.push(cancel_during_stream(&stack, &team, &socket, questions.last().unwrap()).await);
    }

    gate.open();
    assert_eq!(stack.texts(&team.space).await, questions);
    stack.post(&team.space, &team.person, "the last question").await;
    stack.quiet(&team.space).await;
    questions.extend(["the last question", "I was about to say this."].map(str::to_owned));
    assert_eq!(stack.texts(&team.space).await, questions, "only the last run posts a message");
}

/// Cancels the run of this question while its text streams. Returns the time until the socket
/// received both frames of the end.
async fn cancel_during_stream(
    stack: &Stack,
    team: &Team,
    socket: &Socket,
    question: &str,
) -> Duration {
    let question = stack.post(&team.space, &team.person, question).await;
    let run = triggered_run(&question, &team.agent).unwrap();
    socket
        .shows(&team.space, "the text so far", SOON, |view| {
            (view.live() == ["I was about to "]).then_some(())
        })
        .await;

    let canceled_at = Instant::now();
    stack.cancel(&run).await.must_be(202);
    let canceled =
        socket.frame("run.canceled", SOON, |frame| frame["run"]["id"] == run.as_str()).await;
    let started =
        socket.frame("stream.started", SOON, |frame| frame["runId"] == run.as_str()).await.body;
    let ended =
        socket.frame("stream.ended", SOON, |frame| frame["streamId"] == started["streamId"]).await;
    assert_eq!(
        (&ended.body["reason"], &ended.body["messageId"]),
        (&json!("canceled"), &Value::Null)
    );
    assert_eq!(canceled.body["run"]["status"], "canceled");
    let took = canceled.at.max(ended.at).duration_since(canceled_at);

    assert!(socket.view(&team.space).live().is_empty());
    assert_eq!(stack.cancel(&run).await.status, 409, "it has ended");
    let run = stack.run(&run).await;
    assert_eq!(
        (run["status"].as_str(), run["endReason"].as_str()),
        (Some("canceled"), Some("cancel")),
        "{run}"
    );
    assert!(run["finishedAt"].is_string());
    took
}

#[tokio::test]
async fn a_run_whose_model_does_not_answer_can_be_canceled() {
    let stack = Stack::start().await;
    stack.model.plays("ada", [silent()]);
    let (person, agent, space) = stack.pair().await;
    let question = stack.post(&space, &person, "Anyone?").await;
    let run = triggered_run(&question, &agent).unwrap();
    stack.model.nth_request("ada", 1).await;
    stack.cancel(&run).await.must_be(202);
    assert_eq!(stack.ended(&run, SOON).await["status"], "canceled");
    stack.post(&space, &person, "And now?").await;
    stack.quiet(&space).await;
}

#[tokio::test]
async fn messages_sent_before_a_cancel_stay() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    stack
        .model
        .plays("ada", [say("Said.").into(), answer([say_held("Not ", &gate, "said.")]), stop()]);
    let (person, agent, space) = stack.pair().await;
    let question = stack.post(&space, &person, "Say two things.").await;
    gate.reached(1).await;
    stack.cancel(&triggered_run(&question, &agent).unwrap()).await.must_be(202);
    gate.open();
    stack.quiet(&space).await;
    assert_eq!(stack.texts(&space).await, ["Say two things.", "Said."]);
    let run = stack.run(&triggered_run(&question, &agent).unwrap()).await;
    assert_eq!(
        (run["status"].as_str(), run["stepCount"].as_u64()),
        (Some("canceled"), Some(1)),
        "{run}"
    );
}

#[tokio::test]
async fn ended_and_missing_runs_cannot_be_canceled() {
    let stack = Stack::start().await;
    let (person, agent, space) = stack.pair().await;
    let question = stack.post(&space, &person, "Hello").await;
    stack.quiet(&space).await;
    let run = triggered_run(&question, &agent).unwrap();
    assert_eq!(stack.cancel(&run).await.status, 409);
    assert_eq!(stack.run(&run).await["status"], "completed");
    assert_eq!(stack.cancel("run_01ARZ3NDEKTSV4RRFFQ69G5FAV").await.status, 404);
}
