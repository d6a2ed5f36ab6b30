//! Plans that fire at their time.

use std::{collections::BTreeSet, time::Duration};

use jiff::SignedDuration;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::plans::operator::{once, time};
use crate::support::{
    model::say,
    routes::id,
    stack::Stack,
    waiting::{SOON, patient},
};

#[tokio::test]
async fn a_plan_for_one_time_fires_once_and_is_deleted() {
    let stack = Stack::start().await;
    let (_, agent, _) = stack.pair().await;
    // On a deployed stack an alarm may be late and a function may start cold. The limit is short
    // enough to show that the alarm fires the plan, not the sweep, which runs each minute.
    let limit =
        if stack.is_local() { Duration::from_secs(2) } else { patient(Duration::from_secs(10)) };
    let mut delay = Duration::MAX;
    // Only the most punctual of three must keep the limit, because other tests use the machine too.
    for times in 1..=3 {
        let plan = stack.plan(&agent, once("Hello", "2 seconds")).await;
        let due = time(&plan["createdAt"]) + SignedDuration::from_secs(2);
        assert_eq!(time(&plan["nextRunAt"]), due);
        let fired = stack.fired(&agent, times).await;
        let at = time(&fired[0]["createdAt"]);
        assert!(due <= at, "{plan} fired at {at}");
        let run = stack.ended(&id(&fired[0]), SOON).await;
        let trigger = json!({
            "type": "plan",
            "planId": plan["id"],
            "name": "Hello",
            "instruction": "Say hello.",
            "scheduledAt": plan["nextRunAt"],
            "missed": 0,
        });
        assert_eq!(
            (&run["trigger"], &run["status"], &run["chainDepth"]),
            (&trigger, &json!("completed"), &json!(0))
        );
        assert_eq!(stack.plans(&agent).await, [Value::Null; 0]);
        assert_eq!(stack.fired(&agent, times).await.len(), times);
        assert_eq!(stack.model.requests("ada").len(), times);
        delay = delay.min(at.duration_since(due).unsigned_abs());
        if delay <= limit {
            break;
        }
    }
    assert!(delay <= limit, "the plan fired {delay:?} late");
}

#[tokio::test]
async fn a_changed_paused_or_deleted_plan_does_not_fire_at_its_old_time() {
    let stack = Stack::start().await;
    let (_, agent, _) = stack.pair().await;
    let mut plans = Vec::new();
    // Late enough for all changes before the plans fire, even on a slow machine.
    for name in ["moved", "paused", "deleted", "unchanged", "last"] {
        let run_after = if name == "last" { "11 seconds" } else { "10 seconds" };
        plans.push(stack.plan(&agent, once(name, run_after)).await);
    }
    let path = |plan: &Value| format!("/v1/agents/{agent}/plans/{}", id(plan));
    stack.put(&path(&plans[0]), json!({ "runAfter": "1 hour" })).await.must_be(200);
    stack.put(&path(&plans[1]), json!({ "status": "paused" })).await.must_be(200);
    stack.delete(&path(&plans[2])).await.must_be(204);
    let fired = stack.fired(&agent, 2).await;
    let names = |items: &[Value], field: &str| -> BTreeSet<String> {
        items.iter().map(|item| item.pointer(field).unwrap().as_str().unwrap().to_owned()).collect()
    };
    let set = |names: &[&str]| -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    };
    let ids: BTreeSet<_> = plans[3..].iter().map(id).collect();
    assert_eq!(names(&fired, "/trigger/planId"), ids);
    assert_eq!(names(&stack.plans(&agent).await, "/name"), set(&["moved", "paused"]));
    // Its time has passed, so the plan fires at once when it becomes active.
    stack.put(&path(&plans[1]), json!({ "status": "active" })).await.must_be(200);
    let ids = [1, 3, 4].map(|number| id(&plans[number]));
    assert_eq!(names(&stack.fired(&agent, 3).await, "/trigger/planId"), BTreeSet::from(ids));
}

#[tokio::test]
async fn a_plan_that_is_due_while_the_product_is_down_fires_at_the_next_start() {
    let Some(mut stack) = Stack::local().await else { return };
    stack.model.replies("ada", |_| say("to nobody"));
    let (_, agent, _) = stack.pair().await;
    let plan = stack.plan(&agent, once("Hello", "3 seconds")).await;
    stack.kill9();
    // Wait for the time itself: there is no process that could report it.
    sleep(Duration::from_millis(3_200)).await;
    stack.restart().await;
    let fired = stack.fired(&agent, 1).await;
    let reference = json!({ "type": "plan", "planId": plan["id"] });
    assert_eq!(fired[0]["trigger"], reference);
    let ended = stack.ended(&id(&fired[0]), SOON).await;
    assert_eq!(
        (&ended["trigger"]["scheduledAt"], &ended["trigger"]["missed"], &ended["status"]),
        (&plan["nextRunAt"], &json!(0), &json!("completed"))
    );
    stack.kill9();
    stack.restart().await;
    assert_eq!(stack.plans(&agent).await, [Value::Null; 0]);
    assert_eq!((stack.fired(&agent, 1).await.len(), stack.model.requests("ada").len()), (1, 2));
}
