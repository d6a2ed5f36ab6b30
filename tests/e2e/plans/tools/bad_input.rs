//! Invalid calls of `set_plans`.

use serde_json::{Value, json};

use crate::{
    plans::{
        operator::daily,
        tools::{MISSING_PLAN, results_of, set},
    },
    support::{
        model::{Part, call},
        routes::id,
        stack::Stack,
    },
};

#[tokio::test]
async fn one_wrong_plan_refuses_the_whole_call() {
    let stack = Stack::start().await;
    let team = stack.team().await;
    let other = stack.agent("Bea", &stack.model.name("bea")).await;
    let others = id(&stack.plan(&other, daily("Hers")).await);
    let mut bad = wrong_times();
    bad.extend(wrong_fields());
    bad.extend(wrong_ids(&others));
    let count = bad.len();
    let (mut calls, words): (Vec<_>, Vec<_>) = bad.into_iter().unzip();
    calls.push(call("delete_plans", json!({ "planIds": [others] })));
    let results = results_of(&stack, &team, calls).await;
    for (result, word) in results.iter().zip(words) {
        let error = result["error"]
            .as_str()
            .unwrap_or_else(|| panic!("no error in {result}, expected {word}"))
            .to_lowercase();
        assert!(error.contains(word), "the error lacks {word:?}: {error}");
    }
    assert_eq!(results[count], json!({ "deleted": [] }), "an agent deleted another agent's plan");
    assert_eq!(stack.plans(&team.agent).await.len(), 0);
    assert_eq!(stack.plans(&other).await.len(), 1);
}

/// A bad call and a word that its error contains, in lower case.
type BadCall = (Part, &'static str);

/// Calls `set_plans` with a correct plan and this one.
fn set_with_a_correct_one(plan: Value) -> Part {
    set(&[daily("fine"), plan])
}

fn wrong_times() -> Vec<BadCall> {
    let with = |fields: Value| {
        let mut plan = json!({ "name": "n", "instruction": "i" });
        plan.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        set_with_a_correct_one(plan)
    };
    vec![
        (
            with(json!({})),
            "/plans/1: expected exactly one of runafter, scheduledat and cron, got none",
        ),
        (
            with(json!({ "runAfter": "1 day", "cron": "0 9 * * *" })),
            "/plans/1: expected exactly one of runafter, scheduledat and cron, \
             got runafter and cron",
        ),
        (with(json!({ "runAfter": "soon" })), "/plans/1/runafter: expected a duration like"),
        (
            with(json!({ "scheduledAt": "2020-01-01T00:00:00Z" })),
            "/plans/1/scheduledat: expected a time after now",
        ),
        (with(json!({ "cron": "0 0 9 * * *" })), "five fields"),
        (
            with(json!({ "cron": "0 9 * * *", "timezone": "Nowhere" })),
            "/plans/1/timezone: expected an iana time zone",
        ),
        (with(json!({ "runAfter": "1 day", "status": "paused" })), "status"),
        (with(json!({ "runAfter": "1 day", "colour": "red" })), "colour"),
    ]
}

fn wrong_fields() -> Vec<BadCall> {
    let many: Vec<_> = (0..51).map(|number| daily(&number.to_string())).collect();
    let nameless = json!({ "instruction": "i", "runAfter": "1 day" });
    let uninstructed = json!({ "name": "n", "runAfter": "1 day" });
    let long_name = json!({ "name": "n".repeat(129), "instruction": "i", "runAfter": "1 day" });
    let long = json!({ "name": "n", "instruction": "i".repeat(4_001), "runAfter": "1 day" });
    vec![
        (call("set_plans", json!({})), "plans"),
        (set(&[]), "plans"),
        (set(&many), "50"),
        (set_with_a_correct_one(nameless), "/plans/1/name"),
        (set_with_a_correct_one(uninstructed), "/plans/1/instruction"),
        (set_with_a_correct_one(long_name), "128"),
        (set_with_a_correct_one(long), "4000"),
        (call("get_plans", json!({ "status": "over" })), "status"),
    ]
}

fn wrong_ids(others: &str) -> Vec<BadCall> {
    let renamed = |id: &str| set_with_a_correct_one(json!({ "id": id, "name": "x" }));
    vec![
        (renamed("nonsense"), "/plans/1/id"),
        (renamed(MISSING_PLAN), "/plans/1: there is no plan pln_"),
        (renamed(others), "/plans/1: there is no plan pln_"),
        (call("delete_plans", json!({ "planIds": [] })), "planids"),
        (call("delete_plans", json!({ "planIds": ["nonsense"] })), "/planids/0"),
        (call("delete_plans", json!({})), "planids"),
    ]
}
