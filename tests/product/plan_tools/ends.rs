//! Where plans end: a chain of them is too deep, or their agent is paused or retired.

use reqwest::Method;
use serde_json::json;

use super::{set, told};
use crate::{
    bad_input::assert_problem,
    model::{Gate, answer, call, say, stop, wait},
    plans::{daily, once},
    routes::{id, woken},
    stack::Stack,
    waiting::SOON,
};

#[tokio::test]
async fn an_agent_that_plans_in_every_run_stops_at_its_depth() {
    let stack = Stack::start().await;
    let (person, agent, space) = stack.pair().await;
    let entered = space.clone();
    stack.model.answers("ada", move |asked| match asked.step() {
        0 => answer([call("enter_space", json!({ "spaceId": entered })), set(&[once("Again", "1 second")])]),
        1 if asked.results()[1]["error"].is_string() => answer([set(&[daily("Report"), once("No", "1 day")]), set(&[daily("Report")])]),
        _ => stop(),
    });
    let members = stack.socket_of(&person).await;
    members.subscribe(&space, None).await;
    let first = stack.post(&space, &person, "Begin.").await;
    let frame = members.frame("system.message", SOON, |frame| frame["watcher"] == "depth").await.body;
    let runs = stack.fired(&agent, 4).await;
    let last = stack.ended(runs.first().map(id).unwrap().as_str(), SOON).await;
    assert_eq!((&frame["runId"], &frame["step"], &frame["spaceId"]), (&last["id"], &json!(0), &json!(space)));
    let error = "this plan would wake nobody: it lies 5 deep in a chain of agents' doings, and this agent takes less than 5 (maxChainDepth); \
                 a plan by cron begins anew";
    assert_eq!(frame["text"], format!("A plan was not set: {error}."));
    let depths: Vec<_> = runs.iter().map(|run| run["chainDepth"].clone()).collect();
    assert_eq!(depths, [4, 3, 2, 1], "and the first is 0");
    assert_eq!(stack.run(&woken(&first, &agent).unwrap()).await["chainDepth"], 0);
    let calls: Vec<_> = last["steps"].as_array().unwrap().iter().flat_map(|step| step["calls"].as_array().unwrap().clone()).collect();
    assert_eq!(
        (&calls[1]["output"], &calls[2]["output"]),
        (&json!({ "error": error }), &json!({ "error": error })),
        "one of two sets none"
    );

    // By cron it begins anew; and by hand.
    let plans = stack.plans(&agent).await;
    assert_eq!((&calls[3]["output"], plans.len()), (&told(&plans), 1));
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
    let (held, entered) = (gate.clone(), space.clone());
    stack.model.answers("ada", move |asked| match asked.step() {
        0 => answer([call("enter_space", json!({ "spaceId": entered }))]),
        _ => answer([wait(&held), say("Never said.")]),
    });
    let members = stack.socket_of(&person).await;
    members.subscribe(&space, None).await;
    let other = stack.agent("Bea", &stack.model.name("bea")).await;
    let plan = stack.plan(&agent, daily("Report")).await;
    let run = stack.run_plan(&agent, &plan).await;
    gate.reached(1).await;
    // It must not fire before its agent is retired, also on a slow machine.
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
    // Another's plan of a later time has fired: its own would have, too.
    stack.plan(&other, once("Later", "9 seconds")).await;
    stack.fired(&other, 1).await;
    let asked = stack.model.asked("ada").iter().filter(|asked| asked.step() == 0).count();
    assert_eq!((asked, stack.texts(&space).await.len()), (1, 0));
}

#[tokio::test]
async fn a_paused_agents_plans_are_put_off() {
    let stack = Stack::start().await;
    let (_, agent, _) = stack.pair().await;
    let other = stack.agent("Bea", &stack.model.name("bea")).await;
    let pause = async |paused: bool| {
        stack.patch(&format!("/v1/entities/{agent}"), json!({ "agent": { "paused": paused } })).await.must_be(200);
    };
    pause(true).await;
    let (plan, report) = (stack.plan(&agent, once("Hello", "1 second")).await, stack.plan(&agent, daily("Report")).await);
    stack.plan(&other, once("Later", "2 seconds")).await;
    stack.fired(&other, 1).await;
    assert_eq!(stack.plans(&agent).await, [plan.clone(), report.clone()], "it keeps its time");
    assert!(stack.all(&format!("/v1/agents/{agent}/runs")).await.is_empty());
    let by_hand = stack.call(Method::POST, &format!("/v1/agents/{agent}/plans/{}/run", id(&report)), None).await;
    assert_problem(&by_hand, &[409], "paused", "a paused agent");

    // What is put off is looked at again within a minute; what is set anew keeps its own time, which must not come before the agent goes on.
    stack.put(&format!("/v1/agents/{agent}/plans/{}", id(&plan)), json!({ "runAfter": "8 seconds" })).await.must_be(200);
    pause(false).await;
    let run = stack.run_plan(&agent, &report).await;
    assert_eq!(stack.ended(&run, SOON).await["status"], "completed");
    assert_eq!(stack.fired(&agent, 2).await.len(), 2);
    assert_eq!(stack.plans(&agent).await.len(), 1);
}
