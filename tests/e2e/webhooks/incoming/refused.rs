//! Deliveries that are stored but trigger no run: the agent is paused, the chain is too deep, or
//! the limit of runs per minute is reached.

mod rates;

use serde_json::{Value, json};

use crate::{
    support::{
        client::Reply,
        stack::Stack,
        waiting::SOON,
        webhook_senders::{sample_payload, signatures::Scheme},
    },
    webhooks::incoming::field,
};

/// How a delivery arrives: from a service, or from the operator in the service's name.
#[derive(Clone, Copy, Debug)]
enum Route {
    Hook,
    Trigger,
}

/// Delivers the sample payload with this key and declared depth.
async fn deliver(stack: &Stack, route: Route, agent: &str, key: &str, depth: &str) -> Reply {
    match route {
        Route::Hook => {
            let signed = Scheme::Github.signed(key).with("smartspace-chain-depth", depth);
            stack.hook(agent, "github", &signed).await
        }
        Route::Trigger => {
            let headers = [("idempotency-key", key), ("smartspace-chain-depth", depth)];
            stack.trigger(agent, "github", &sample_payload(key), &headers).await
        }
    }
}

#[tokio::test]
async fn deliveries_to_a_paused_agent_are_stored_and_can_be_replayed() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    for route in [Route::Hook, Route::Trigger] {
        let agent = stack.receiver(json!({ "paused": true })).await;
        let refused = deliver(&stack, route, &agent, "one", "0").await.must_be(202);
        let delivery = field(&refused, "deliveryId");
        assert_eq!(
            refused,
            json!({ "deliveryId": delivery, "runId": null, "reason": "paused" }),
            "{route:?}"
        );
        assert_eq!(
            deliver(&stack, route, &agent, "one", "0").await.must_be(202),
            refused,
            "{route:?}"
        );
        let listed = stack.deliveries(&agent, "?status=refused").await;
        let shown = (&listed[0]["id"], &listed[0]["reason"], &listed[0]["runId"]);
        assert_eq!(
            (listed.len(), shown),
            (1, (&json!(delivery), &json!("paused"), &Value::Null)),
            "{route:?}"
        );

        stack
            .patch(&format!("/v1/entities/{agent}"), json!({ "agent": { "paused": false } }))
            .await
            .must_be(200);
        assert_eq!(
            deliver(&stack, route, &agent, "one", "0").await.must_be(202),
            refused,
            "a repeated delivery got a different answer"
        );
        assert!(stack.runs_by(&agent).await.is_empty());
        let again = stack.replay(&agent, &delivery).await.must_be(202);
        let run = stack.ended(&field(&again, "runId"), SOON).await;
        assert_eq!(
            (&run["status"], &run["trigger"]["payload"]),
            (&json!("completed"), &sample_payload("one"))
        );
        assert_eq!(run["trigger"]["deliveryId"], again["deliveryId"]);
        deliver(&stack, route, &agent, "two", "0").await.must_be(202);
        assert_eq!(stack.runs_by(&agent).await.len(), 2, "{route:?}");
    }
}

#[tokio::test]
async fn deliveries_at_the_chain_depth_of_an_agent_trigger_no_run() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    for route in [Route::Hook, Route::Trigger] {
        let agent = stack.receiver(json!({ "maxChainDepth": 2 })).await;
        for (key, depth) in [("one", "0"), ("two", "1"), ("three", "2"), ("four", "1000000")] {
            let answer = deliver(&stack, route, &agent, key, depth).await.must_be(202);
            if ["0", "1"].contains(&depth) {
                let run = stack.run(&field(&answer, "runId")).await;
                assert_eq!(run["chainDepth"].to_string(), depth, "{route:?}");
            } else {
                assert_eq!(
                    (&answer["runId"], &answer["reason"]),
                    (&Value::Null, &json!("chain_depth")),
                    "{route:?}: {answer}"
                );
                assert_eq!(
                    deliver(&stack, route, &agent, key, "0").await.must_be(202),
                    answer,
                    "{route:?}"
                );
            }
        }
        let listed = stack.deliveries(&agent, "?status=refused").await;
        assert!(
            listed.len() == 2 && listed.iter().all(|one| one["reason"] == "chain_depth"),
            "{listed:?}"
        );
        // A replay starts a new chain.
        let again = stack.replay(&agent, listed[0]["id"].as_str().unwrap()).await.must_be(202);
        assert_eq!(stack.run(&field(&again, "runId")).await["chainDepth"], 0);
    }
    // With a maximal depth of 0 no delivery triggers a run.
    let agent = stack.receiver(json!({ "maxChainDepth": 0 })).await;
    let answer = deliver(&stack, Route::Hook, &agent, "one", "0").await.must_be(202);
    assert_eq!(answer["reason"], "chain_depth");
}
