//! The limits of payloads, of their stored form, and of their encoding.

use serde_json::{Value, json};

use crate::{
    api::bad_input::assert_problem,
    support::{
        stack::Stack,
        waiting::SOON,
        webhook_senders::{SECRET, signatures::Scheme},
    },
    webhooks::incoming::{
        field,
        payloads::{MOST, signed},
    },
};

#[tokio::test]
async fn a_payload_is_limited_to_128_kib_and_a_body_to_256_kib() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({})).await;
    let of_size =
        |bytes: usize| json!({ "text": "x".repeat(bytes - r#"{"text":""}"#.len()) }).to_string();
    let made = stack.hook(&agent, "standard", &signed(0, &of_size(MOST))).await.must_be(202);
    let run = stack.ended(&field(&made, "runId"), SOON).await;
    assert_eq!(
        (&run["status"], run["trigger"]["payload"].to_string()),
        (&json!("completed"), of_size(MOST))
    );
    let request = stack.model.nth_request("ada", 1).await;
    assert_eq!(request.user().block("TRIGGER")[1], format!("payload: {}", of_size(MOST)));

    assert_problem(
        &stack.hook(&agent, "standard", &signed(1, &of_size(MOST + 1))).await,
        &[413],
        "131072 bytes",
        "a payload that is one byte too long",
    );
    assert_problem(
        &stack.hook(&agent, "standard", &signed(2, &of_size(2 * MOST + 1))).await,
        &[413],
        "262144 bytes",
        "a body that is one byte too long",
    );
    let listed = stack.deliveries(&agent, "").await;
    let shown: Vec<_> = listed
        .iter()
        .map(|one| (one["status"].as_str().unwrap(), one["bytes"].as_u64().unwrap(), &one["key"]))
        .collect();
    assert_eq!(
        shown,
        [("rejected", MOST as u64 + 1, &Value::Null), ("accepted", MOST as u64, &json!("key-0"))],
        "a body that was not read is not listed"
    );
    assert_eq!(listed[0]["reason"], "expected a payload of at most 131072 bytes, got 131073");
    assert_eq!(stack.runs_by(&agent).await.len(), 1);
}

#[tokio::test]
async fn the_stored_form_of_a_payload_is_limited_too() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({})).await;
    // In JSON each character has six bytes, and the text two quotes.
    let most = (350 * 1024 - 2) / 6;
    let body = |chars: usize| "\u{1}".repeat(chars);
    let made = stack.hook(&agent, "standard", &signed(0, &body(most))).await.must_be(202);
    let run = stack.ended(&field(&made, "runId"), SOON).await;
    assert_eq!(
        (&run["status"], &run["trigger"]["payload"]),
        (&json!("completed"), &json!(body(most)))
    );

    let form = signed(1, &format!("x={}", body(most)))
        .with("content-type", "application/x-www-form-urlencoded");
    for sent in [signed(2, &body(most + 1)), signed(3, &body(MOST)), form] {
        assert_problem(
            &stack.hook(&agent, "standard", &sent).await,
            &[413],
            "358400 bytes",
            "a payload whose stored form is too long",
        );
        let listed = stack.deliveries(&agent, "?limit=1").await.remove(0);
        assert_eq!(
            (&listed["status"], &listed["bytes"]),
            (&json!("rejected"), &json!(sent.body.len()))
        );
    }
    assert_eq!(stack.runs_by(&agent).await.len(), 1);
}

#[tokio::test]
async fn a_body_that_is_not_utf_8_is_malformed() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({})).await;
    let sent = Scheme::Github.signed_with(SECRET, "one", b"\xff\xfe{}", 0);
    assert_problem(
        &stack.hook(&agent, "github", &sent).await,
        &[400],
        "utf-8",
        "a body that is not UTF-8",
    );
    let listed = stack.deliveries(&agent, "").await;
    assert_eq!((&listed[0]["status"], &listed[0]["bytes"]), (&json!("rejected"), &json!(4)));
    stack
        .hook(&agent, "github", &Scheme::Github.signed_with(SECRET, "one", b"{}", 0))
        .await
        .must_be(202);
}
