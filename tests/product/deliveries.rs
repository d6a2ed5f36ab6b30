//! What services sent an agent: the list, and sending it again.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use super::{
    bad_input::assert_problem,
    services::{OTHER_SECRET, SECRET, Scheme},
    stack::Stack,
    waiting::SOON,
};

const WORD: &str = "a word of the payload";

/// One delivery of each status by one service, and an accepted one by another: their answers, oldest first.
async fn one_of_each(stack: &Stack, agent: &str) -> Vec<Value> {
    let body = json!({ "text": WORD }).to_string();
    let sent = |secret: &str, key: &str, body: &str| Scheme::Github.signs(secret, key, body.as_bytes(), 0);
    let paused = async |paused: bool| {
        stack.patch(&format!("/v1/entities/{agent}"), json!({ "agent": { "paused": paused } })).await.must_be(200);
    };
    let mut answers = vec![stack.hook(agent, "github", &sent(SECRET, "one", &body)).await.must_be(202)];
    answers.push(stack.hook(agent, "github", &sent(SECRET, "one", &body)).await.must_be(202));
    paused(true).await;
    answers.push(stack.hook(agent, "github", &sent(SECRET, "two", &format!("{body} "))).await.must_be(202));
    paused(false).await;
    answers.push(stack.hook(agent, "github", &sent(OTHER_SECRET, "three", &body)).await.must_be(401));
    answers.push(stack.trigger(agent, "ci", &json!(WORD), &[]).await.must_be(202));
    answers
}

#[tokio::test]
async fn the_list_shows_what_came_and_what_became_of_it_without_what_it_said() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({})).await;
    let answers = one_of_each(&stack, &agent).await;
    let listed = stack.deliveries(&agent, "").await;
    let bytes = json!({ "text": WORD }).to_string().len();
    let wrong = "expected a signature of the body as it was sent, by a secret of this service";
    let runs = [&answers[0]["runId"], &answers[4]["runId"]];
    let expected = [
        json!({ "service": "ci", "key": answers[4]["deliveryId"], "status": "accepted", "reason": null, "runId": runs[1], "bytes": WORD.len() + 2 }),
        json!({ "service": "github", "key": null, "status": "rejected", "reason": wrong, "runId": null, "bytes": bytes }),
        json!({ "service": "github", "key": "two", "status": "refused", "reason": "paused", "runId": null, "bytes": bytes + 1 }),
        json!({ "service": "github", "key": "one", "status": "repeated", "reason": null, "runId": runs[0], "bytes": bytes }),
        json!({ "service": "github", "key": "one", "status": "accepted", "reason": null, "runId": runs[0], "bytes": bytes }),
    ];
    let shown: Vec<Value> = listed
        .iter()
        .map(|delivery| {
            let mut shown = delivery.clone();
            let fields = shown.as_object_mut().unwrap();
            let (id, at) = (fields.shift_remove("id").unwrap(), fields.shift_remove("receivedAt").unwrap());
            assert!(id.as_str().unwrap().starts_with("dlv_") && at.as_str().unwrap().ends_with('Z'), "{delivery}");
            shown
        })
        .collect();
    assert_eq!(shown, expected);
    assert_eq!((&listed[4]["id"], &listed[2]["id"]), (&answers[0]["deliveryId"], &answers[2]["deliveryId"]));
    assert!(!json!(listed).to_string().contains("a word"), "{listed:?}");

    let of = |keep: &dyn Fn(&Value) -> bool| -> Vec<Value> { listed.iter().filter(|delivery| keep(delivery)).cloned().collect() };
    let path = |query: &str| format!("/v1/agents/{agent}/deliveries?{query}");
    for status in ["accepted", "repeated", "refused", "rejected"] {
        let expected = of(&|delivery| delivery["status"] == status);
        assert_eq!(stack.all(&path(&format!("status={status}"))).await, expected);
        // A page may hold less than was asked for, or nothing, and lead on all the same.
        assert_eq!(stack.all(&path(&format!("status={status}&limit=1"))).await, expected);
    }
    for service in ["github", "ci", "jira"] {
        assert_eq!(stack.all(&path(&format!("service={service}"))).await, of(&|delivery| delivery["service"] == service));
    }
    let both = stack.all(&path("service=github&status=accepted&limit=2")).await;
    assert_eq!(both, of(&|delivery| delivery["key"] == "one" && delivery["status"] == "accepted"));
    for limit in [1, 2, 3] {
        assert_eq!(stack.all(&path(&format!("limit={limit}"))).await, listed);
    }
    let first = stack.get(&path("limit=2")).await.must_be(200);
    assert_eq!((&first["items"], first["nextCursor"].is_string()), (&json!(listed[..2]), true));

    for (query, word) in
        [("status=lost", "accepted"), ("limit=0", "limit"), ("limit=201", "limit"), ("cursor=x", "cursor"), ("payload=1", "payload")]
    {
        assert_problem(&stack.get(&path(query)).await, &[400], word, query);
    }
    let person = stack.person("Husam").await;
    assert_eq!(stack.as_entity(&person).get(&path("")).await.status, 403);
    assert_eq!(stack.as_entity(&agent).get(&path("")).await.status, 403);
    for nobody in [&person, "ent_01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
        assert_eq!(stack.get(&format!("/v1/agents/{nobody}/deliveries")).await.status, 404);
    }
}

#[tokio::test]
async fn what_was_kept_can_be_sent_again_and_the_rest_says_why_not() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let (agent, second) = (stack.receiver(json!({})).await, stack.receiver(json!({})).await);
    one_of_each(&stack, &agent).await;
    let listed = stack.deliveries(&agent, "?service=github").await;
    let by_status: BTreeMap<&str, &Value> = listed.iter().map(|one| (one["status"].as_str().unwrap(), one)).collect();
    for status in ["accepted", "refused"] {
        let first = by_status[status];
        let again = stack.replay(&agent, first["id"].as_str().unwrap()).await.must_be(202);
        assert_eq!(again.as_object().unwrap().len(), 2, "{again}");
        let run = stack.ended(again["runId"].as_str().unwrap(), SOON).await;
        let newest = stack.deliveries(&agent, "?limit=1").await.remove(0);
        assert_eq!(
            newest,
            json!({ "id": again["deliveryId"], "service": "github", "key": again["deliveryId"], "status": "accepted", "reason": null,
                "runId": run["id"], "bytes": first["bytes"], "receivedAt": newest["receivedAt"] })
        );
        assert_eq!(
            run["trigger"],
            json!({ "type": "service", "service": "github", "payload": { "text": WORD }, "deliveryId": again["deliveryId"],
                "at": newest["receivedAt"] })
        );
        assert_ne!((&again["deliveryId"], &run["id"]), (&first["id"], &first["runId"]));
        assert!(stack.deliveries(&agent, "").await.contains(first), "the first one stays as it is");
        // What was sent again can be sent again.
        stack.replay(&agent, again["deliveryId"].as_str().unwrap()).await.must_be(202);
    }
    for status in ["repeated", "rejected"] {
        let refused = stack.replay(&agent, by_status[status]["id"].as_str().unwrap()).await;
        assert_problem(&refused, &[409], &format!("it was {status}"), status);
    }
    let kept = by_status["accepted"]["id"].as_str().unwrap();
    for (agent, delivery) in
        [(&*second, kept), (&*agent, "dlv_01ARZ3NDEKTSV4RRFFQ69G5FAV"), (&*agent, "one"), ("ent_01ARZ3NDEKTSV4RRFFQ69G5FAV", kept)]
    {
        assert_eq!(stack.replay(agent, delivery).await.status, 404, "{agent} {delivery}");
    }
    assert_eq!(stack.as_entity(&agent).replay(&agent, kept).await.status, 403);
    assert!(stack.deliveries(&second, "").await.is_empty());
    assert_eq!(stack.runs_by(&agent).await.len(), 2 + 4);
}

#[tokio::test]
async fn a_replay_under_a_key_is_one() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({})).await;
    let first = stack.trigger(&agent, "ci", &json!({ "n": 1 }), &[]).await.must_be(202);
    let path = format!("/v1/agents/{agent}/deliveries/{}/replay", first["deliveryId"].as_str().unwrap());
    let replay = |key: &str| stack.send(stack.request(Method::POST, &path).bearer_auth(&stack.key).header("idempotency-key", key));
    let at_once: Vec<Value> = join_all((0..10).map(|_| replay("k"))).await.into_iter().map(|reply| reply.must_be(202)).collect();
    assert!(at_once.iter().all(|answer| *answer == at_once[0] && answer["runId"].is_string()), "{at_once:?}");
    assert_eq!(replay("k").await.must_be(202), at_once[0]);
    assert_ne!(replay("l").await.must_be(202), at_once[0]);
    assert_eq!(stack.runs_by(&agent).await.len(), 3);
    assert_eq!(stack.deliveries(&agent, "").await.len(), 3);
    // The first one's key is another call's.
    let other = stack.trigger(&agent, "ci", &json!({ "n": 1 }), &[("idempotency-key", "k")]).await.must_be(202);
    assert_ne!(other, at_once[0]);
}

#[tokio::test]
async fn many_are_listed_page_by_page_while_more_come() {
    let Some(stack) = Stack::receiving(&[("SMARTSPACE_RATE", "0")]).await else { return };
    let agent = stack.receiver(json!({ "paused": true })).await;
    let come = async |from: usize| {
        for round in 0..12 {
            let keys: Vec<String> = (0..10).map(|place| format!("evt_{}", from + round * 10 + place)).collect();
            let sent = keys.iter().map(|key| (Scheme::Stripe.sends(key), key));
            let answers = join_all(sent.map(async |(sent, _)| stack.hook(&agent, "stripe", &sent).await)).await;
            for answer in answers {
                answer.must_be(202);
            }
        }
    };
    come(0).await;
    let path = format!("/v1/agents/{agent}/deliveries");
    let first = stack.get(&format!("{path}?limit=50")).await.must_be(200);
    come(120).await;
    let mut seen: Vec<Value> = first["items"].as_array().unwrap().clone();
    let mut next = first["nextCursor"].clone();
    while let Some(cursor) = next.as_str() {
        let page = stack.get(&format!("{path}?limit=50&cursor={cursor}")).await.must_be(200);
        seen.extend(page["items"].as_array().unwrap().iter().cloned());
        next = page["nextCursor"].clone();
    }
    let keys: BTreeSet<&str> = seen.iter().map(|one| one["key"].as_str().unwrap()).collect();
    assert_eq!((seen.len(), keys.len()), (120, 120), "what came later is not on later pages");
    let ids: Vec<&str> = seen.iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert!(ids.is_sorted_by(|one, next| one > next), "newest first");
    assert_eq!(stack.deliveries(&agent, "?limit=200").await.len(), 240);
    assert_eq!(stack.deliveries(&agent, "?service=stripe&status=accepted&limit=7").await, [Value::Null; 0]);
}
