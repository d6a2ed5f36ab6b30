//! `smartspace-chain-depth`: how deep in a chain of agents' doings a caller says that it is. It counts where it is higher than what is known.

use reqwest::Method;
use serde_json::{Value, json};

use super::{
    super::{
        bad_input::assert_problem,
        client::{Client, Reply},
        plans::{daily, once},
        rates::in_one_minute,
        routes::{id, woken},
        services::Scheme,
        stack::Stack,
    },
    field,
};

const HEADER: &str = "smartspace-chain-depth";

async fn posted(client: &Client, space: &str, sender: &str, depth: &str) -> Reply {
    client.send(client.posting(space, sender, "Hello", None).header(HEADER, depth)).await
}

#[tokio::test]
async fn a_message_is_as_deep_as_its_caller_says() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let (person, agent) = (stack.person("Husam").await, stack.receiver(json!({})).await);
    let space = stack.space_with("Team", &[&person, &agent], json!({ "maxChainDepth": 3 })).await;
    let member = stack.as_entity(&person);
    for (client, depth) in [(&*stack, 0), (&*stack, 2), (&member, 2), (&member, 0), (&member, 3), (&*stack, 1_000_000)] {
        let message = posted(client, &space, &person, &depth.to_string()).await.must_be(201);
        assert_eq!(message["chainDepth"], depth);
        match woken(&message, &agent) {
            Some(run) if depth < 3 => assert_eq!(stack.run(&run).await["chainDepth"], depth),
            None if depth >= 3 => assert_eq!(message["dispatch"], json!([{ "agentId": agent, "runId": null, "reason": "chain_depth" }])),
            other => panic!("{depth}: {other:?}"),
        }
    }
    // In an agent's name it is one deeper than the last message, or as deep as it says.
    let mut depths = Vec::new();
    for (sender, depth) in [(&person, "0"), (&agent, "0"), (&agent, "1"), (&agent, "7"), (&agent, "2"), (&person, "0")] {
        depths.push(posted(&stack, &space, sender, depth).await.must_be(201)["chainDepth"].clone());
    }
    assert_eq!(depths, [0, 1, 2, 7, 8, 0]);
    stack.quiet(&space).await;
}

/// Asks with the operator's key from so deep.
async fn asked(client: &Client, method: Method, path: &str, body: Option<Value>, depth: &str) -> Reply {
    let request = client.request(method, path).bearer_auth(&client.key).header(HEADER, depth);
    client.send(if let Some(body) = body { request.json(&body) } else { request }).await
}

#[tokio::test]
async fn what_is_sent_again_or_run_by_hand_is_as_deep_as_its_caller_says() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({ "maxChainDepth": 3 })).await;
    let path = format!("/v1/agents/{agent}");
    let kept = stack.trigger(&agent, "ci", &json!({}), &[]).await.must_be(202);
    let replay = format!("{path}/deliveries/{}/replay", field(&kept, "deliveryId"));
    let run = format!("{path}/plans/{}/run", id(&stack.plan(&agent, daily("Report")).await));
    for depth in 0..3 {
        let again = asked(&stack, Method::POST, &replay, None, &depth.to_string()).await.must_be(202);
        assert_eq!(stack.run(&field(&again, "runId")).await["chainDepth"], depth);
        let by_hand = asked(&stack, Method::POST, &run, None, &depth.to_string()).await.must_be(202);
        assert_eq!(by_hand["chainDepth"], depth);
    }
    let again = asked(&stack, Method::POST, &replay, None, "3").await.must_be(202);
    assert_eq!((&again["runId"], &again["reason"]), (&Value::Null, &json!("chain_depth")));
    assert_problem(&asked(&stack, Method::POST, &run, None, "3").await, &[409], "3 deep", "a plan run from too deep");
    assert_eq!(stack.runs_by(&agent).await.len(), 7);
}

#[tokio::test]
async fn a_plan_is_as_deep_as_who_sets_it_says_unless_it_is_by_cron() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({ "maxChainDepth": 3 })).await;
    let path = format!("/v1/agents/{agent}/plans");
    let set = async |plan: Value, depth: &str| asked(&stack, Method::POST, &path, Some(plan), depth).await;
    set(once("Soon", "1 second"), "2").await.must_be(201);
    assert_eq!(stack.fired(&agent, 1).await[0]["chainDepth"], 2);
    assert_problem(&set(once("Later", "1 hour"), "3").await, &[409], "3 deep", "what it wakes would be too deep");
    let by_cron = set(daily("Report"), "1000000").await.must_be(201);

    let place = format!("{path}/{}", id(&by_cron));
    let change = async |change: Value, depth: &str| asked(&stack, Method::PUT, &place, Some(change), depth).await;
    let refused = change(json!({ "runAfter": "1 second" }), "3").await;
    assert_problem(&refused, &[409], "3 deep", "what it wakes would be too deep");
    assert_eq!(stack.plans(&agent).await, [by_cron]);
    change(json!({ "runAfter": "1 second" }), "1").await.must_be(200);
    assert_eq!(stack.fired(&agent, 2).await[0]["chainDepth"], 1);
}

#[tokio::test]
async fn what_comes_from_a_chain_is_no_persons() {
    let Some(stack) = Stack::receiving_at_once().await else { return };
    let taken = in_one_minute(async || {
        let agent = stack.receiver(json!({ "budget": { "runsPerMinute": 4 }, "paused": true })).await;
        let kept = stack.trigger(&agent, "ci", &json!({}), &[]).await.must_be(202);
        stack.patch(&format!("/v1/entities/{agent}"), json!({ "agent": { "paused": false } })).await.must_be(200);
        let replay = format!("/v1/agents/{agent}/deliveries/{}/replay", field(&kept, "deliveryId"));
        let run = format!("/v1/agents/{agent}/plans/{}/run", id(&stack.plan(&agent, daily("Report")).await));
        let mut taken = Vec::new();
        for depth in ["1", "0"] {
            for path in [&replay, &run, &replay, &run] {
                let answer = asked(&stack, Method::POST, path, None, depth).await;
                taken.push(answer.body["runId"].is_string() || answer.body["chainDepth"].is_u64());
            }
        }
        taken
    })
    .await;
    // Half of four are kept for people.
    assert_eq!(taken, [true, true, false, false, true, false, false, false]);
}

#[tokio::test]
async fn what_is_no_depth_is_malformed_at_every_door() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let (person, agent) = (stack.person("Husam").await, stack.receiver(json!({})).await);
    let space = stack.space("Team", &[&person, &agent]).await;
    let kept = stack.trigger(&agent, "ci", &json!({}), &[]).await.must_be(202);
    let (plan, path) = (stack.plan(&agent, daily("Report")).await, format!("/v1/agents/{agent}"));
    let change = json!({ "name": "Late report" });
    let bad = ["", "-1", "+1", "1.0", "1e3", "0x1", "one", "1,2", "1000001", "99999999999999999999"];
    for depth in bad {
        let refused = [
            posted(&stack, &space, &person, depth).await,
            stack.trigger(&agent, "ci", &json!({}), &[(HEADER, depth)]).await,
            stack.hook(&agent, "github", &Scheme::Github.sends("one").with(HEADER, depth)).await,
            asked(&stack, Method::POST, &format!("{path}/deliveries/{}/replay", field(&kept, "deliveryId")), None, depth).await,
            asked(&stack, Method::POST, &format!("{path}/plans"), Some(daily("Another")), depth).await,
            asked(&stack, Method::PUT, &format!("{path}/plans/{}", id(&plan)), Some(change.clone()), depth).await,
            asked(&stack, Method::POST, &format!("{path}/plans/{}/run", id(&plan)), None, depth).await,
        ];
        for reply in refused {
            assert_problem(&reply, &[400], "smartspace-chain-depth: expected 0 to 1000000", depth);
        }
    }
    assert!(stack.messages(&space).await.is_empty());
    assert_eq!((stack.runs_by(&agent).await.len(), stack.plans(&agent).await), (1, vec![plan]));
    let listed = stack.deliveries(&agent, "?service=github").await;
    assert!(listed.len() == bad.len() && listed.iter().all(|one| one["status"] == "rejected" && one["key"] == Value::Null), "{listed:?}");
    let made = stack.hook(&agent, "github", &Scheme::Github.sends("one")).await.must_be(202);
    assert!(!field(&made, "runId").is_empty(), "what was rejected used up no key");
}
