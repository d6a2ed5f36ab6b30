//! Requests about plans that are repeated with an idempotency key.

use std::collections::BTreeSet;

use futures::future::join_all;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::{
    api::bad_input::assert_problem,
    plans::operator::{daily, once, time},
    support::{routes::id, stack::Stack},
};

#[tokio::test]
async fn an_idempotency_key_makes_one_plan_and_one_run() {
    let stack = Stack::start().await;
    let (_, agent, _) = stack.pair().await;
    let report = daily("Report");
    let other = daily("Another");
    let made = stack.post_plan(&agent, "", "one", Some(&report)).await.must_be(201);
    let again = stack.post_plan(&agent, "", "one", Some(&report)).await;
    assert_eq!(again.header("location"), format!("/v1/agents/{agent}/plans/{}", id(&made)));
    assert_eq!(again.must_be(201), made);
    assert_problem(
        &stack.post_plan(&agent, "", "one", Some(&other)).await,
        &[422],
        "another body",
        "another body",
    );
    let replies = join_all((0..10).map(|_| stack.post_plan(&agent, "", "ten", Some(&other)))).await;
    let ids: BTreeSet<String> = replies.into_iter().map(|reply| id(&reply.must_be(201))).collect();
    assert_eq!((ids.len(), stack.plans(&agent).await.len()), (1, 2));

    let now = format!("/{}/run", id(&made));
    let replies = join_all((0..10).map(|_| stack.post_plan(&agent, &now, "now", None))).await;
    let mut runs: BTreeSet<String> =
        replies.into_iter().map(|reply| id(&reply.must_be(202))).collect();
    runs.insert(id(&stack.post_plan(&agent, &now, "now", None).await.must_be(202)));
    assert_eq!(runs.len(), 1, "{runs:?}");
    // The keys also work for several runs in the same millisecond.
    let keys: Vec<String> = (0..20).map(|number| format!("key {number}")).collect();
    let once_each = async || -> Vec<String> {
        let replies =
            join_all(keys.iter().map(|key| stack.post_plan(&agent, &now, key, None))).await;
        replies.into_iter().map(|reply| id(&reply.must_be(202))).collect()
    };
    let first = once_each().await;
    let again = once_each().await;
    assert_eq!((first.iter().collect::<BTreeSet<_>>().len(), &again), (20, &first));
    let more = id(&stack.post_plan(&agent, &now, "later", None).await.must_be(202));
    assert!(!runs.contains(&more));
    assert_eq!(stack.fired(&agent, 22).await.len(), 22);

    stack.delete(&format!("/v1/agents/{agent}/plans/{}", id(&made))).await.must_be(204);
    assert_problem(
        &stack.post_plan(&agent, "", "one", Some(&report)).await,
        &[409],
        "idempotency-key",
        "a key whose plan was deleted",
    );
    assert_eq!(
        id(&stack.post_plan(&agent, &now, "later", None).await.must_be(202)),
        more,
        "the run still exists"
    );
}

#[tokio::test]
async fn an_idempotency_key_returns_its_plan_after_the_plan_has_fired() {
    let stack = Stack::start().await;
    let (_, agent, _) = stack.pair().await;
    // Late enough that both plans exist before they fire, even on a slow machine.
    let at = (Timestamp::now() + SignedDuration::from_secs(8)).to_string();
    let soon = once("Soon", "8 seconds");
    let then = json!({ "name": "Then", "instruction": "Say hello.", "scheduledAt": at });
    let mut made = Vec::new();
    for (key, body) in [("soon", &soon), ("then", &then)] {
        made.push(stack.post_plan(&agent, "", key, Some(body)).await.must_be(201));
    }
    stack.fired(&agent, 2).await;
    assert!(stack.plans(&agent).await.is_empty());
    for (key, body, made) in [("soon", &soon, &made[0]), ("then", &then, &made[1])] {
        let again = stack.post_plan(&agent, "", key, Some(body)).await;
        assert_eq!(again.header("location"), format!("/v1/agents/{agent}/plans/{}", id(made)));
        let again = again.must_be(201);
        let mut expected = made.clone();
        for (field, value) in [
            ("nextRunAt", &Value::Null),
            ("createdAt", &again["createdAt"]),
            ("updatedAt", &again["createdAt"]),
        ] {
            expected[field] = value.clone();
        }
        assert_eq!(again, expected);
        let early = time(&made["createdAt"]).duration_since(time(&again["createdAt"]));
        assert!(
            (SignedDuration::ZERO..SignedDuration::from_secs(20)).contains(&early),
            "{again} {made}"
        );
    }
    assert_eq!(stack.fired(&agent, 2).await.len(), 2, "a repeated key triggers no run");
}
