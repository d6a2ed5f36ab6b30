//! Deliveries that are stored but trigger no run: the agent is paused, the chain is too deep, or
//! the runs of the minute are used up.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    auth::rates::in_one_minute,
    support::{
        client::Reply,
        stack::Stack,
        waiting::SOON,
        webhook_senders::{Scheme, sample_payload},
    },
    webhooks::incoming::{field, statuses},
};

/// How a delivery arrives: from a service, or from the operator in its name.
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
            "a repeated delivery gets another answer"
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

/// Sends three deliveries of each of three services, twice, to an agent with this number of runs a
/// minute. Returns how many deliveries of each service triggered a run, and the number of
/// deliveries by status.
async fn deliver_in_one_minute(
    stack: &Stack,
    budget: u32,
) -> (Vec<usize>, BTreeMap<String, usize>) {
    let agent = stack.receiver(json!({ "budget": { "runsPerMinute": budget } })).await;
    let mut woken = Vec::new();
    for (service, scheme) in
        [("github", Scheme::Github), ("standard", Scheme::Standard), ("slack", Scheme::Slack)]
    {
        let mut count = 0;
        for key in ["one", "two", "three"] {
            let answer = stack.hook(&agent, service, &scheme.signed(key)).await.must_be(202);
            count += usize::from(answer["runId"].is_string());
            assert_eq!(answer["runId"].is_null(), answer["reason"] == "rate", "{answer}");
            assert_eq!(
                stack.hook(&agent, service, &scheme.signed(key)).await.must_be(202),
                answer,
                "a repeated delivery gets another answer"
            );
        }
        woken.push(count);
    }
    let runs = stack.runs_by(&agent).await.len();
    assert_eq!(runs, woken.iter().sum::<usize>());
    (woken, statuses(stack, &agent).await)
}

#[tokio::test]
async fn services_get_half_of_the_runs_of_a_minute() {
    let Some(stack) = Stack::receiving_at_once().await else { return };
    for (budget, woken) in [
        (1, [1, 0, 0]),
        (2, [1, 0, 0]),
        (3, [2, 0, 0]),
        (4, [2, 0, 0]),
        (8, [3, 1, 0]),
        (10, [3, 2, 0]),
    ] {
        let accepted: usize = woken.iter().sum();
        let (counts, statuses) =
            in_one_minute(async || deliver_in_one_minute(&stack, budget).await).await;
        assert_eq!(counts, woken, "{budget} runs a minute");
        let expected = [("accepted", accepted), ("refused", 9 - accepted), ("repeated", 9)]
            .map(|(status, count)| (status.to_owned(), count));
        assert_eq!(statuses, BTreeMap::from(expected), "{budget} runs a minute");
    }
}

#[tokio::test]
async fn a_rate_limited_delivery_can_be_replayed_within_the_operators_half() {
    let Some(stack) = Stack::receiving_at_once().await else { return };
    let [accepted, refused, replayed, replayed_again] = in_one_minute(async || {
        let agent = stack.receiver(json!({ "budget": { "runsPerMinute": 2 } })).await;
        let one = stack.trigger(&agent, "ci", &json!({ "key": "one" }), &[]).await.must_be(202);
        let two = stack.trigger(&agent, "ci", &json!({ "key": "two" }), &[]).await.must_be(202);
        let delivery = field(&two, "deliveryId");
        let replay = stack.replay(&agent, &delivery).await.must_be(202);
        [one, two, replay, stack.replay(&agent, &delivery).await.must_be(202)]
    })
    .await;
    assert!(accepted["runId"].is_string(), "{accepted}");
    assert_eq!(refused["reason"], "rate", "{refused}");
    // The operator may use the half that is reserved for people, but not more than the budget.
    assert!(replayed["runId"].is_string(), "{replayed}");
    assert_eq!(
        (&replayed_again["runId"], &replayed_again["reason"]),
        (&Value::Null, &json!("rate")),
        "{replayed_again}"
    );
}
