//! Plans that the clock fires.

use std::{collections::BTreeSet, time::Duration};

use jiff::SignedDuration;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{once, time};
use crate::{
    model::say,
    routes::id,
    stack::Stack,
    waiting::{SOON, patient},
};

#[tokio::test]
async fn a_plan_fires_once_at_its_time_and_is_gone() {
    let stack = Stack::start().await;
    let (_, agent, _) = stack.pair().await;
    // Elsewhere an alarm may be late by itself, and functions begin cold; the sweep alone would come within a minute.
    let limit = if stack.is_local() { Duration::from_secs(2) } else { patient(Duration::from_secs(10)) };
    let mut least = Duration::MAX;
    // The most punctual of three, since other tests use the machine too.
    for times in 1..=3 {
        let plan = stack.plan(&agent, once("Hello", "2 seconds")).await;
        let due = time(&plan["createdAt"]) + SignedDuration::from_secs(2);
        assert_eq!(time(&plan["nextRunAt"]), due);
        let fired = stack.fired(&agent, times).await;
        let at = time(&fired[0]["createdAt"]);
        assert!(due <= at, "{plan} fired at {at}");
        let run = stack.ended(&id(&fired[0]), SOON).await;
        let trigger = json!({
            "type": "plan", "planId": plan["id"], "name": "Hello", "instruction": "Say hello.", "scheduledAt": plan["nextRunAt"], "missed": 0
        });
        assert_eq!((&run["trigger"], &run["status"], &run["chainDepth"]), (&trigger, &json!("completed"), &json!(0)));
        assert_eq!(stack.plans(&agent).await, [Value::Null; 0]);
        assert_eq!(stack.fired(&agent, times).await.len(), times);
        assert_eq!(stack.model.asked("ada").len(), times);
        least = least.min(at.duration_since(due).unsigned_abs());
        if least <= limit {
            break;
        }
    }
    assert!(least <= limit, "it was late by {least:?}");
}

#[tokio::test]
async fn only_the_time_that_a_plan_has_now_counts() {
    let stack = Stack::start().await;
    let (_, agent, _) = stack.pair().await;
    let mut plans = Vec::new();
    // Long enough for all that is done before they fire, also on a slow machine.
    for name in ["moved", "paused", "dropped", "kept", "last"] {
        plans.push(stack.plan(&agent, once(name, if name == "last" { "11 seconds" } else { "10 seconds" })).await);
    }
    let place = |plan: &Value| format!("/v1/agents/{agent}/plans/{}", id(plan));
    stack.put(&place(&plans[0]), json!({ "runAfter": "1 hour" })).await.must_be(200);
    stack.put(&place(&plans[1]), json!({ "status": "paused" })).await.must_be(200);
    stack.delete(&place(&plans[2])).await.must_be(204);
    let fired = stack.fired(&agent, 2).await;
    let names = |items: &[Value], field: &str| -> BTreeSet<String> {
        items.iter().map(|item| item.pointer(field).unwrap().as_str().unwrap().to_owned()).collect()
    };
    let set = |names: &[&str]| -> BTreeSet<String> { names.iter().map(|name| (*name).to_owned()).collect() };
    assert_eq!(names(&fired, "/trigger/name"), set(&["last", "kept"]));
    assert_eq!(names(&stack.plans(&agent).await, "/name"), set(&["moved", "paused"]));
    // Its time is over: it fires as soon as it may.
    stack.put(&place(&plans[1]), json!({ "status": "active" })).await.must_be(200);
    assert_eq!(names(&stack.fired(&agent, 3).await, "/trigger/name"), set(&["paused", "last", "kept"]));
}

#[tokio::test]
async fn a_plan_whose_time_comes_while_nothing_runs_fires_at_the_next_start() {
    let Some(mut stack) = Stack::local().await else { return };
    stack.model.replies("ada", |_| say("to nobody"));
    let (_, agent, _) = stack.pair().await;
    let plan = stack.plan(&agent, once("Hello", "3 seconds")).await;
    stack.kill9();
    // The time itself has to come; nothing is there that would say so.
    sleep(Duration::from_millis(3_200)).await;
    stack.restart().await;
    let fired = stack.fired(&agent, 1).await;
    assert_eq!((&fired[0]["trigger"]["scheduledAt"], &fired[0]["trigger"]["missed"]), (&plan["nextRunAt"], &json!(0)));
    assert_eq!(stack.ended(&id(&fired[0]), SOON).await["status"], "completed");
    stack.kill9();
    stack.restart().await;
    assert_eq!(stack.plans(&agent).await, [Value::Null; 0]);
    assert_eq!((stack.fired(&agent, 1).await.len(), stack.model.asked("ada").len()), (1, 2));
}
