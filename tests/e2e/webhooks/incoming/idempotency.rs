//! Repeated deliveries take effect once.

use std::collections::BTreeMap;

use futures::future::join_all;
use serde_json::{Value, json};

use crate::{
    support::{
        stack::Stack,
        tokens::in_seconds,
        waiting::SOON,
        webhook_senders::{
            SECRET, sample_payload,
            signatures::{SCHEMES, Scheme},
        },
    },
    webhooks::incoming::{field, statuses},
};

#[tokio::test]
async fn repeated_deliveries_trigger_one_run_and_get_one_answer() {
    let Some(mut stack) = Stack::receiving_on_disk().await else { return };
    let agent = stack.receiver(json!({})).await;
    let mut answers = Vec::new();
    for scheme in SCHEMES {
        let sent = scheme.signed("evt_1");
        let at_once = join_all((0..10).map(|_| stack.hook(&agent, scheme.name(), &sent))).await;
        let at_once: Vec<Value> = at_once.into_iter().map(|reply| reply.must_be(202)).collect();
        assert!(at_once.iter().all(|answer| *answer == at_once[0]), "{scheme:?}: {at_once:?}");
        stack.ended(&field(&at_once[0], "runId"), SOON).await;
        answers.push(at_once[0].clone());
    }
    // A service without an answer retries for days, and the product may restart in between. The
    // keys of deliveries never expire.
    stack.kill9();
    stack.restart().await;
    for (scheme, first) in SCHEMES.into_iter().zip(&answers) {
        // Signed again: services that sign the time do so at each retry.
        let again = stack.hook(&agent, scheme.name(), &scheme.signed("evt_1")).await.must_be(202);
        assert_eq!(again, *first, "{scheme:?}");
    }
    assert_eq!(stack.runs_by(&agent).await.len(), 4, "one run for each service");
    assert_eq!(
        statuses(&stack, &agent).await,
        BTreeMap::from([("accepted".to_owned(), 4), ("repeated".to_owned(), 40)])
    );
    for delivery in stack.deliveries(&agent, "?status=repeated").await {
        let first = SCHEMES.iter().position(|scheme| delivery["service"] == scheme.name()).unwrap();
        assert_eq!(
            (&delivery["key"], &delivery["runId"]),
            (&json!("evt_1"), &answers[first]["runId"])
        );
        assert_ne!(delivery["id"], answers[first]["deliveryId"]);
    }
}

#[tokio::test]
async fn a_delivery_is_identified_by_its_key_alone() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({})).await;
    let now = in_seconds(0);
    let sample = sample_payload("evt_1").to_string();
    let other = r#"{"id":"evt_1","event_id":"evt_1","text":"changed"}"#;
    let signed = |scheme: Scheme, key: &str, body: &str, at: i64| {
        scheme.signed_with(SECRET, key, body.as_bytes(), at)
    };
    // For each scheme: the same delivery in another form, and another delivery.
    let cases = [
        (Scheme::Standard, ("evt_1", other, now - 60), ("evt_2", &*sample, now)),
        (Scheme::Github, ("evt_2", &*sample, now), ("evt_3", other, now)),
        (Scheme::Stripe, ("", other, now - 60), ("", r#"{"id":"evt_2"}"#, now)),
        (Scheme::Slack, ("", other, now - 60), ("", r#"{"event_id":"evt_2"}"#, now)),
    ];
    for (scheme, same, another) in cases {
        let [first, again, third] = [("evt_1", &*sample, now), same, another]
            .map(|(key, body, at)| signed(scheme, key, body, at));
        let first = stack.hook(&agent, scheme.name(), &first).await.must_be(202);
        assert_eq!(
            stack.hook(&agent, scheme.name(), &again).await.must_be(202),
            first,
            "{scheme:?}: {again:?}"
        );
        let third = stack.hook(&agent, scheme.name(), &third).await.must_be(202);
        assert!(
            third["runId"].is_string() && third["runId"] != first["runId"],
            "{scheme:?}: {third}"
        );
    }
    // Keys are scoped per agent and service.
    let second = stack.receiver(json!({})).await;
    let sent = Scheme::Github.signed("evt_1");
    for (agent, service) in [(&agent, "half-set"), (&second, "github")] {
        let sent =
            if service == "github" { sent.clone() } else { Scheme::Standard.signed("evt_1") };
        let made = stack.hook(agent, service, &sent).await.must_be(202);
        assert!(made["runId"].is_string(), "{made}");
    }
    assert_eq!((stack.runs_by(&agent).await.len(), stack.runs_by(&second).await.len()), (9, 1));
}
