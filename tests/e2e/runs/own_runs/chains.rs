//! Runs that absorb each other, and runs that are absorbed with the runs that they absorbed.

use serde_json::json;

use crate::{
    runs::own_runs::{absorb_all, absorbed, assert_canceled, run_ids},
    support::{
        model::{Answer, Gate, answer, call, say, stop, wait},
        routes::triggered_run,
        stack::Stack,
        waiting::SOON,
    },
};

#[tokio::test]
async fn if_two_runs_absorb_each_other_one_wins() {
    for _ in 0..6 {
        let stack = Stack::start().await;
        let gate = Gate::closed();
        let held = gate.clone();
        stack.model.answers("ada", move |request| match request.step() {
            // Each run sees the other before either acts.
            0 => answer([wait(&held), call("get_my_runs", json!({}))]),
            1 => {
                let listed = request.results()[0].as_str().unwrap().to_owned();
                let others = listed.lines().filter(|line| line.contains(" (running) "));
                let absorb = |run: String| call("absorb_run", json!({"runId": run}));
                Answer::of(run_ids(others).into_iter().map(absorb).collect())
            }
            2 => say("I have it all.").into(),
            _ => stop(),
        });
        let (person, agent, space) = stack.pair().await;
        stack.side_by_side(&agent).await;
        let one = triggered_run(&stack.post(&space, &person, "one").await, &agent).unwrap();
        let other = triggered_run(&stack.post(&space, &person, "other").await, &agent).unwrap();
        gate.reached(2).await;
        gate.open();
        stack.quiet(&space).await;
        let mut ends = Vec::new();
        for run in [&one, &other] {
            let run = stack.run(run).await;
            ends.push((
                run["status"].as_str().unwrap().to_owned(),
                run["endReason"].as_str().unwrap().to_owned(),
            ));
        }
        ends.sort();
        let expected = [
            ("canceled".to_owned(), "absorbed".to_owned()),
            ("completed".to_owned(), "done".to_owned()),
        ];
        assert_eq!(ends, expected);
        let texts = stack.texts(&space).await;
        let posts = texts.iter().filter(|text| *text == "I have it all.").count();
        assert_eq!(posts, 1, "only the winner posts");
    }
}

#[tokio::test]
async fn an_absorbed_run_stays_absorbed_after_a_kill() {
    let Some(mut stack) = Stack::local().await else { return };
    let first_gate = Gate::closed();
    let second_gate = Gate::closed();
    let during_first = first_gate.clone();
    let before_answer = second_gate.clone();
    stack.model.answers("ada", move |request| {
        match (request.trigger_text().as_str(), request.step()) {
            ("first", 0) => answer([wait(&during_first)]),
            ("second", 0) => absorb_all(request),
            ("second", 1) => {
                let before =
                    absorbed(request)["trigger"]["text"].as_str().unwrap_or("nothing").to_owned();
                answer([wait(&before_answer), say(&format!("I took along: {before}"))])
            }
            _ => stop(),
        }
    });
    let (person, agent, space) = stack.pair().await;
    stack.side_by_side(&agent).await;
    let first = triggered_run(&stack.post(&space, &person, "first").await, &agent).unwrap();
    first_gate.reached(1).await;
    stack.post(&space, &person, "second").await;
    second_gate.reached(1).await;
    stack.kill9();
    first_gate.open();
    second_gate.open();
    stack.restart().await;
    stack.quiet(&space).await;
    assert_eq!(stack.texts(&space).await, ["first", "second", "I took along: first"]);
    assert_canceled(&stack, &first, "absorbed").await;
}

#[tokio::test]
async fn absorbing_a_run_includes_the_runs_that_it_absorbed() {
    let stack = Stack::start().await;
    let one = Gate::closed();
    let two = Gate::closed();
    let first = one.clone();
    let second = two.clone();
    stack.model.answers("ada", move |request| {
        match (request.trigger_text().as_str(), request.step()) {
            ("first", 0) => answer([wait(&first)]),
            ("second" | "third", 0) => absorb_all(request),
            ("second", 1) => answer([wait(&second)]),
            ("third", 1) => {
                let inherited = absorbed(request);
                let of_second = &inherited["actionsTaken"][0];
                assert_eq!(
                    (&inherited["trigger"]["text"], &of_second["tool"]),
                    (&json!("second"), &json!("absorb_run"))
                );
                say(&format!("I have {}", of_second["output"]["absorbed"]["trigger"]["text"]))
                    .into()
            }
            _ => stop(),
        }
    });
    let (person, agent, space) = stack.pair().await;
    stack.side_by_side(&agent).await;
    let mut runs = Vec::new();
    for (text, gate) in [("first", Some(&one)), ("second", Some(&two)), ("third", None)] {
        runs.push(triggered_run(&stack.post(&space, &person, text).await, &agent).unwrap());
        if let Some(gate) = gate {
            gate.reached(1).await;
        }
    }
    assert_canceled(&stack, &runs[0], "absorbed").await;
    assert_canceled(&stack, &runs[1], "absorbed").await;
    stack.ended(&runs[2], SOON).await;
    one.open();
    two.open();
    stack.quiet(&space).await;
    assert_eq!(stack.texts(&space).await.last().unwrap(), "I have \"first\"");
}
