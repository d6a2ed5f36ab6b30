//! Services that wake an agent by themselves: `POST /v1/hooks/{agentId}/{service}`, and in their name by the operator: `POST /v1/agents/{id}/trigger`.
//!
//! - this file: what is taken, once
//! - [`payloads`]: whatever they say stays data
//! - [`rejected`]: what is not known to come from them
//! - [`triggered`]: in their name
//! - [`refused`]: what is kept and wakes nobody
//! - [`depths`]: how deep in a chain of agents' doings a caller says that it is

mod depths;
mod payloads;
mod refused;
mod rejected;
mod triggered;

use std::collections::BTreeMap;

use futures::future::join_all;
use serde_json::{Value, json};

use super::{
    client::Reply,
    services::{OTHER_SECRET, SCHEMES, SECRET, Scheme, said},
    stack::Stack,
    tokens::in_seconds,
    waiting::{SOON, wait_for},
};

/// A text of an answer.
pub(super) fn field(answer: &Value, name: &str) -> String {
    answer[name].as_str().unwrap_or_else(|| panic!("no {name} in {answer}")).to_owned()
}

/// How often each of these is there.
fn counted<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    for item in items {
        *counts.entry(item).or_default() += 1;
    }
    counts
}

/// What became of an agent's deliveries, and how often.
async fn statuses(stack: &Stack, agent: &str) -> BTreeMap<String, usize> {
    counted(stack.deliveries(agent, "").await.iter().map(|delivery| field(delivery, "status")))
}

#[tokio::test]
async fn each_way_of_signing_wakes_the_agent_with_what_the_service_said() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({})).await;
    let mut expected = Vec::new();
    for (scheme, key) in SCHEMES.into_iter().zip(["one", "two", "three", "four"]) {
        let made = stack.hook(&agent, scheme.name(), &scheme.sends(key)).await.must_be(202);
        let (delivery, run) = (field(&made, "deliveryId"), field(&made, "runId"));
        assert_eq!(made, json!({ "deliveryId": delivery, "runId": run }));
        let run = stack.ended(&run, SOON).await;
        let listed = stack.deliveries(&agent, "?limit=1").await.remove(0);
        let bytes = said(key).to_string().len();
        assert_eq!(
            listed,
            json!({ "id": delivery, "service": scheme.name(), "key": key, "status": "accepted", "reason": null, "runId": run["id"],
                "bytes": bytes, "receivedAt": listed["receivedAt"] })
        );
        let at = &listed["receivedAt"];
        assert_eq!(
            run["trigger"],
            json!({ "type": "service", "service": scheme.name(), "payload": said(key), "deliveryId": delivery, "at": at })
        );
        assert_eq!(
            (&run["agentId"], &run["status"], &run["chainDepth"], &run["activeSpaceId"]),
            (&json!(agent), &json!("completed"), &json!(0), &Value::Null)
        );
        let asked = stack.model.asked("ada").pop().unwrap();
        let lines = [
            "TRIGGER:".to_owned(),
            "  type: service".into(),
            format!("  service: \"{}\"", scheme.name()),
            format!("  payload: {}", said(key)),
        ];
        assert_eq!(asked.user().block("TRIGGER"), lines);
        expected.push(listed);
    }
    expected.reverse();
    assert_eq!(stack.deliveries(&agent, "").await, expected);
    assert_eq!(stack.runs_by(&agent).await.len(), 4);
}

#[tokio::test]
async fn what_comes_ten_times_at_once_and_again_later_is_one_run_with_one_answer() {
    let Some(mut stack) = Stack::receiving_on_disk().await else { return };
    let agent = stack.receiver(json!({})).await;
    let mut answers = Vec::new();
    for scheme in SCHEMES {
        let sent = scheme.sends("evt_1");
        let at_once = join_all((0..10).map(|_| stack.hook(&agent, scheme.name(), &sent))).await;
        let at_once: Vec<Value> = at_once.into_iter().map(|reply| reply.must_be(202)).collect();
        assert!(at_once.iter().all(|answer| *answer == at_once[0]), "{scheme:?}: {at_once:?}");
        stack.ended(&field(&at_once[0], "runId"), SOON).await;
        answers.push(at_once[0].clone());
    }
    // A service that heard nothing tries for days; by then the product has been started again. What tells its deliveries apart is kept for ever.
    stack.kill9();
    stack.restart().await;
    for (scheme, first) in SCHEMES.into_iter().zip(&answers) {
        // Signed anew, as services do that sign the time.
        let again = stack.hook(&agent, scheme.name(), &scheme.sends("evt_1")).await.must_be(202);
        assert_eq!(again, *first, "{scheme:?}");
    }
    assert_eq!(stack.runs_by(&agent).await.len(), 4, "one of each service");
    assert_eq!(statuses(&stack, &agent).await, BTreeMap::from([("accepted".to_owned(), 4), ("repeated".to_owned(), 40)]));
    for delivery in stack.deliveries(&agent, "?status=repeated").await {
        let first = SCHEMES.iter().position(|scheme| delivery["service"] == scheme.name()).unwrap();
        assert_eq!((&delivery["key"], &delivery["runId"]), (&json!("evt_1"), &answers[first]["runId"]));
        assert_ne!(delivery["id"], answers[first]["deliveryId"]);
    }
}

#[tokio::test]
async fn what_makes_a_delivery_the_same_one() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({})).await;
    let (now, said, other) = (in_seconds(0), said("evt_1").to_string(), r#"{"id":"evt_1","event_id":"evt_1","text":"changed"}"#);
    let sends = |scheme: Scheme, key: &str, body: &str, at: i64| scheme.signs(SECRET, key, body.as_bytes(), at);
    // For each scheme: what is the same once more, and what is another one.
    let cases = [
        (Scheme::Standard, ("evt_1", other, now - 60), ("evt_2", &*said, now)),
        (Scheme::Github, ("evt_2", &*said, now), ("evt_3", other, now)),
        (Scheme::Stripe, ("", other, now - 60), ("", r#"{"id":"evt_2"}"#, now)),
        (Scheme::Slack, ("", other, now - 60), ("", r#"{"event_id":"evt_2"}"#, now)),
    ];
    for (scheme, same, another) in cases {
        let [first, again, third] = [("evt_1", &*said, now), same, another].map(|(key, body, at)| sends(scheme, key, body, at));
        let first = stack.hook(&agent, scheme.name(), &first).await.must_be(202);
        assert_eq!(stack.hook(&agent, scheme.name(), &again).await.must_be(202), first, "{scheme:?}: {again:?}");
        let third = stack.hook(&agent, scheme.name(), &third).await.must_be(202);
        assert!(third["runId"].is_string() && third["runId"] != first["runId"], "{scheme:?}: {third}");
    }
    // Services and agents keep their keys to themselves.
    let second = stack.receiver(json!({})).await;
    let sent = Scheme::Github.sends("evt_1");
    for (agent, service) in [(&agent, "half-set"), (&second, "github")] {
        let sent = if service == "github" { sent.clone() } else { Scheme::Standard.sends("evt_1") };
        let made = stack.hook(agent, service, &sent).await.must_be(202);
        assert!(made["runId"].is_string(), "{made}");
    }
    assert_eq!((stack.runs_by(&agent).await.len(), stack.runs_by(&second).await.len()), (9, 1));
}

#[tokio::test]
async fn while_a_secret_is_replaced_both_are_taken() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({})).await;
    let by = |secret: &str, key: &str| Scheme::Github.signs(secret, key, said(key).to_string().as_bytes(), 0);
    for (secret, key) in [(SECRET, "new"), (OTHER_SECRET, "old")] {
        stack.hook(&agent, "rotating", &by(secret, key)).await.must_be(202);
    }
    let rotated = json!({ "agent": { "webhooks": { "rotating": { "scheme": "github", "secrets": ["HOOK"] } } } });
    stack.patch(&format!("/v1/entities/{agent}"), rotated).await.must_be(200);
    stack.hook(&agent, "rotating", &by(SECRET, "new-2")).await.must_be(202);
    stack.hook(&agent, "rotating", &by(OTHER_SECRET, "old-2")).await.must_be(401);
    assert_eq!(statuses(&stack, &agent).await, BTreeMap::from([("accepted".to_owned(), 3), ("rejected".to_owned(), 1)]));
}

#[tokio::test]
async fn a_secret_that_is_not_set_is_the_operators_matter() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({})).await;
    let sent = Scheme::Standard.sends("one");
    let refused: Reply = stack.hook(&agent, "unset", &sent).await;
    assert_eq!((refused.status, refused.header("retry-after")), (503, "60"), "{}", refused.text);
    assert!(!refused.text.contains("GONE"), "a stranger is told no names: {}", refused.text);
    wait_for("a line of the log that says so", SOON, async || {
        let says_so = |line: &str| ["webhook_without_secret", "GONE", "LOST", "unset", &agent].iter().all(|word| line.contains(word));
        stack.log().lines().any(says_so).then_some(())
    })
    .await;
    let listed = stack.deliveries(&agent, "").await;
    assert_eq!((&listed[0]["status"], &listed[0]["key"], &listed[0]["runId"]), (&json!("rejected"), &Value::Null, &Value::Null));
    assert_eq!(listed[0]["reason"], "no secret of this webhook can be used: GONE is not set here; LOST is not set here");
    stack.hook(&agent, "half-set", &sent).await.must_be(202);
    assert_eq!(stack.runs_by(&agent).await.len(), 1);
}

#[tokio::test]
async fn slack_asks_whether_the_address_is_ours() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({})).await;
    let question =
        json!({ "token": "Jhj5dZrVaK7ZwHHjRyZWjbDl", "challenge": "3eZbrw1aB10FEM1MG5J", "type": "url_verification" }).to_string();
    let signed = Scheme::Slack.signs(SECRET, "", question.as_bytes(), in_seconds(0));
    let answer = stack.hook(&agent, "slack", &signed).await;
    assert_eq!((answer.status, answer.text.as_str()), (200, "3eZbrw1aB10FEM1MG5J"));
    assert!(stack.deliveries(&agent, "").await.is_empty() && stack.runs_by(&agent).await.is_empty());
    let by_another = Scheme::Slack.signs(OTHER_SECRET, "", question.as_bytes(), in_seconds(0));
    let unsigned = super::services::Sent { headers: Vec::new(), ..signed.clone() };
    for sent in [unsigned, by_another] {
        let refused = stack.hook(&agent, "slack", &sent).await;
        assert!(refused.status == 401 && !refused.text.contains("3eZbrw"), "{}", refused.text);
    }
    // Another service that says so is no Slack.
    let made = stack.hook(&agent, "github", &Scheme::Github.signs(SECRET, "one", question.as_bytes(), 0)).await.must_be(202);
    assert!(made["runId"].is_string());
}
