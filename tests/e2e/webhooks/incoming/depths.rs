//! The header `smartspace-chain-depth`, in which a caller declares its chain depth. It counts if it
//! is higher than the depth that the product knows.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    api::bad_input::assert_problem,
    auth::rates::in_one_minute,
    plans::operator::{daily, once},
    support::{
        client::{Client, Reply},
        routes::{id, triggered_run},
        stack::Stack,
        webhook_senders::signatures::Scheme,
    },
    webhooks::incoming::field,
};

const HEADER: &str = "smartspace-chain-depth";

/// Posts a message with a declared depth.
async fn post(client: &Client, space: &str, sender: &str, depth: &str) -> Reply {
    client.send(client.post_request(space, sender, "Hello", None).header(HEADER, depth)).await
}

#[tokio::test]
async fn a_message_has_the_depth_that_its_caller_declares() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let person = stack.person("Husam").await;
    let agent = stack.receiver(json!({})).await;
    let space = stack.space_with("Team", &[&person, &agent], json!({ "maxChainDepth": 3 })).await;
    let member = stack.as_entity(&person);
    for (client, depth) in
        [(&*stack, 0), (&*stack, 2), (&member, 2), (&member, 0), (&member, 3), (&*stack, 1_000_000)]
    {
        let message = post(client, &space, &person, &depth.to_string()).await.must_be(201);
        assert_eq!(message["chainDepth"], depth);
        match triggered_run(&message, &agent) {
            Some(run) if depth < 3 => assert_eq!(stack.run(&run).await["chainDepth"], depth),
            None if depth >= 3 => assert_eq!(
                message["dispatch"],
                json!([{ "agentId": agent, "runId": null, "reason": "chain_depth" }])
            ),
            other => panic!("{depth}: {other:?}"),
        }
    }
    // A message of an agent is one deeper than the last message, or has the declared depth.
    let mut depths = Vec::new();
    for (sender, depth) in
        [(&person, "0"), (&agent, "0"), (&agent, "1"), (&agent, "7"), (&agent, "2"), (&person, "0")]
    {
        depths.push(post(&stack, &space, sender, depth).await.must_be(201)["chainDepth"].clone());
    }
    assert_eq!(depths, [0, 1, 2, 7, 8, 0]);
    stack.quiet(&space).await;
}

/// Sends a request with the operator's key and a declared depth.
async fn request_at_depth(
    client: &Client,
    method: Method,
    path: &str,
    body: Option<Value>,
    depth: &str,
) -> Reply {
    let request = client.request(method, path).bearer_auth(&client.key).header(HEADER, depth);
    client.send(if let Some(body) = body { request.json(&body) } else { request }).await
}

#[tokio::test]
async fn replays_and_plan_runs_have_the_depth_that_their_caller_declares() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({ "maxChainDepth": 3 })).await;
    let path = format!("/v1/agents/{agent}");
    let first = stack.trigger(&agent, "ci", &json!({}), &[]).await.must_be(202);
    let replay = format!("{path}/deliveries/{}/replay", field(&first, "deliveryId"));
    let run = format!("{path}/plans/{}/run", id(&stack.plan(&agent, daily("Report")).await));
    for depth in 0..3 {
        let declared = depth.to_string();
        let again = request_at_depth(&stack, Method::POST, &replay, None, &declared).await;
        let again = again.must_be(202);
        assert_eq!(stack.run(&field(&again, "runId")).await["chainDepth"], depth);
        let by_hand = request_at_depth(&stack, Method::POST, &run, None, &declared).await;
        assert_eq!(by_hand.must_be(202)["chainDepth"], depth);
    }
    let again = request_at_depth(&stack, Method::POST, &replay, None, "3").await.must_be(202);
    assert_eq!((&again["runId"], &again["reason"]), (&Value::Null, &json!("chain_depth")));
    let too_deep = request_at_depth(&stack, Method::POST, &run, None, "3").await;
    assert_problem(&too_deep, &[409], "chain depth 3", "a plan run at its agent's chain depth");
    assert_eq!(stack.runs_by(&agent).await.len(), 7);
}

#[tokio::test]
async fn a_plan_has_the_depth_that_its_caller_declares_unless_it_has_a_cron_schedule() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({ "maxChainDepth": 3 })).await;
    let path = format!("/v1/agents/{agent}/plans");
    let set = async |plan: Value, depth: &str| {
        request_at_depth(&stack, Method::POST, &path, Some(plan), depth).await
    };
    set(once("Soon", "1 second"), "2").await.must_be(201);
    assert_eq!(stack.fired(&agent, 1).await[0]["chainDepth"], 2);
    let too_deep = set(once("Later", "1 hour"), "3").await;
    assert_problem(&too_deep, &[409], "chain depth would be 3", "a new plan");
    let by_cron = set(daily("Report"), "1000000").await.must_be(201);

    let by_cron_path = format!("{path}/{}", id(&by_cron));
    let change = async |change: Value, depth: &str| {
        request_at_depth(&stack, Method::PUT, &by_cron_path, Some(change), depth).await
    };
    let refused = change(json!({ "runAfter": "1 second" }), "3").await;
    assert_problem(&refused, &[409], "chain depth would be 3", "a changed plan");
    assert_eq!(stack.plans(&agent).await, [by_cron]);
    change(json!({ "runAfter": "1 second" }), "1").await.must_be(200);
    assert_eq!(stack.fired(&agent, 2).await[0]["chainDepth"], 1);
}

#[tokio::test]
async fn requests_from_a_chain_use_the_rate_of_agents_not_of_people() {
    let Some(stack) = Stack::receiving_at_once().await else { return };
    let accepted = in_one_minute(async || {
        let settings = json!({ "budget": { "runsPerMinute": 4 }, "paused": true });
        let agent = stack.receiver(settings).await;
        let first = stack.trigger(&agent, "ci", &json!({}), &[]).await.must_be(202);
        let unpaused = json!({ "agent": { "paused": false } });
        stack.patch(&format!("/v1/entities/{agent}"), unpaused).await.must_be(200);
        let path = format!("/v1/agents/{agent}");
        let replay = format!("{path}/deliveries/{}/replay", field(&first, "deliveryId"));
        let run = format!("{path}/plans/{}/run", id(&stack.plan(&agent, daily("Report")).await));
        let mut accepted = Vec::new();
        for depth in ["1", "0"] {
            for path in [&replay, &run, &replay, &run] {
                let answer = request_at_depth(&stack, Method::POST, path, None, depth).await;
                let body = &answer.body;
                accepted.push(body["runId"].is_string() || body["chainDepth"].is_u64());
            }
        }
        accepted
    })
    .await;
    // Two of the four runs are reserved for people.
    assert_eq!(accepted, [true, true, false, false, true, false, false, false]);
}

#[tokio::test]
async fn a_malformed_depth_is_refused_on_every_route() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let person = stack.person("Husam").await;
    let agent = stack.receiver(json!({})).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    let first = stack.trigger(&agent, "ci", &json!({}), &[]).await.must_be(202);
    let plan = stack.plan(&agent, daily("Report")).await;
    let path = format!("/v1/agents/{agent}");
    let replay = format!("{path}/deliveries/{}/replay", field(&first, "deliveryId"));
    let plans = format!("{path}/plans");
    let plan_path = format!("{plans}/{}", id(&plan));
    let change = json!({ "name": "Late report" });
    let bad =
        ["", "-1", "+1", "1.0", "1e3", "0x1", "one", "1,x", "1000001", "99999999999999999999"];
    for depth in bad {
        let refused = [
            post(&stack, &space, &person, depth).await,
            stack.trigger(&agent, "ci", &json!({}), &[(HEADER, depth)]).await,
            stack.hook(&agent, "github", &Scheme::Github.signed("one").with(HEADER, depth)).await,
            request_at_depth(&stack, Method::POST, &replay, None, depth).await,
            request_at_depth(&stack, Method::POST, &plans, Some(daily("Another")), depth).await,
            request_at_depth(&stack, Method::PUT, &plan_path, Some(change.clone()), depth).await,
            request_at_depth(&stack, Method::POST, &format!("{plan_path}/run"), None, depth).await,
        ];
        for reply in refused {
            assert_problem(&reply, &[400], "smartspace-chain-depth: expected 0 to 1000000", depth);
        }
    }
    assert!(stack.messages(&space).await.is_empty());
    assert_eq!((stack.runs_by(&agent).await.len(), stack.plans(&agent).await), (1, vec![plan]));
    let listed = stack.deliveries(&agent, "?service=github").await;
    assert!(
        listed.len() == bad.len()
            && listed.iter().all(|one| one["status"] == "rejected" && one["key"] == Value::Null),
        "{listed:?}"
    );
    let made = stack.hook(&agent, "github", &Scheme::Github.signed("one")).await.must_be(202);
    assert!(!field(&made, "runId").is_empty(), "a rejected delivery used up its key");
}
