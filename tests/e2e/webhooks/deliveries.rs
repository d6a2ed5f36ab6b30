//! The list of an agent's deliveries, and replaying them.

mod replays;

use std::collections::BTreeSet;

use futures::future::join_all;
use serde_json::{Value, json};

use crate::{
    api::bad_input::assert_problem,
    support::{
        stack::Stack,
        webhook_senders::{OTHER_SECRET, SECRET, signatures::Scheme},
    },
};

const WORD: &str = "a word of the payload";

/// Sends a delivery of each status from one service, and an accepted one from another. Returns the
/// answers, oldest first.
async fn one_of_each(stack: &Stack, agent: &str) -> Vec<Value> {
    let body = json!({ "text": WORD }).to_string();
    let send = async |secret: &str, key: &str, body: &str| {
        let signed = Scheme::Github.signed_with(secret, key, body.as_bytes(), 0);
        stack.hook(agent, "github", &signed).await
    };
    let paused = async |paused: bool| {
        stack
            .patch(&format!("/v1/entities/{agent}"), json!({ "agent": { "paused": paused } }))
            .await
            .must_be(200);
    };
    let first = send(SECRET, "one", &body).await.must_be(202);
    let repeated = send(SECRET, "one", &body).await.must_be(202);
    paused(true).await;
    let refused = send(SECRET, "two", &format!("{body} ")).await.must_be(202);
    paused(false).await;
    let rejected = send(OTHER_SECRET, "three", &body).await.must_be(401);
    let triggered = stack.trigger(agent, "ci", &json!(WORD), &[]).await.must_be(202);
    vec![first, repeated, refused, rejected, triggered]
}

/// A listed delivery without the fields that each test run has other values for.
struct Listed<'a> {
    service: &'a str,
    key: Value,
    status: &'a str,
    reason: Option<&'a str>,
    run: &'a Value,
    bytes: usize,
}

impl Listed<'_> {
    fn json(&self) -> Value {
        json!({
            "service": self.service,
            "key": self.key,
            "status": self.status,
            "reason": self.reason,
            "runId": self.run,
            "bytes": self.bytes,
        })
    }
}

#[tokio::test]
async fn the_list_shows_the_outcome_of_each_delivery_but_not_its_payload() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({})).await;
    let answers = one_of_each(&stack, &agent).await;
    let listed = stack.deliveries(&agent, "").await;
    assert_eq!(listed.iter().map(without_id_and_time).collect::<Vec<_>>(), expected_list(&answers));
    assert_eq!(
        (&listed[4]["id"], &listed[2]["id"]),
        (&answers[0]["deliveryId"], &answers[2]["deliveryId"])
    );
    assert!(!json!(listed).to_string().contains("a word"), "{listed:?}");
    assert_filters_and_pages(&stack, &agent, &listed).await;
    assert_bad_lists_are_refused(&stack, &agent).await;
}

fn expected_list(answers: &[Value]) -> Vec<Value> {
    let bytes = json!({ "text": WORD }).to_string().len();
    let wrong = "expected a signature of the unchanged body by a secret of this service";
    let first = Listed {
        service: "github",
        key: json!("one"),
        status: "accepted",
        reason: None,
        run: &answers[0]["runId"],
        bytes,
    };
    let repeated = Listed { key: json!("one"), status: "repeated", ..first };
    let refused = Listed {
        key: json!("two"),
        status: "refused",
        reason: Some("paused"),
        run: &Value::Null,
        bytes: bytes + 1,
        ..first
    };
    let rejected = Listed {
        key: Value::Null,
        status: "rejected",
        reason: Some(wrong),
        run: &Value::Null,
        ..first
    };
    let triggered = Listed {
        service: "ci",
        key: answers[4]["deliveryId"].clone(),
        run: &answers[4]["runId"],
        bytes: WORD.len() + 2,
        ..first
    };
    [triggered, rejected, refused, repeated, first].iter().map(Listed::json).collect()
}

fn without_id_and_time(delivery: &Value) -> Value {
    let mut rest = delivery.clone();
    let fields = rest.as_object_mut().unwrap();
    let id = fields.shift_remove("id").unwrap();
    let at = fields.shift_remove("receivedAt").unwrap();
    assert!(id.as_str().unwrap().starts_with("dlv_"), "{delivery}");
    assert!(at.as_str().unwrap().ends_with('Z'), "{delivery}");
    rest
}

async fn assert_filters_and_pages(stack: &Stack, agent: &str, listed: &[Value]) {
    let of = |keep: &dyn Fn(&Value) -> bool| -> Vec<Value> {
        listed.iter().filter(|delivery| keep(delivery)).cloned().collect()
    };
    let path = |query: &str| format!("/v1/agents/{agent}/deliveries?{query}");
    for status in ["accepted", "repeated", "refused", "rejected"] {
        let expected = of(&|delivery| delivery["status"] == status);
        assert_eq!(stack.all(&path(&format!("status={status}"))).await, expected);
        // A page with fewer items than the limit, or with none, may still have a next page.
        assert_eq!(stack.all(&path(&format!("status={status}&limit=1"))).await, expected);
    }
    for service in ["github", "ci", "jira"] {
        assert_eq!(
            stack.all(&path(&format!("service={service}"))).await,
            of(&|delivery| delivery["service"] == service)
        );
    }
    let both = stack.all(&path("service=github&status=accepted&limit=2")).await;
    assert_eq!(both, of(&|delivery| delivery["key"] == "one" && delivery["status"] == "accepted"));
    for limit in [1, 2, 3] {
        assert_eq!(stack.all(&path(&format!("limit={limit}"))).await, listed);
    }
    let first = stack.get(&path("limit=2")).await.must_be(200);
    assert_eq!((&first["items"], first["nextCursor"].is_string()), (&json!(listed[..2]), true));
}

async fn assert_bad_lists_are_refused(stack: &Stack, agent: &str) {
    let path = |query: &str| format!("/v1/agents/{agent}/deliveries?{query}");
    for (query, word) in [
        ("status=lost", "accepted"),
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("cursor=x", "cursor"),
        ("payload=1", "payload"),
    ] {
        assert_problem(&stack.get(&path(query)).await, &[400], word, query);
    }
    let person = stack.person("Husam").await;
    assert_eq!(stack.as_entity(&person).get(&path("")).await.status, 403);
    assert_eq!(stack.as_entity(agent).get(&path("")).await.status, 403);
    for no_agent in [&person, "ent_01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
        assert_eq!(stack.get(&format!("/v1/agents/{no_agent}/deliveries")).await.status, 404);
    }
}

#[tokio::test]
async fn pages_of_the_list_are_stable_while_more_deliveries_arrive() {
    let Some(stack) = Stack::receiving(&[("SMARTSPACE_RATE", "0")]).await else { return };
    let agent = stack.receiver(json!({ "paused": true })).await;
    let send_120 = async |from: usize| {
        for round in 0..12 {
            let keys: Vec<String> =
                (0..10).map(|index| format!("evt_{}", from + round * 10 + index)).collect();
            let sent = keys.iter().map(|key| (Scheme::Stripe.signed(key), key));
            let answers =
                join_all(sent.map(async |(sent, _)| stack.hook(&agent, "stripe", &sent).await))
                    .await;
            for answer in answers {
                answer.must_be(202);
            }
        }
    };
    send_120(0).await;
    let path = format!("/v1/agents/{agent}/deliveries");
    let first = stack.get(&format!("{path}?limit=50")).await.must_be(200);
    send_120(120).await;
    let mut all: Vec<Value> = first["items"].as_array().unwrap().clone();
    let mut next = first["nextCursor"].clone();
    while let Some(cursor) = next.as_str() {
        let page = stack.get(&format!("{path}?limit=50&cursor={cursor}")).await.must_be(200);
        all.extend(page["items"].as_array().unwrap().iter().cloned());
        next = page["nextCursor"].clone();
    }
    let keys: BTreeSet<&str> = all.iter().map(|one| one["key"].as_str().unwrap()).collect();
    assert_eq!((all.len(), keys.len()), (120, 120), "later deliveries must not be on later pages");
    let ids: Vec<&str> = all.iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert!(ids.is_sorted_by(|one, next| one > next), "the newest must be first");
    assert_eq!(stack.deliveries(&agent, "?limit=200").await.len(), 240);
    assert_eq!(
        stack.deliveries(&agent, "?service=stripe&status=accepted&limit=7").await,
        [Value::Null; 0]
    );
}
