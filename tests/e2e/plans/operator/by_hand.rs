//! Plans that the operator runs by hand.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    api::bad_input::assert_problem,
    plans::operator::daily,
    support::{routes::id, stack::Stack, waiting::SOON},
};

#[tokio::test]
async fn a_run_by_hand_does_not_change_the_next_time_of_the_plan() {
    let stack = Stack::start().await;
    let (_, agent, _) = stack.pair().await;
    let plan = stack.plan(&agent, daily("Report")).await;
    let path = format!("/v1/agents/{agent}/plans/{}/run", id(&plan));
    let run = stack.call(Method::POST, &path, None).await.must_be(202);
    let trigger = json!({
        "type": "plan",
        "planId": plan["id"],
        "name": "Report",
        "instruction": "Post the numbers.",
        "scheduledAt": run["createdAt"],
        "missed": 0,
    });
    assert_eq!(
        (&run["trigger"], &run["agentId"], &run["chainDepth"]),
        (&trigger, &json!(agent), &json!(0))
    );
    assert_eq!((&run["activeSpaceId"], run.get("steps")), (&Value::Null, None));
    let ended = stack.ended(&id(&run), SOON).await;
    assert_eq!((&ended["status"], &ended["trigger"]), (&json!("completed"), &trigger));
    let after = stack.plans(&agent).await.remove(0);
    assert_eq!((&after["nextRunAt"], &after["lastRunAt"]), (&plan["nextRunAt"], &run["createdAt"]));

    // A paused plan can be run by hand, but not a plan of a paused agent.
    stack
        .put(&format!("/v1/agents/{agent}/plans/{}", id(&plan)), json!({ "status": "paused" }))
        .await
        .must_be(200);
    stack.run_plan(&agent, &plan).await;
    stack
        .patch(&format!("/v1/entities/{agent}"), json!({ "agent": { "paused": true } }))
        .await
        .must_be(200);
    assert_problem(
        &stack.call(Method::POST, &path, None).await,
        &[409],
        "paused",
        "a paused agent",
    );
    assert_eq!(stack.fired(&agent, 2).await.len(), 2);
}
