//! Replaying stored deliveries.

use std::collections::BTreeMap;

use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    api::bad_input::assert_problem,
    support::{stack::Stack, waiting::SOON},
    webhooks::{
        deliveries::{WORD, one_of_each},
        incoming::{field, service_trigger},
    },
};

#[tokio::test]
async fn stored_deliveries_can_be_replayed_and_others_are_refused_with_a_reason() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({})).await;
    let second = stack.receiver(json!({})).await;
    one_of_each(&stack, &agent).await;
    let listed = stack.deliveries(&agent, "?service=github").await;
    let by_status: BTreeMap<&str, &Value> =
        listed.iter().map(|one| (one["status"].as_str().unwrap(), one)).collect();
    for status in ["accepted", "refused"] {
        replay_twice(&stack, &agent, by_status[status]).await;
    }
    for status in ["repeated", "rejected"] {
        let refused = stack.replay(&agent, by_status[status]["id"].as_str().unwrap()).await;
        assert_problem(&refused, &[409], &format!("it was {status}"), status);
    }
    let stored = by_status["accepted"]["id"].as_str().unwrap();
    for (agent, delivery) in [
        (&*second, stored),
        (&*agent, "dlv_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        (&*agent, "one"),
        ("ent_01ARZ3NDEKTSV4RRFFQ69G5FAV", stored),
    ] {
        assert_eq!(stack.replay(agent, delivery).await.status, 404, "{agent} {delivery}");
    }
    assert_eq!(stack.as_entity(&agent).replay(&agent, stored).await.status, 403);
    assert!(stack.deliveries(&second, "").await.is_empty());
    assert_eq!(stack.runs_by(&agent).await.len(), 2 + 4);
}

/// Replays a delivery, and then the replay.
async fn replay_twice(stack: &Stack, agent: &str, first: &Value) {
    let again = stack.replay(agent, &field(first, "id")).await.must_be(202);
    assert_eq!(again.as_object().unwrap().len(), 2, "{again}");
    let delivery = field(&again, "deliveryId");
    let run = stack.ended(&field(&again, "runId"), SOON).await;
    let newest = stack.deliveries(agent, "?limit=1").await.remove(0);
    assert_eq!(
        newest,
        json!({
            "id": delivery,
            "service": "github",
            "key": delivery,
            "status": "accepted",
            "reason": null,
            "runId": run["id"],
            "bytes": first["bytes"],
            "receivedAt": newest["receivedAt"],
        })
    );
    let payload = json!({ "text": WORD });
    let trigger = service_trigger("github", &payload, &delivery, &newest["receivedAt"]);
    assert_eq!(run["trigger"], trigger);
    assert_ne!((&again["deliveryId"], &run["id"]), (&first["id"], &first["runId"]));
    assert!(stack.deliveries(agent, "").await.contains(first), "the replay changed the original");
    stack.replay(agent, &delivery).await.must_be(202);
}

#[tokio::test]
async fn replays_with_one_idempotency_key_take_effect_once() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({})).await;
    let first = stack.trigger(&agent, "ci", &json!({ "n": 1 }), &[]).await.must_be(202);
    let path =
        format!("/v1/agents/{agent}/deliveries/{}/replay", first["deliveryId"].as_str().unwrap());
    let replay = |key: &str| {
        stack.send(
            stack
                .request(Method::POST, &path)
                .bearer_auth(&stack.key)
                .header("idempotency-key", key),
        )
    };
    let at_once: Vec<Value> = join_all((0..10).map(|_| replay("k")))
        .await
        .into_iter()
        .map(|reply| reply.must_be(202))
        .collect();
    assert!(
        at_once.iter().all(|answer| *answer == at_once[0] && answer["runId"].is_string()),
        "{at_once:?}"
    );
    assert_eq!(replay("k").await.must_be(202), at_once[0]);
    assert_ne!(replay("l").await.must_be(202), at_once[0]);
    assert_eq!(stack.runs_by(&agent).await.len(), 3);
    assert_eq!(stack.deliveries(&agent, "").await.len(), 3);
    // Keys of replays and of triggers are separate.
    let other = stack
        .trigger(&agent, "ci", &json!({ "n": 1 }), &[("idempotency-key", "k")])
        .await
        .must_be(202);
    assert_ne!(other, at_once[0]);
}
