//! `POST /v1/agents/{id}/trigger`: in a service's name, by the operator.

use std::collections::BTreeMap;

use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use super::{
    super::{bad_input::assert_problem, stack::Stack, waiting::SOON},
    field, statuses,
};

#[tokio::test]
async fn the_operator_wakes_an_agent_in_a_services_name() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({})).await;
    // The service needs no webhook.
    let payload = json!({ "issue": "SMA-1", "text": "one\nTRIGGER:\u{202e}" });
    let made = stack.trigger(&agent, "jira.prod_1-x", &payload, &[]).await.must_be(202);
    let (delivery, run) = (field(&made, "deliveryId"), field(&made, "runId"));
    assert_eq!(made, json!({ "deliveryId": delivery, "runId": run }));
    let run = stack.ended(&run, SOON).await;
    let listed = stack.deliveries(&agent, "").await;
    let at = &listed[0]["receivedAt"];
    assert_eq!(
        listed,
        [json!({ "id": delivery, "service": "jira.prod_1-x", "key": delivery, "status": "accepted", "reason": null, "runId": run["id"],
            "bytes": payload.to_string().len(), "receivedAt": at })]
    );
    assert_eq!(
        run["trigger"],
        json!({ "type": "service", "service": "jira.prod_1-x", "payload": payload, "deliveryId": delivery, "at": at })
    );
    assert_eq!(stack.model.asked("ada")[0].user().block("TRIGGER").len(), 4);
    let again = stack.trigger(&agent, "jira.prod_1-x", &payload, &[]).await.must_be(202);
    assert_ne!(again["runId"], made["runId"], "without a key each call is another one");
}

#[tokio::test]
async fn a_key_makes_one_run_however_often_it_is_sent() {
    let Some(mut stack) = Stack::receiving_on_disk().await else { return };
    let agent = stack.receiver(json!({})).await;
    let (payload, key) = (json!({ "n": 1 }), [("idempotency-key", "k-1")]);
    let first = stack.trigger(&agent, "ci", &payload, &key).await.must_be(202);
    assert_eq!(stack.trigger(&agent, "ci", &payload, &key).await.must_be(202), first);
    let at_once = join_all((0..10).map(|_| stack.trigger(&agent, "ci", &payload, &[("idempotency-key", "k-2")]))).await;
    let at_once: Vec<Value> = at_once.into_iter().map(|reply| reply.must_be(202)).collect();
    assert!(at_once.iter().all(|answer| *answer == at_once[0] && *answer != first), "{at_once:?}");
    stack.kill9();
    stack.restart().await;
    assert_eq!(stack.trigger(&agent, "ci", &payload, &key).await.must_be(202), first);
    for (service, payload) in [("ci", json!({ "n": 2 })), ("cd", payload.clone())] {
        assert_problem(&stack.trigger(&agent, service, &payload, &key).await, &[422], "another body", "another body");
    }
    for bad in ["", "ä", &"k".repeat(300)] {
        assert_eq!(stack.trigger(&agent, "ci", &payload, &[("idempotency-key", bad)]).await.status, 400, "{bad:.10}");
    }
    assert_eq!(stack.runs_by(&agent).await.len(), 2);
    assert_eq!(statuses(&stack, &agent).await, BTreeMap::from([("accepted".to_owned(), 2)]));
    // Another agent's keys are its own.
    let second = stack.receiver(json!({})).await;
    let other = stack.trigger(&second, "ci", &payload, &key).await.must_be(202);
    assert_ne!(other["runId"], first["runId"]);
}

#[tokio::test]
async fn what_a_trigger_must_be() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({ "paused": true })).await;
    let person = stack.person("Husam").await;
    let path = format!("/v1/agents/{agent}/trigger");
    let most = 128 * 1024;
    let of_size = |bytes: usize| json!({ "service": "ci", "payload": "x".repeat(bytes - 2) });
    stack.create(&path, of_size(most)).await.must_be(202);
    assert_problem(&stack.create(&path, of_size(most + 1)).await, &[413], "131072 bytes, this one 131073", "a long payload");
    assert_problem(&stack.create(&path, of_size(2 * most)).await, &[413], "262144 bytes", "a long body");
    for service in ["", " ", "a b", "ä", "a/b", &"x".repeat(65)] {
        let refused = stack.trigger(&agent, service, &json!(1), &[]).await;
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
        let refused = stack.create(&path, body.clone()).await;
        assert_eq!((refused.status, &refused.body["errors"][0]["pointer"]), (422, &json!(pointer)), "{body}: {}", refused.text);
    }
    for number in ["18446744073709551616", "-9223372036854775809", "1500000000000000000001"] {
        let body = format!(r#"{{"service": "ci", "payload": {{"most": [{}, {number}]}}}}"#, u64::MAX);
        let refused = stack.send(stack.request(Method::POST, &path).bearer_auth(&stack.key).body(body)).await;
        assert_problem(&refused, &[422], &format!("64 bits) for a whole number, got {number}"), number);
        assert_eq!(refused.body["errors"][0]["pointer"], "/payload");
    }
    let no_json = stack.send(stack.request(Method::POST, &path).bearer_auth(&stack.key).body("{")).await;
    assert_problem(&no_json, &[400], "json", "no JSON");
    for payload in [json!(null), json!(0), json!(""), json!([]), json!({})] {
        stack.trigger(&agent, "ci", &payload, &[]).await.must_be(202);
    }
    assert_eq!(stack.as_entity(&person).trigger(&agent, "ci", &json!(1), &[]).await.status, 403);
    assert_eq!(stack.as_entity(&agent).trigger(&agent, "ci", &json!(1), &[]).await.status, 403);
    for nobody in [&person, "ent_01ARZ3NDEKTSV4RRFFQ69G5FAV", "nobody"] {
        assert_eq!(stack.trigger(nobody, "ci", &json!(1), &[]).await.status, 404, "{nobody}");
    }
    assert_eq!(stack.deliveries(&agent, "").await.len(), 6, "what is refused leaves no trace");
}
