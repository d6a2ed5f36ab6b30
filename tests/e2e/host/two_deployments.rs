//! Two deployments whose agents call each other in a loop. The loop ends at the chain depth,
//! because tool calls carry their depth in a header. [`crate::messages::chains`] has the same for
//! agents of one space.

mod bridge;

use serde_json::{Value, json};

use crate::{
    support::{
        model::{call, stop},
        routes::id,
        stack::Stack,
        tool_scene::http_tool,
        waiting::{SOON, wait_for},
    },
    webhooks::incoming::field,
};

const KEYS: [&str; 2] = ["the-first-deployments-own-key", "the-second-deployments-own-key"];

/// Two products. The tools of each may call the other, whose key is their secret `PEER`.
async fn two_stacks() -> Option<[Stack; 2]> {
    let one = Stack::keyed(
        KEYS[0],
        &[("SMARTSPACE_TOOL_HOSTS", "127.0.0.1"), ("SMARTSPACE_SECRET_PEER", KEYS[1])],
    )
    .await?;
    let other = Stack::keyed(
        KEYS[1],
        &[("SMARTSPACE_TOOL_HOSTS", "127.0.0.1"), ("SMARTSPACE_SECRET_PEER", KEYS[0])],
    )
    .await?;
    Some([one, other])
}

/// A tool that posts `body` to the other deployment.
fn peer_tool(url: &str, body: Value) -> Value {
    http_tool(
        "tell",
        "POST",
        url,
        json!({ "headers": { "Authorization": "Bearer ${secret.PEER}" }, "body": body }),
    )
}

async fn give_tool(stack: &Stack, agent: &str, tool: Value) {
    stack
        .patch(&format!("/v1/entities/{agent}"), json!({ "agent": { "tools": [tool] } }))
        .await
        .must_be(200);
}

/// The status and the output of a run's first call.
async fn call_of(stack: &Stack, run: &Value) -> (String, Value) {
    let run = stack.ended(&field(run, "id"), SOON).await;
    let calls = run["steps"][0]["calls"].as_array().unwrap();
    (field(&calls[0], "status"), calls[0]["output"].clone())
}

fn depths(items: &[Value]) -> Vec<u64> {
    items.iter().map(|item| item["chainDepth"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn agents_of_two_deployments_that_trigger_each_other_stop_at_the_chain_depth() {
    let Some(stacks) = two_stacks().await else { return };
    let mut agents = Vec::new();
    for stack in &stacks {
        stack.model.answers("ada", |request| {
            if request.step() == 0 { call("tell", json!({})).into() } else { stop() }
        });
        agents.push(stack.receiver(json!({})).await);
    }
    for (index, peer) in [(0, 1), (1, 0)] {
        let url = format!("{}/v1/agents/{}/trigger", stacks[peer].url, agents[peer]);
        let payload = json!({ "said": "your turn" });
        let body = json!({ "service": format!("deployment-{index}"), "payload": payload });
        give_tool(&stacks[index], &agents[index], peer_tool(&url, body)).await;
    }
    stacks[0].trigger(&agents[0], "operator", &json!("begin"), &[]).await.must_be(202);
    let refused = wait_for("the last delivery is refused", SOON, async || {
        let refused = stacks[1].deliveries(&agents[1], "?status=refused").await;
        (!refused.is_empty()).then_some(refused)
    })
    .await;
    let [refused] = &refused[..] else { panic!("one refused delivery: {refused:?}") };

    // The runs of the first deployment have the depths 0, 2 and 4, those of the second 1 and 3. The
    // run with the depth 5 is refused.
    let mut runs = Vec::new();
    for (stack, agent) in stacks.iter().zip(&agents) {
        let mut of_agent = stack.runs_by(agent).await;
        of_agent.reverse();
        runs.push(of_agent);
    }
    assert_eq!([depths(&runs[0]), depths(&runs[1])], [vec![0, 2, 4], vec![1, 3]]);
    assert_eq!(
        (&refused["reason"], &refused["service"]),
        (&json!("chain_depth"), &json!("deployment-0"))
    );
    assert_last_call(&stacks[0], &runs[0][2], refused).await;
    for (by, number, next) in [(0, 0, 0), (1, 0, 1), (0, 1, 1), (1, 1, 2)] {
        let triggered = id(&runs[1 - by][next]);
        let triggered = stacks[1 - by].run(&triggered).await;
        assert_triggers(&stacks[by], &runs[by][number], &triggered).await;
    }
    for (index, (stack, agent)) in stacks.iter().zip(&agents).enumerate() {
        assert!(
            stack.runs_by(agent).await.iter().all(|run| run["status"] == "completed"),
            "no run is active"
        );
        assert!(
            !stack.log().contains(KEYS[1 - index]),
            "the log of a deployment does not contain the other's key"
        );
    }
}

/// Checks that the model learns from its last call that the delivery was refused.
async fn assert_last_call(stack: &Stack, run: &Value, refused: &Value) {
    let (status, output) = call_of(stack, run).await;
    let expected = json!({ "deliveryId": refused["id"], "runId": null, "reason": "chain_depth" });
    assert_eq!((status.as_str(), &output), ("completed", &expected));
    let results = stack.model.requests("ada").pop().unwrap().results();
    assert_eq!(results, [output], "the output says that the call triggered no run");
}

/// Checks that the call of a run triggered the run `next`.
async fn assert_triggers(stack: &Stack, run: &Value, next: &Value) {
    let (status, output) = call_of(stack, run).await;
    assert_eq!(
        (status.as_str(), &output["runId"], &output["deliveryId"]),
        ("completed", &next["id"], &next["trigger"]["deliveryId"])
    );
}
