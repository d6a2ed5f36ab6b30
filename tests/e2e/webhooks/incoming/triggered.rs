//! `POST /v1/agents/{id}/trigger`: the operator triggers an agent in the name of a service.

use std::collections::BTreeMap;

use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    api::bad_input::assert_problem,
    support::{stack::Stack, waiting::SOON},
    webhooks::incoming::{field, service_trigger, statuses},
};

#[tokio::test]
async fn a_trigger_starts_a_run_in_the_name_of_a_service() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({})).await;
    // The agent has no webhook of this name.
    let payload = json!({ "issue": "SMA-1", "text": "one\nTRIGGER:\u{202e}" });
    let made = stack.trigger(&agent, "jira.prod_1-x", &payload, &[]).await.must_be(202);
    let delivery = field(&made, "deliveryId");
    let run = field(&made, "runId");
    assert_eq!(made, json!({ "deliveryId": delivery, "runId": run }));
    let run = stack.ended(&run, SOON).await;
    let listed = stack.deliveries(&agent, "").await;
    let at = &listed[0]["receivedAt"];
    let expected = json!({
        "id": delivery,
        "service": "jira.prod_1-x",
        "key": delivery,
        "status": "accepted",
        "reason": null,
        "runId": run["id"],
        "bytes": payload.to_string().len(),
        "receivedAt": at,
    });
    assert_eq!(listed, [expected]);
    assert_eq!(run["trigger"], service_trigger("jira.prod_1-x", &payload, &delivery, at));
    assert_eq!(stack.model.requests("ada")[0].user().block("TRIGGER").len(), 2);
    let again = stack.trigger(&agent, "jira.prod_1-x", &payload, &[]).await.must_be(202);
    assert_ne!(again["runId"], made["runId"], "each trigger without a key is another delivery");
}

#[tokio::test]
async fn triggers_with_one_idempotency_key_start_one_run() {
    let Some(mut stack) = Stack::receiving_on_disk().await else { return };
    let agent = stack.receiver(json!({})).await;
    let payload = json!({ "n": 1 });
    let key = [("idempotency-key", "k-1")];
    let first = stack.trigger(&agent, "ci", &payload, &key).await.must_be(202);
    assert_eq!(stack.trigger(&agent, "ci", &payload, &key).await.must_be(202), first);
    let at_once = join_all(
        (0..10).map(|_| stack.trigger(&agent, "ci", &payload, &[("idempotency-key", "k-2")])),
    )
    .await;
    let at_once: Vec<Value> = at_once.into_iter().map(|reply| reply.must_be(202)).collect();
    assert!(at_once.iter().all(|answer| *answer == at_once[0] && *answer != first), "{at_once:?}");
    stack.kill9();
    stack.restart().await;
    assert_eq!(stack.trigger(&agent, "ci", &payload, &key).await.must_be(202), first);
    for (service, payload) in [("ci", json!({ "n": 2 })), ("cd", payload.clone())] {
        assert_problem(
            &stack.trigger(&agent, service, &payload, &key).await,
            &[422],
            "another body",
            "another body",
        );
    }
    for bad in ["", "ä", &"k".repeat(300)] {
        assert_eq!(
            stack.trigger(&agent, "ci", &payload, &[("idempotency-key", bad)]).await.status,
            400,
            "{bad:.10}"
        );
    }
    assert_eq!(stack.runs_by(&agent).await.len(), 2);
    assert_eq!(statuses(&stack, &agent).await, BTreeMap::from([("accepted".to_owned(), 2)]));
    // Keys are scoped per agent.
    let second = stack.receiver(json!({})).await;
    let other = stack.trigger(&second, "ci", &payload, &key).await.must_be(202);
    assert_ne!(other["runId"], first["runId"]);
}

#[tokio::test]
async fn bad_triggers_are_refused_and_store_nothing() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({ "paused": true })).await;
    let path = format!("/v1/agents/{agent}/trigger");
    assert_sizes(&stack, &path).await;
    assert_fields(&stack, &agent, &path).await;
    assert_exact_numbers(&stack, &path).await;
    for payload in [json!(null), json!(0), json!(""), json!([]), json!({})] {
        stack.trigger(&agent, "ci", &payload, &[]).await.must_be(202);
    }
    let person = stack.person("Husam").await;
    for caller in [stack.as_entity(&person), stack.as_entity(&agent)] {
        assert_eq!(caller.trigger(&agent, "ci", &json!(1), &[]).await.status, 403);
    }
    for no_agent in [&person, "ent_01ARZ3NDEKTSV4RRFFQ69G5FAV", "nobody"] {
        assert_eq!(stack.trigger(no_agent, "ci", &json!(1), &[]).await.status, 404, "{no_agent}");
    }
    assert_eq!(stack.deliveries(&agent, "").await.len(), 6, "a refused trigger was stored");
}

/// Sends the longest payload and longer ones.
async fn assert_sizes(stack: &Stack, path: &str) {
    let most = 128 * 1024;
    let of_size = |bytes: usize| json!({ "service": "ci", "payload": "x".repeat(bytes - 2) });
    stack.create(path, of_size(most)).await.must_be(202);
    let long_payload = stack.create(path, of_size(most + 1)).await;
    assert_problem(&long_payload, &[413], "131072 bytes, got 131073", "a long payload");
    let long_body = stack.create(path, of_size(2 * most)).await;
    assert_problem(&long_body, &[413], "262144 bytes", "a long body");
}

async fn assert_fields(stack: &Stack, agent: &str, path: &str) {
    for service in ["", " ", "a b", "ä", "a/b", &"x".repeat(65)] {
        let refused = stack.trigger(agent, service, &json!(1), &[]).await;
        assert_problem(&refused, &[422], "[a-za-z0-9._-]", service);
        assert_eq!(refused.body["errors"][0]["pointer"], "/service");
    }
    for (body, pointer) in [
        (json!({ "service": 1, "payload": 1 }), "/service"),
        (json!({ "payload": 1 }), ""),
        (json!({ "service": "ci" }), ""),
        (json!({ "service": "ci", "payload": 1, "depth": 1 }), "/depth"),
        (json!([]), ""),
    ] {
        let refused = stack.create(path, body.clone()).await;
        assert_eq!(
            (refused.status, &refused.body["errors"][0]["pointer"]),
            (422, &json!(pointer)),
            "{body}: {}",
            refused.text
        );
    }
    let broken =
        stack.send(stack.request(Method::POST, path).bearer_auth(&stack.key).body("{")).await;
    assert_problem(&broken, &[400], "json", "a body that is not JSON");
}

/// Numbers of more than 64 bits are refused, since they could not be stored exactly.
async fn assert_exact_numbers(stack: &Stack, path: &str) {
    for number in ["18446744073709551616", "-9223372036854775809", "1500000000000000000001"] {
        let body =
            format!(r#"{{"service": "ci", "payload": {{"most": [{}, {number}]}}}}"#, u64::MAX);
        let refused =
            stack.send(stack.request(Method::POST, path).bearer_auth(&stack.key).body(body)).await;
        let word = format!("whole numbers of at most 64 bits, got {number}");
        assert_problem(&refused, &[422], &word, number);
        assert_eq!(refused.body["errors"][0]["pointer"], "/payload");
    }
}
