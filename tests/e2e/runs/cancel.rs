//! Canceling runs with the API.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{
    model::{Gate, Part, answer, say, say_held, silent, stop},
    routes::triggered_run,
    socket::Socket,
    stack::{Stack, Team},
    waiting::{SOON, patient, wait_for},
};

#[tokio::test]
async fn a_cancel_during_a_stream_takes_effect_at_once_and_keeps_what_was_shown() {
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
    let mut texts: Vec<String> = Vec::new();
    let mut took: Vec<Duration> = Vec::new();
    while took.iter().filter(|took| **took < limit).count() < 3 {
        assert!(took.len() < 10, "they took {took:?}");
        let question = format!("question {}", took.len());
        took.push(cancel_during_stream(&stack, &team, &socket, &question).await);
        texts.extend([question, "I was about to ".to_owned()]);
    }

    gate.open();
    assert_eq!(stack.texts(&team.space).await, texts, "each is posted before the next question");
    stack.post(&team.space, &team.person, "the last question").await;
    stack.quiet(&team.space).await;
    texts.extend(["the last question", "I was about to say this."].map(str::to_owned));
    assert_eq!(stack.texts(&team.space).await, texts);
    let partial = |message: &Value| message["parts"][0]["partial"] == true;
    let messages = stack.messages(&team.space).await;
    let stopped: Vec<_> = messages.iter().filter(|message| partial(message)).collect();
    assert_eq!(stopped.len(), took.len(), "the last message is whole");
    assert!(stopped.iter().all(|message| message["dispatch"] == json!([])), "{stopped:?}");
    // The next prompt shows where the agent was stopped.
    let prompt = stack.model.requests("ada").pop().unwrap().user();
    let line = prompt.block("SPACE HISTORY").iter().find(|line| line.contains("I was about"));
    assert!(line.unwrap().ends_with("You: \"I was about to \" (stopped)"), "{line:?}");
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
    let stream = &started["streamId"];
    let ended = socket.frame("stream.ended", SOON, |frame| frame["streamId"] == *stream).await;
    let is_it = |frame: &Value| frame["message"]["streamId"] == *stream;
    let message = socket.frame("message.created", SOON, is_it).await.body["message"].clone();
    assert_eq!(
        (&ended.body["reason"], &ended.body["messageId"]),
        (&json!("canceled"), &message["id"])
    );
    let part = json!({"type": "text", "text": "I was about to ", "partial": true});
    assert_eq!((&message["parts"], &message["runId"]), (&json!([part]), &json!(run)));
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
    let step = wait_for("the partial step", SOON, async || {
        let run = stack.run(run["id"].as_str().unwrap()).await;
        run["steps"].as_array().unwrap().first().cloned()
    })
    .await;
    assert_eq!((&step["partial"], &step["finishReason"]), (&json!(true), &Value::Null), "{step}");
    assert_eq!(step["calls"][0]["input"], "{\"text\":\"I was about to ");
    assert_eq!(step["calls"][0]["status"], "canceled");
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
async fn messages_sent_before_a_cancel_stay_whole() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    stack
        .model
        .plays("ada", [say("Said.").into(), answer([say_held("Not ", &gate, "said.")]), stop()]);
    let (person, agent, space) = stack.pair().await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    let question = stack.post(&space, &person, "Say two things.").await;
    // The model has written it, and the product has read it.
    socket
        .shows(&space, "the text so far", SOON, |view| (view.live() == ["Not "]).then_some(()))
        .await;
    stack.cancel(&triggered_run(&question, &agent).unwrap()).await.must_be(202);
    // The worker notices the cancellation before its model goes on.
    let texts = wait_for("the partial message", SOON, async || {
        Some(stack.texts(&space).await).filter(|texts| texts.len() == 3)
    })
    .await;
    gate.open();
    stack.quiet(&space).await;
    assert_eq!(texts, ["Say two things.", "Said.", "Not "]);
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

#[tokio::test]
async fn a_visible_call_that_was_shown_stays_as_far_as_it_was_written() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let held = Part::Call {
        name: "lookUp".into(),
        input: json!({"word": "lighthouse"}).to_string(),
        hold: Some((14, gate.clone())),
    };
    stack.model.plays("ada", [answer([held])]);
    let tool = json!({
        "name": "lookUp",
        "description": "Looks it up.",
        "inputSchema": {"type": "object"},
        "visible": true,
        "execution": {"type": "static", "output": {"found": 3}},
    });
    let person = stack.person("Husam").await;
    let model = json!({"provider": "openai", "name": stack.model.name("ada")});
    let agent = stack.agent_with("Ada", json!({"model": model, "tools": [tool]})).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    let question = stack.post(&space, &person, "What is a lighthouse?").await;
    let run = triggered_run(&question, &agent).unwrap();
    socket.frame("stream.delta", SOON, |_| true).await;
    stack.cancel(&run).await.must_be(202);
    let is_it = |frame: &Value| frame["message"]["runId"] == run;
    let card = socket.frame("message.created", SOON, is_it).await.body["message"].clone();
    let part = &card["parts"][0];
    assert_eq!((&part["name"], &part["status"]), (&json!("lookUp"), &json!("canceled")));
    assert_eq!((&part["input"], &part["partial"]), (&json!("{\"word\":\"light"), &json!(true)));
    gate.open();
}
