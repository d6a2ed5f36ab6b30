//! An agent whose tool triggers it again.

use serde_json::{Value, json};

use crate::{
    messages::chains::depth,
    plans::operator::daily,
    support::{
        model::{call, stop},
        routes::id,
        stack::Stack,
        tool_scene::http_tool,
        waiting::{SOON, wait_for},
    },
};

/// The admin key of a product whose agents' tools may call the product itself.
const KEY: &str = "the-operators-own-key-that-a-tool-has";

/// Gives an agent a tool that posts `body` to `path` of the product with the admin key, and
/// triggers the agent once as a service. Returns the depths of its runs and the output of the last
/// call, which triggers no run.
async fn trigger_itself(stack: &Stack, agent: &str, path: &str, body: Value) -> (Vec<u64>, Value) {
    let authorised =
        json!({ "headers": { "Authorization": "Bearer ${secret.OWN}" }, "body": body });
    let tool = http_tool("again", "POST", &format!("{}{path}", stack.url), authorised);
    stack
        .patch(&format!("/v1/entities/{agent}"), json!({ "agent": { "tools": [tool] } }))
        .await
        .must_be(200);
    stack.trigger(agent, "begin", &json!("again"), &[]).await.must_be(202);
    let runs = wait_for("the last run triggers no other", SOON, async || {
        let mut runs = stack.runs_by(agent).await;
        runs.reverse();
        (runs.len() >= 3 && runs.iter().all(|run| run["status"] == "completed")).then_some(runs)
    })
    .await;
    let output = stack.run(&id(&runs[2])).await["steps"][0]["calls"][0]["output"].clone();
    (stack.runs_by(agent).await.iter().rev().map(depth).collect(), output)
}

#[tokio::test]
async fn an_agent_whose_tool_triggers_it_again_stops_at_its_chain_depth() {
    let Some(stack) = Stack::keyed(
        KEY,
        &[("SMARTSPACE_TOOL_HOSTS", "127.0.0.1"), ("SMARTSPACE_SECRET_OWN", KEY)],
    )
    .await
    else {
        return;
    };
    stack.model.answers("ada", |request| {
        if request.step() == 0 { call("again", json!({})).into() } else { stop() }
    });
    let agent = async || stack.receiver(json!({ "maxChainDepth": 3 })).await;
    let too_deep = |output: &Value| {
        output["body"]["detail"]
            .as_str()
            .is_some_and(|detail| detail.contains("chain depth") && detail.contains(" 3"))
    };

    let by_plans = agent().await;
    let plan = json!({ "name": "Again", "instruction": "Once more.", "runAfter": "1 second" });
    let (depths, output) =
        trigger_itself(&stack, &by_plans, &format!("/v1/agents/{by_plans}/plans"), plan).await;
    assert!(depths == [0, 1, 2] && too_deep(&output), "{depths:?}: {output}");

    let by_hand = agent().await;
    let path = format!(
        "/v1/agents/{by_hand}/plans/{}/run",
        id(&stack.plan(&by_hand, daily("Report")).await)
    );
    let (depths, output) = trigger_itself(&stack, &by_hand, &path, json!({})).await;
    assert!(depths == [0, 1, 2] && too_deep(&output), "{depths:?}: {output}");

    let by_replays = agent().await;
    stack
        .patch(&format!("/v1/entities/{by_replays}"), json!({ "agent": { "paused": true } }))
        .await
        .must_be(200);
    let refused = stack.trigger(&by_replays, "ci", &json!({}), &[]).await.must_be(202);
    stack
        .patch(&format!("/v1/entities/{by_replays}"), json!({ "agent": { "paused": false } }))
        .await
        .must_be(200);
    let path = format!(
        "/v1/agents/{by_replays}/deliveries/{}/replay",
        refused["deliveryId"].as_str().unwrap()
    );
    let (depths, output) = trigger_itself(&stack, &by_replays, &path, json!({})).await;
    assert_eq!(
        (depths, &output["runId"], &output["reason"]),
        (vec![0, 1, 2], &Value::Null, &json!("chain_depth"))
    );
}
