//! Deliveries that trigger runs: services send them to `POST /v1/hooks/{agentId}/{service}`, and
//! the operator sends them in the name of services to `POST /v1/agents/{id}/trigger`.
//!
//! - This file: accepted deliveries.
//! - [`idempotency`]: repeated deliveries, which take effect once.
//! - [`payloads`]: hostile payloads, and payloads that are not JSON.
//! - [`rejected`]: requests that are not signed by the service.
//! - [`triggered`]: triggers by the operator.
//! - [`refused`]: stored deliveries that trigger no run.
//! - [`depths`]: the chain depth that a caller declares.

mod depths;
mod idempotency;
mod payloads;
mod refused;
mod rejected;
mod triggered;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{
    client::Reply,
    stack::Stack,
    tokens::in_seconds,
    waiting::{SOON, wait_for},
    webhook_senders::{
        OTHER_SECRET, SECRET, sample_payload,
        signatures::{SCHEMES, Scheme, SignedRequest},
    },
};

/// A text field of an answer.
pub(crate) fn field(answer: &Value, name: &str) -> String {
    answer[name].as_str().unwrap_or_else(|| panic!("no {name} in {answer}")).to_owned()
}

/// The number of times that each item occurs.
fn counts<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    for item in items {
        *counts.entry(item).or_default() += 1;
    }
    counts
}

/// The trigger of a run that a delivery started.
pub(crate) fn service_trigger(service: &str, payload: &Value, delivery: &str, at: &Value) -> Value {
    json!({
        "type": "service",
        "service": service,
        "payload": payload,
        "deliveryId": delivery,
        "at": at,
    })
}

/// The number of an agent's deliveries by status.
async fn statuses(stack: &Stack, agent: &str) -> BTreeMap<String, usize> {
    counts(stack.deliveries(agent, "").await.iter().map(|delivery| field(delivery, "status")))
}

#[tokio::test]
async fn a_delivery_of_each_signature_scheme_triggers_a_run_with_its_payload() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({})).await;
    let mut expected = Vec::new();
    for (scheme, key) in SCHEMES.into_iter().zip(["one", "two", "three", "four"]) {
        let made = stack.hook(&agent, scheme.name(), &scheme.signed(key)).await.must_be(202);
        let delivery = field(&made, "deliveryId");
        let run = field(&made, "runId");
        assert_eq!(made, json!({ "deliveryId": delivery, "runId": run }));
        let run = stack.ended(&run, SOON).await;
        let listed = stack.deliveries(&agent, "?limit=1").await.remove(0);
        let bytes = sample_payload(key).to_string().len();
        assert_eq!(
            listed,
            json!({
                "id": delivery,
                "service": scheme.name(),
                "key": key,
                "status": "accepted",
                "reason": null,
                "runId": run["id"],
                "bytes": bytes,
                "receivedAt": listed["receivedAt"],
            })
        );
        let at = &listed["receivedAt"];
        let payload = sample_payload(key);
        assert_eq!(run["trigger"], service_trigger(scheme.name(), &payload, &delivery, at));
        assert_eq!(
            (&run["agentId"], &run["status"], &run["chainDepth"], &run["activeSpaceId"]),
            (&json!(agent), &json!("completed"), &json!(0), &Value::Null)
        );
        let request = stack.model.requests("ada").pop().unwrap();
        let lines = [
            format!("TRIGGER: service \"{}\"", scheme.name()),
            format!("payload: {}", sample_payload(key)),
        ];
        assert_eq!(request.user().block("TRIGGER"), lines);
        expected.push(listed);
    }
    expected.reverse();
    assert_eq!(stack.deliveries(&agent, "").await, expected);
    assert_eq!(stack.runs_by(&agent).await.len(), 4);
}

#[tokio::test]
async fn during_a_rotation_both_secrets_are_accepted() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({})).await;
    let by = |secret: &str, key: &str| {
        Scheme::Github.signed_with(secret, key, sample_payload(key).to_string().as_bytes(), 0)
    };
    for (secret, key) in [(SECRET, "new"), (OTHER_SECRET, "old")] {
        stack.hook(&agent, "rotating", &by(secret, key)).await.must_be(202);
    }
    let rotated = json!({ "rotating": { "scheme": "github", "secrets": ["HOOK"] } });
    let settings = json!({ "agent": { "webhooks": rotated } });
    stack.patch(&format!("/v1/entities/{agent}"), settings).await.must_be(200);
    stack.hook(&agent, "rotating", &by(SECRET, "new-2")).await.must_be(202);
    stack.hook(&agent, "rotating", &by(OTHER_SECRET, "old-2")).await.must_be(401);
    assert_eq!(
        statuses(&stack, &agent).await,
        BTreeMap::from([("accepted".to_owned(), 3), ("rejected".to_owned(), 1)])
    );
}

#[tokio::test]
async fn a_missing_secret_is_a_503_for_the_service_and_a_log_line_for_the_operator() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({})).await;
    let sent = Scheme::Standard.signed("one");
    let refused: Reply = stack.hook(&agent, "unset", &sent).await;
    assert_eq!((refused.status, refused.header("retry-after")), (503, "60"), "{}", refused.text);
    assert!(!refused.text.contains("GONE"), "the answer names a secret: {}", refused.text);
    let words = ["webhook_without_secret", "GONE", "LOST", "unset", &agent];
    wait_for("a log line about the missing secrets", SOON, async || {
        let names_all = |line: &str| words.iter().all(|word| line.contains(word));
        stack.log().lines().any(names_all).then_some(())
    })
    .await;
    let listed = stack.deliveries(&agent, "").await;
    assert_eq!(
        (&listed[0]["status"], &listed[0]["key"], &listed[0]["runId"]),
        (&json!("rejected"), &Value::Null, &Value::Null)
    );
    assert_eq!(
        listed[0]["reason"],
        "no secret of this webhook is usable: GONE is not set; LOST is not set"
    );
    stack.hook(&agent, "half-set", &sent).await.must_be(202);
    assert_eq!(stack.runs_by(&agent).await.len(), 1);
}

#[tokio::test]
async fn slacks_url_verification_is_answered_with_its_challenge() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({})).await;
    let question = json!({
        "token": "Jhj5dZrVaK7ZwHHjRyZWjbDl",
        "challenge": "3eZbrw1aB10FEM1MG5J",
        "type": "url_verification",
    })
    .to_string();
    let signed = Scheme::Slack.signed_with(SECRET, "", question.as_bytes(), in_seconds(0));
    let answer = stack.hook(&agent, "slack", &signed).await;
    assert_eq!((answer.status, answer.text.as_str()), (200, "3eZbrw1aB10FEM1MG5J"));
    assert!(stack.deliveries(&agent, "").await.is_empty());
    assert!(stack.runs_by(&agent).await.is_empty());
    let by_another =
        Scheme::Slack.signed_with(OTHER_SECRET, "", question.as_bytes(), in_seconds(0));
    let unsigned = SignedRequest { headers: Vec::new(), ..signed.clone() };
    for sent in [unsigned, by_another] {
        let refused = stack.hook(&agent, "slack", &sent).await;
        assert!(refused.status == 401 && !refused.text.contains("3eZbrw"), "{}", refused.text);
    }
    // The same body of another service is an ordinary delivery.
    let made = stack
        .hook(&agent, "github", &Scheme::Github.signed_with(SECRET, "one", question.as_bytes(), 0))
        .await
        .must_be(202);
    assert!(made["runId"].is_string());
}
