//! Concurrent runs of one agent: `stop_run` and `absorb_run`.

mod chains;
mod ended;

use serde_json::{Value, json};

use crate::support::{
    model::{Answer, Gate, ModelRequest, answer, call, say, say_held, stop, wait},
    routes::triggered_run,
    stack::Stack,
    waiting::SOON,
};

/// The ids of the agent's other active runs, read from its prompt.
fn other_runs(request: &ModelRequest) -> Vec<String> {
    run_ids(request.user().block("ACTIVE RUNS").iter().map(String::as_str))
}

/// The ids of the runs that lines list.
fn run_ids<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    lines
        .filter(|line| line.contains("run_"))
        .map(|line| line.split_whitespace().nth(1).unwrap().to_owned())
        .collect()
}

/// Calls `absorb_run` for each of the agent's other runs.
fn absorb_all(request: &ModelRequest) -> Answer {
    call_for_each_other_run("absorb_run", request)
}

fn call_for_each_other_run(tool: &str, request: &ModelRequest) -> Answer {
    Answer::of(other_runs(request).iter().map(|run| call(tool, json!({"runId": run}))).collect())
}

/// The result of the successful `absorb_run` call.
fn absorbed(request: &ModelRequest) -> Value {
    request
        .results()
        .iter()
        .find(|result| result["success"] == true)
        .map(|result| result["absorbed"].clone())
        .unwrap_or_default()
}

async fn assert_canceled(stack: &Stack, run: &str, reason: &str) {
    let run = stack.ended(run, SOON).await;
    assert_eq!(
        (run["status"].as_str(), run["endReason"].as_str()),
        (Some("canceled"), Some(reason)),
        "{run}"
    );
}

#[tokio::test]
async fn absorbing_a_run_in_time_discards_its_unfinished_message() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let held = gate.clone();
    stack.model.answers("ada", move |request| {
        match (request.trigger_text().as_str(), request.step()) {
            ("Book a flight to Oslo", 0) => {
                answer([say_held("Booking a fl", &held, "ight to Oslo.")])
            }
            ("Sorry, to Bergen", 0) => absorb_all(request),
            ("Sorry, to Bergen", 1) => {
                let before = absorbed(request);
                say(&format!(
                    "Instead of \"{}\": Bergen.",
                    before["trigger"]["text"].as_str().unwrap()
                ))
                .into()
            }
            _ => stop(),
        }
    });
    let (person, agent, space) = stack.pair().await;
    stack.side_by_side(&agent).await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    let first =
        triggered_run(&stack.post(&space, &person, "Book a flight to Oslo").await, &agent).unwrap();
    socket
        .shows(&space, "the first words", SOON, |view| {
            (view.live() == ["Booking a fl"]).then_some(())
        })
        .await;
    let second =
        triggered_run(&stack.post(&space, &person, "Sorry, to Bergen").await, &agent).unwrap();

    assert_canceled(&stack, &first, "absorbed").await;
    let frame =
        socket.frame("run.canceled", SOON, |frame| frame["run"]["id"] == first.as_str()).await.body;
    assert_eq!(frame["by"], second.as_str());
    let started =
        socket.frame("stream.started", SOON, |frame| frame["runId"] == first.as_str()).await.body;
    let ended = socket
        .frame("stream.ended", SOON, |frame| frame["streamId"] == started["streamId"])
        .await
        .body;
    assert_eq!((&ended["reason"], &ended["messageId"]), (&json!("absorbed"), &Value::Null));
    gate.open();
    stack.quiet(&space).await;
    let expected = [
        "Book a flight to Oslo",
        "Sorry, to Bergen",
        "Instead of \"Book a flight to Oslo\": Bergen.",
    ];
    assert_eq!(stack.texts(&space).await, expected, "the absorbed run posted a message");
    assert!(socket.view(&space).live().is_empty());
}

#[tokio::test]
async fn absorbing_a_run_shows_its_finished_actions() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let held = gate.clone();
    stack.model.answers("ada", move |request| {
        match (request.trigger_text().as_str(), request.step()) {
            ("Book a flight to Oslo", 0) => say("Booked: Oslo.").into(),
            ("Book a flight to Oslo", 1) => answer([wait(&held), say("Have a good trip!")]),
            ("Sorry, to Bergen", 0) => absorb_all(request),
            ("Sorry, to Bergen", 1) => {
                let actions = absorbed(request)["actionsTaken"].clone();
                let done = actions[0]["input"]["text"].as_str().unwrap().to_owned();
                assert_eq!(
                    (&actions[0]["tool"], &actions[0]["output"]["status"]),
                    (&json!("send_message"), &json!("delivered"))
                );
                say(&format!("I had said \"{done}\"; it is Bergen now.")).into()
            }
            _ => stop(),
        }
    });
    let (person, agent, space) = stack.pair().await;
    stack.side_by_side(&agent).await;
    let first =
        triggered_run(&stack.post(&space, &person, "Book a flight to Oslo").await, &agent).unwrap();
    gate.reached(1).await;
    stack.post(&space, &person, "Sorry, to Bergen").await;
    assert_canceled(&stack, &first, "absorbed").await;
    gate.open();
    stack.quiet(&space).await;
    let expected = [
        "Book a flight to Oslo",
        "Booked: Oslo.",
        "Sorry, to Bergen",
        "I had said \"Booked: Oslo.\"; it is Bergen now.",
    ];
    assert_eq!(stack.texts(&space).await, expected);
}

#[tokio::test]
async fn one_run_absorbs_the_triggers_of_several_others() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let held = gate.clone();
    let voting =
        move |request: &ModelRequest| match (request.trigger_text().as_str(), request.step()) {
            ("vote A" | "vote B", 0) => answer([
                wait(&held),
                call("skip_response", json!({"reason": "not all have voted"})),
            ]),
            ("last vote A", 0) => absorb_all(request),
            ("last vote A", 1) => {
                let results = request.results();
                let mut votes: Vec<_> = results
                    .iter()
                    .map(|result| {
                        result["absorbed"]["trigger"]["text"].as_str().unwrap().to_owned()
                    })
                    .collect();
                votes.push(request.trigger_text());
                let of = |option: &str| votes.iter().filter(|vote| vote.ends_with(option)).count();
                say(&format!("A {}, B {}", of("A"), of("B"))).into()
            }
            _ => stop(),
        };
    stack.model.answers("ada", voting);
    let (person, agent, space) = stack.pair().await;
    stack.side_by_side(&agent).await;
    let mut runs = Vec::new();
    for vote in ["vote A", "vote B"] {
        runs.push(triggered_run(&stack.post(&space, &person, vote).await, &agent).unwrap());
    }
    gate.reached(2).await;
    stack.post(&space, &person, "last vote A").await;
    for run in &runs {
        assert_canceled(&stack, run, "absorbed").await;
    }
    gate.open();
    stack.quiet(&space).await;
    assert_eq!(stack.texts(&space).await, ["vote A", "vote B", "last vote A", "A 2, B 1"]);
}
