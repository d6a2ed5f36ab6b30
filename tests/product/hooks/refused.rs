//! What is kept and wakes nobody: the agent is paused, the chain of agents' doings is too long, or its minute is used.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    super::{
        client::Reply,
        rates::in_one_minute,
        services::{Scheme, said},
        stack::Stack,
        waiting::SOON,
    },
    field, statuses,
};

/// Which way something comes: by a service, or in its name.
#[derive(Clone, Copy, Debug)]
enum Door {
    Hook,
    Trigger,
}

/// Comes once, or again under the same key.
async fn comes(stack: &Stack, door: Door, agent: &str, key: &str, depth: &str) -> Reply {
    match door {
        Door::Hook => stack.hook(agent, "github", &Scheme::Github.sends(key).with("smartspace-chain-depth", depth)).await,
        Door::Trigger => stack.trigger(agent, "github", &said(key), &[("idempotency-key", key), ("smartspace-chain-depth", depth)]).await,
    }
}

#[tokio::test]
async fn a_paused_agent_keeps_what_comes_and_it_can_be_sent_again() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    for door in [Door::Hook, Door::Trigger] {
        let agent = stack.receiver(json!({ "paused": true })).await;
        let refused = comes(&stack, door, &agent, "one", "0").await.must_be(202);
        let delivery = field(&refused, "deliveryId");
        assert_eq!(refused, json!({ "deliveryId": delivery, "runId": null, "reason": "paused" }), "{door:?}");
        assert_eq!(comes(&stack, door, &agent, "one", "0").await.must_be(202), refused, "{door:?}");
        let listed = stack.deliveries(&agent, "?status=refused").await;
        let shown = (&listed[0]["id"], &listed[0]["reason"], &listed[0]["runId"]);
        assert_eq!((listed.len(), shown), (1, (&json!(delivery), &json!("paused"), &Value::Null)), "{door:?}");

        stack.patch(&format!("/v1/entities/{agent}"), json!({ "agent": { "paused": false } })).await.must_be(200);
        assert_eq!(comes(&stack, door, &agent, "one", "0").await.must_be(202), refused, "what is decided stays so");
        assert!(stack.runs_by(&agent).await.is_empty());
        let again = stack.replay(&agent, &delivery).await.must_be(202);
        let run = stack.ended(&field(&again, "runId"), SOON).await;
        assert_eq!((&run["status"], &run["trigger"]["payload"]), (&json!("completed"), &said("one")));
        assert_eq!(run["trigger"]["deliveryId"], again["deliveryId"]);
        comes(&stack, door, &agent, "two", "0").await.must_be(202);
        assert_eq!(stack.runs_by(&agent).await.len(), 2, "{door:?}");
    }
}

#[tokio::test]
async fn at_its_depth_an_agent_is_not_woken() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    for door in [Door::Hook, Door::Trigger] {
        let agent = stack.receiver(json!({ "maxChainDepth": 2 })).await;
        for (key, depth) in [("one", "0"), ("two", "1"), ("three", "2"), ("four", "1000000")] {
            let answer = comes(&stack, door, &agent, key, depth).await.must_be(202);
            if ["0", "1"].contains(&depth) {
                let run = stack.run(&field(&answer, "runId")).await;
                assert_eq!(run["chainDepth"].to_string(), depth, "{door:?}");
            } else {
                assert_eq!((&answer["runId"], &answer["reason"]), (&Value::Null, &json!("chain_depth")), "{door:?}: {answer}");
                assert_eq!(comes(&stack, door, &agent, key, "0").await.must_be(202), answer, "{door:?}");
            }
        }
        let listed = stack.deliveries(&agent, "?status=refused").await;
        assert!(listed.len() == 2 && listed.iter().all(|one| one["reason"] == "chain_depth"), "{listed:?}");
        // By hand it begins anew.
        let again = stack.replay(&agent, listed[0]["id"].as_str().unwrap()).await.must_be(202);
        assert_eq!(stack.run(&field(&again, "runId")).await["chainDepth"], 0);
    }
    // One of depth 0 is woken by nothing.
    let agent = stack.receiver(json!({ "maxChainDepth": 0 })).await;
    let answer = comes(&stack, Door::Hook, &agent, "one", "0").await.must_be(202);
    assert_eq!(answer["reason"], "chain_depth");
}

/// How many of the deliveries of each service wake an agent that may run so often in a minute; and what all of them became.
async fn of_a_minute(stack: &Stack, budget: u32) -> (Vec<usize>, BTreeMap<String, usize>) {
    let agent = stack.receiver(json!({ "budget": { "runsPerMinute": budget } })).await;
    let mut woken = Vec::new();
    for (service, scheme) in [("github", Scheme::Github), ("standard", Scheme::Standard), ("slack", Scheme::Slack)] {
        let mut count = 0;
        for key in ["one", "two", "three"] {
            let answer = stack.hook(&agent, service, &scheme.sends(key)).await.must_be(202);
            count += usize::from(answer["runId"].is_string());
            assert_eq!(answer["runId"].is_null(), answer["reason"] == "rate", "{answer}");
            assert_eq!(stack.hook(&agent, service, &scheme.sends(key)).await.must_be(202), answer, "what is decided stays so");
        }
        woken.push(count);
    }
    let runs = stack.runs_by(&agent).await.len();
    assert_eq!(runs, woken.iter().sum::<usize>());
    (woken, statuses(stack, &agent).await)
}

#[tokio::test]
async fn of_a_minutes_runs_half_is_kept_from_services() {
    let Some(stack) = Stack::receiving_at_once().await else { return };
    for (budget, woken) in [(1, [1, 0, 0]), (2, [1, 0, 0]), (3, [2, 0, 0]), (4, [2, 0, 0]), (8, [3, 1, 0]), (10, [3, 2, 0])] {
        let accepted: usize = woken.iter().sum();
        let (counts, statuses) = in_one_minute(async || of_a_minute(&stack, budget).await).await;
        assert_eq!(counts, woken, "{budget} runs a minute");
        let expected =
            [("accepted", accepted), ("refused", 9 - accepted), ("repeated", 9)].map(|(status, count)| (status.to_owned(), count));
        assert_eq!(statuses, BTreeMap::from(expected), "{budget} runs a minute");
    }
}

#[tokio::test]
async fn what_the_rate_refused_can_be_sent_again_by_hand() {
    let Some(stack) = Stack::receiving_at_once().await else { return };
    let (woken, again, budget) = in_one_minute(async || {
        let agent = stack.receiver(json!({ "budget": { "runsPerMinute": 2 } })).await;
        let mut answers = Vec::new();
        for key in ["one", "two"] {
            answers.push(stack.trigger(&agent, "ci", &json!({ "key": key }), &[]).await.must_be(202));
        }
        let refused = field(&answers[1], "deliveryId");
        let by_hand = stack.replay(&agent, &refused).await.must_be(202);
        let once_more = stack.replay(&agent, &refused).await.must_be(202);
        (answers[0]["runId"].is_string() && answers[1]["reason"] == "rate", by_hand, once_more)
    })
    .await;
    assert!(woken);
    assert!(again["runId"].is_string(), "people's half is the operator's too: {again}");
    assert_eq!((&budget["runId"], &budget["reason"]), (&Value::Null, &json!("rate")), "no more than the budget: {budget}");
}
