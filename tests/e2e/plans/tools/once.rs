//! Calls of `set_plans` take effect once, despite kills and concurrent runs.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use crate::{
    plans::{
        operator::{daily, once},
        tools::{by_name, set, set_plans_output},
    },
    support::{
        model::{Answer, Gate, call, wait},
        routes::triggered_run,
        stack::Stack,
        tool_scene::{ToolScene, but, http_tool},
        waiting::SOON,
    },
};

#[tokio::test]
async fn a_plan_set_before_a_kill_is_not_set_again() {
    let held = |url: &str| {
        json!([but(
            http_tool("order", "POST", &format!("{url}/count/held"), json!({})),
            json!({ "idempotent": true })
        )])
    };
    let Some(mut scene) = ToolScene::on_disk(held).await else { return };
    let run = scene
        .begin(vec![set(&[daily("Report"), once("Hello", "1 day")]), call("order", json!({}))])
        .await;
    scene.server.gate.reached(1).await;
    let plans = by_name(&scene.stack, &scene.agent, ["Report", "Hello"]).await;
    scene.stack.kill9();
    scene.stack.restart().await;
    scene.server.gate.reached(2).await;
    scene.server.gate.open();
    let ended = scene.stack.ended(&run, SOON).await;
    assert_eq!((&ended["status"], &ended["attempt"]), (&json!("completed"), &json!(2)));
    assert_eq!(by_name(&scene.stack, &scene.agent, ["Report", "Hello"]).await, plans);
    assert_eq!(ended["steps"][0]["calls"][0]["output"], set_plans_output(&plans));
}

#[tokio::test]
async fn a_kill_during_a_set_plans_call_leaves_exactly_one_plan() {
    let Some(mut stack) = Stack::local().await else { return };
    let (person, agent, space) = stack.pair().await;
    stack.model.replies("ada", |request| set(&[daily(&request.trigger_text())]));
    for (round, millis) in [0, 1, 2, 4, 8, 16].into_iter().enumerate() {
        let before = stack.model.requests("ada").len();
        let question = stack.post(&space, &person, &format!("plan {round}")).await;
        stack.model.nth_request("ada", before + 1).await;
        // The delays cover the moments before, during and after the plan is stored.
        sleep(Duration::from_millis(millis)).await;
        stack.kill9();
        stack.restart().await;
        assert_eq!(
            stack.ended(&triggered_run(&question, &agent).unwrap(), SOON).await["status"],
            "completed"
        );
    }
    let names: Vec<_> = stack
        .plans(&agent)
        .await
        .iter()
        .map(|plan| plan["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, [0, 1, 2, 3, 4, 5].map(|round| format!("plan {round}")));
}

#[tokio::test]
async fn concurrent_runs_of_an_agent_lose_no_plan() {
    let stack = Stack::start().await;
    let (person, agent, space) = stack.pair().await;
    stack.side_by_side(&agent).await;
    let gate = Gate::closed();
    let held = gate.clone();
    stack.model.replies("ada", move |request| {
        let name = request.trigger_text();
        let plans = (0..10).map(|number| set(&[daily(&format!("{name} {number}"))]));
        Answer::of([wait(&held)].into_iter().chain(plans).collect())
    });
    for text in ["one", "two", "three"] {
        stack.post(&space, &person, text).await;
    }
    gate.reached(3).await;
    gate.open();
    stack.quiet(&space).await;
    assert_eq!(stack.plans(&agent).await.len(), 30);
}
