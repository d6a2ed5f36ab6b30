//! Deliveries and the limit of runs per minute.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    auth::rates::in_one_minute,
    support::{stack::Stack, webhook_senders::signatures::Scheme},
    webhooks::incoming::{field, statuses},
};

/// Sends three deliveries of each of three services, twice, to an agent with this number of runs a
/// minute. Returns how many deliveries of each service triggered a run, and the number of
/// deliveries by status.
async fn deliver_in_one_minute(
    stack: &Stack,
    budget: u32,
) -> (Vec<usize>, BTreeMap<String, usize>) {
    let agent = stack.receiver(json!({ "budget": { "runsPerMinute": budget } })).await;
    let mut triggered = Vec::new();
    for (service, scheme) in
        [("github", Scheme::Github), ("standard", Scheme::Standard), ("slack", Scheme::Slack)]
    {
        let mut count = 0;
        for key in ["one", "two", "three"] {
            let answer = stack.hook(&agent, service, &scheme.signed(key)).await.must_be(202);
            count += usize::from(answer["runId"].is_string());
            assert_eq!(answer["runId"].is_null(), answer["reason"] == "rate", "{answer}");
            assert_eq!(
                stack.hook(&agent, service, &scheme.signed(key)).await.must_be(202),
                answer,
                "a repeated delivery gets another answer"
            );
        }
        triggered.push(count);
    }
    let runs = stack.runs_by(&agent).await.len();
    assert_eq!(runs, triggered.iter().sum::<usize>());
    (triggered, statuses(stack, &agent).await)
}

#[tokio::test]
async fn services_get_half_of_the_runs_of_a_minute() {
    let Some(stack) = Stack::receiving_at_once().await else { return };
    for (budget, triggered) in [
        (1, [1, 0, 0]),
        (2, [1, 0, 0]),
        (3, [2, 0, 0]),
        (4, [2, 0, 0]),
        (8, [3, 1, 0]),
        (10, [3, 2, 0]),
    ] {
        let accepted: usize = triggered.iter().sum();
        let (counts, statuses) =
            in_one_minute(async || deliver_in_one_minute(&stack, budget).await).await;
        assert_eq!(counts, triggered, "{budget} runs a minute");
        let expected = [("accepted", accepted), ("refused", 9 - accepted), ("repeated", 9)]
            .map(|(status, count)| (status.to_owned(), count));
        assert_eq!(statuses, BTreeMap::from(expected), "{budget} runs a minute");
    }
}

#[tokio::test]
async fn a_rate_limited_delivery_can_be_replayed_within_the_operators_half() {
    let Some(stack) = Stack::receiving_at_once().await else { return };
    let [accepted, refused, replayed, replayed_again] = in_one_minute(async || {
        let agent = stack.receiver(json!({ "budget": { "runsPerMinute": 2 } })).await;
        let one = stack.trigger(&agent, "ci", &json!({ "key": "one" }), &[]).await.must_be(202);
        let two = stack.trigger(&agent, "ci", &json!({ "key": "two" }), &[]).await.must_be(202);
        let delivery = field(&two, "deliveryId");
        let replay = stack.replay(&agent, &delivery).await.must_be(202);
        [one, two, replay, stack.replay(&agent, &delivery).await.must_be(202)]
    })
    .await;
    assert!(accepted["runId"].is_string(), "{accepted}");
    assert_eq!(refused["reason"], "rate", "{refused}");
    // The operator may use the half that is reserved for people, but not more than the budget.
    assert!(replayed["runId"].is_string(), "{replayed}");
    assert_eq!(
        (&replayed_again["runId"], &replayed_again["reason"]),
        (&Value::Null, &json!("rate")),
        "{replayed_again}"
    );
}
