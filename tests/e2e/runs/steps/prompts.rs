//! The prompts of single steps.

use serde_json::json;

use crate::{
    runs::steps::team,
    support::{
        model::{Gate, answer, call, http, say, stop, wait},
        routes::triggered_run,
        stack::Stack,
        waiting::SOON,
    },
};

#[tokio::test]
async fn the_prompt_and_get_my_runs_describe_the_agents_other_runs() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let held = gate.clone();
    stack.model.answers("ada", move |request| {
        match (request.trigger_text().as_str(), request.step()) {
            ("Report.", 0) => answer([
                say(&format!("Here is the draft. {}", "x".repeat(300))),
                call("read_messages", json!({})),
            ]),
            ("Report.", 1) => wait(&held).into(),
            ("Say what you are doing.", 0) => answer([
                call("get_my_runs", json!({})),
                call("get_my_runs", json!({"status": "running", "limit": 1})),
            ]),
            _ => stop(),
        }
    });
    let (person, agent, space) = team(&stack, json!({})).await;
    stack.side_by_side(&agent).await;
    let report = stack.post(&space, &person, "Report.").await;
    gate.reached(1).await;
    let question = stack.post(&space, &person, "Say what you are doing.").await;
    let request = stack.model.nth_request("ada", 4).await;
    let report = triggered_run(&report, &agent).unwrap();
    let question = triggered_run(&question, &agent).unwrap();
    let lines = request.user().block("ACTIVE RUNS").to_vec();
    let other = lines.iter().find(|line| line.contains(&report)).unwrap();
    let done = "(running) — Husam in \"Team\": \"Report.\"; \
                used read_messages; sent \"Here is the draft. xxx";
    assert!(other.contains(done) && other.ends_with("xxx…\""), "{other}");
    let results = request.results();
    let active: Vec<&str> = results[0].as_str().unwrap().lines().collect();
    let own = "(running, this run) — Husam in \"Team\": \"Say what you are doing.\"";
    assert_eq!(
        active,
        ["ACTIVE RUNS:", &format!("- {question} {own}"), other.as_str()],
        "newest first, as the prompt writes them"
    );
    assert_eq!(results[1], format!("RUNS:\n- {question} {own}"));
    gate.open();
    stack.quiet(&space).await;
    stack.model.plays("ada", [call("get_my_runs", json!({"status": "completed"})).into(), stop()]);
    stack.post(&space, &person, "And before.").await;
    stack.quiet(&space).await;
    let results = stack.model.requests("ada").pop().unwrap().results();
    let ended = results.last().unwrap().as_str().unwrap();
    assert!(ended.starts_with(&format!("RUNS:\n- {question} (completed: done, ")), "{ended}");
}

#[tokio::test]
async fn a_failed_run_shows_the_prompt_that_its_model_refused() {
    let stack = Stack::start().await;
    stack.model.answers("ada", |_| http(400));
    let (person, agent, space) = team(&stack, json!({})).await;
    let message = stack.post(&space, &person, "Begin.").await;
    let run = stack.ended(&triggered_run(&message, &agent).unwrap(), SOON).await;
    assert_eq!(
        (&run["status"], &run["stepCount"], &run["error"]["code"]),
        (&json!("failed"), &json!(0), &json!("bad_request"))
    );
    let step = &run["steps"][0];
    assert_eq!((&step["finishReason"], &step["calls"]), (&json!("error"), &json!([])));
    assert!(step["prompt"]["messages"][0]["blocks"].to_string().contains("Begin."), "{step}");
}

#[tokio::test]
async fn the_prompt_always_lists_the_triggering_space_and_for_an_open_agent_no_other() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let held = gate.clone();
    stack.model.answers("ada", move |request| {
        if request.trigger_text() == "on the board" { wait(&held).into() } else { stop() }
    });
    let (person, agent, board) = team(&stack, json!({})).await;
    let mut last = String::new();
    for number in 1..=33 {
        last = stack.space(&format!("Space {number}"), &[&person, &agent]).await;
    }
    stack.post(&board, &person, "on the board").await;
    gate.reached(1).await;
    stack.post(&last, &person, "one").await;
    stack.quiet(&last).await;
    let request = stack.model.nth_request("ada", 2).await;
    let spaces = request.system().block("YOUR SPACES").to_vec();
    assert_eq!((spaces.len(), spaces[31].as_str()), (32, "… 4 more"));
    assert!(spaces.iter().any(|line| line.contains(&last)), "{spaces:#?}");
    assert!(request.user().block("ACTIVE RUNS").iter().any(|line| line.contains("on the board")));

    stack
        .patch(&format!("/v1/entities/{agent}"), json!({"agent": {"open": true}}))
        .await
        .must_be(200);
    stack.post(&last, &person, "two").await;
    stack.quiet(&last).await;
    let request = stack.model.nth_request("ada", 3).await;
    assert_eq!(
        request.system().block("YOUR SPACES").len(),
        2,
        "an open agent sees only the space that triggered it"
    );
    assert!(!request.user().names().contains(&"ACTIVE RUNS"));
    gate.open();
    stack.quiet(&board).await;
}
