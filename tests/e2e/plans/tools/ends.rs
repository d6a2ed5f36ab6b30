//! What stops plans: a chain of them that is too deep, and a paused or retired agent.

use reqwest::Method;
use serde_json::json;

use crate::{
    api::bad_input::assert_problem,
    plans::{
        operator::{daily, once},
        tools::{set, set_plans_output},
    },
    support::{
        model::{Gate, answer, call, say, stop, wait},
        routes::{id, triggered_run},
        stack::Stack,
        waiting::SOON,
    },
};

const TOO_DEEP: &str = "this plan would wake nobody: its chain depth would be 5, \
                        and this agent accepts less than 5 (maxChainDepth); \
                        a plan with a cron expression begins a new chain";

#[tokio::test]
async fn a_chain_of_plans_stops_at_the_chain_depth_of_its_agent() {
    let stack = Stack::start().await;
    let (person, agent, space) = stack.pair().await;
    let space_id = space.clone();
    stack.model.answers("ada", move |request| match request.step() {
        0 => answer([
            call("enter_space", json!({ "spaceId": space_id })),
            set(&[once("Again", "1 second")]),
        ]),
        1 if request.results()[1]["error"].is_string() => {
            answer([set(&[daily("Report"), once("No", "1 day")]), set(&[daily("Report")])])
        }
        _ => stop(),
    });
    let members = stack.socket_of(&person).await;
    members.subscribe(&space, None).await;
    let first = stack.post(&space, &person, "Begin.").await;
    let frame =
        members.frame("system.message", SOON, |frame| frame["watcher"] == "depth").await.body;
    let runs = stack.fired(&agent, 4).await;
    let last = stack.ended(runs.first().map(id).unwrap().as_str(), SOON).await;
    assert_eq!(
        (&frame["runId"], &frame["step"], &frame["spaceId"]),
        (&last["id"], &json!(0), &json!(space))
    );
    assert_eq!(frame["text"], format!("A plan was not set: {TOO_DEEP}."));
    let depths: Vec<_> = runs.iter().map(|run| run["chainDepth"].clone()).collect();
    assert_eq!(depths, [4, 3, 2, 1]);
    assert_eq!(stack.run(&triggered_run(&first, &agent).unwrap()).await["chainDepth"], 0);
    let calls: Vec<_> = last["steps"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|step| step["calls"].as_array().unwrap().clone())
        .collect();
    assert_eq!(
        (&calls[1]["output"], &calls[2]["output"]),
        (&json!({ "error": TOO_DEEP }), &json!({ "error": TOO_DEEP })),
        "one refused plan of a call refuses both"
    );

    // A cron plan starts a new chain, and so does a run by hand.
    let plans = stack.plans(&agent).await;
    assert_eq!((&calls[3]["output"], plans.len()), (&set_plans_output(&plans), 1));
    stack.model.replies("ada", |_| stop());
    let by_hand = stack.run_plan(&agent, &plans[0]).await;
    assert_eq!(stack.ended(&by_hand, SOON).await["chainDepth"], 0);
    assert_eq!(stack.fired(&agent, 5).await.len(), 5);
}

#[tokio::test]
async fn a_retired_agent_has_no_plans_and_no_runs() {
    let stack = Stack::start().await;
    let (person, agent, space) = stack.pair().await;
    let gate = Gate::closed();
    let held = gate.clone();
    let space_id = space.clone();
    stack.model.answers("ada", move |request| match request.step() {
        0 => answer([call("enter_space", json!({ "spaceId": space_id }))]),
        _ => answer([wait(&held), say("Never said.")]),
    });
    let members = stack.socket_of(&person).await;
    members.subscribe(&space, None).await;
    let other = stack.agent("Bea", &stack.model.name("bea")).await;
    let plan = stack.plan(&agent, daily("Report")).await;
    let run = stack.run_plan(&agent, &plan).await;
    gate.reached(1).await;
    // The delay is long, so that the plan can't fire before its agent is retired.
    let soon = stack.plan(&agent, once("Hello", "8 seconds")).await;
    stack.delete(&format!("/v1/entities/{agent}")).await.must_be(204);
    let ended = stack.ended(&run, SOON).await;
    assert_eq!((&ended["status"], &ended["endReason"]), (&json!("canceled"), &json!("removed")));
    members.frame("run.canceled", SOON, |frame| frame["run"]["id"] == run.as_str()).await;
    gate.open();
    let path = format!("/v1/agents/{agent}/plans");
    assert_problem(&stack.get(&path).await, &[404], "", "a retired agent's plans");
    assert_problem(&stack.create(&path, daily("x")).await, &[404], "", "a retired agent's plans");
    for plan in [&plan, &soon] {
        let run = stack.call(Method::POST, &format!("{path}/{}/run", id(plan)), None).await;
        assert_problem(&run, &[404], "", "a retired agent's plan");
    }
    // Once a later plan of another agent has fired, this one is overdue.
    stack.plan(&other, once("Later", "9 seconds")).await;
    stack.fired(&other, 1).await;
    let requests = stack.model.requests("ada");
    assert_eq!(requests.iter().filter(|request| request.step() == 0).count(), 1);
    assert_eq!(stack.texts(&space).await.len(), 0);
}

#[tokio::test]
async fn plans_of_a_paused_agent_are_postponed() {
    let stack = Stack::start().await;
    let (_, agent, _) = stack.pair().await;
    let other = stack.agent("Bea", &stack.model.name("bea")).await;
    let pause = async |paused: bool| {
        stack
            .patch(&format!("/v1/entities/{agent}"), json!({ "agent": { "paused": paused } }))
            .await
            .must_be(200);
    };
    pause(true).await;
    let plan = stack.plan(&agent, once("Hello", "1 second")).await;
    let report = stack.plan(&agent, daily("Report")).await;
    stack.plan(&other, once("Later", "2 seconds")).await;
    stack.fired(&other, 1).await;
    assert_eq!(
        stack.plans(&agent).await,
        [plan.clone(), report.clone()],
        "the planned time changed"
    );
    assert!(stack.all(&format!("/v1/agents/{agent}/runs")).await.is_empty());
    let by_hand = stack
        .call(Method::POST, &format!("/v1/agents/{agent}/plans/{}/run", id(&report)), None)
        .await;
    assert_problem(&by_hand, &[409], "paused", "a paused agent");

    // A postponed plan is looked at again within a minute. One that is set again keeps its own
    // time, which here must be after the agent is resumed.
    let path = format!("/v1/agents/{agent}/plans/{}", id(&plan));
    stack.put(&path, json!({ "runAfter": "8 seconds" })).await.must_be(200);
    pause(false).await;
    let run = stack.run_plan(&agent, &report).await;
    assert_eq!(stack.ended(&run, SOON).await["status"], "completed");
    assert_eq!(stack.fired(&agent, 2).await.len(), 2);
    assert_eq!(stack.plans(&agent).await.len(), 1);
}
