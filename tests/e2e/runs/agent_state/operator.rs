//! The operator reads and changes the state of agents with the API.

use serde_json::{Value, json};

use crate::{
    api::bad_input::assert_problem,
    support::{deployed::deployed, stack::Stack},
};

#[tokio::test]
async fn the_operator_sets_lists_and_deletes_the_state_of_an_agent() {
    let stack = Stack::start().await;
    let (person, agent, _) = stack.pair().await;
    set_and_delete_odd_keys(&stack, &agent).await;
    change_a_goal_field_by_field(&stack, &agent).await;
    refuse_bad_state(&stack, &agent, &person).await;

    let goal_at = format!("/v1/agents/{agent}/goals/q4");
    stack.delete(&format!("/v1/entities/{agent}")).await.must_be(204);
    for reply in [
        stack.get(&format!("/v1/agents/{agent}/goals")).await,
        stack.delete(&goal_at).await,
        stack.put(&goal_at, json!({ "priority": 1 })).await,
    ] {
        assert_problem(&reply, &[404], "", "a retired agent's goals");
    }
}

async fn set_and_delete_odd_keys(stack: &Stack, agent: &str) {
    let of_agent = |rest: &str| format!("/v1/agents/{agent}/{rest}");
    // A slash, blanks, a question mark, an umlaut, a key that sorts last, and 128 characters of
    // four bytes each.
    let long = "%F0%9F%8C%8D".repeat(128);
    let odd = ["a%2Fb", "a%20b%3F%23%25", "%C3%BCber", "~~", &long];
    for key in odd {
        let set = stack
            .put(&of_agent(&format!("memories/{key}")), json!({ "value": "old" }))
            .await
            .must_be(200);
        let again = stack
            .put(&of_agent(&format!("memories/{key}")), json!({ "value": "new" }))
            .await
            .must_be(200);
        assert_eq!(
            (&set["key"], &set["value"], &again["value"]),
            (&again["key"], &json!("old"), &json!("new"))
        );
        stack
            .put(&of_agent(&format!("goals/{key}")), json!({ "description": "d" }))
            .await
            .must_be(200);
    }
    let long = "🌍".repeat(128);
    let expected = ["a b?#%", "a/b", "~~", "über", &long];
    for (kind, field) in [("memories", "key"), ("goals", "id")] {
        let listed = stack.all(&of_agent(&format!("{kind}?limit=2"))).await;
        assert_eq!(
            listed.iter().map(|item| item[field].as_str().unwrap()).collect::<Vec<_>>(),
            expected
        );
        for key in odd {
            stack.delete(&of_agent(&format!("{kind}/{key}"))).await.must_be(204);
            stack.delete(&of_agent(&format!("{kind}/{key}"))).await.must_be(204);
        }
        assert_eq!(stack.all(&of_agent(kind)).await, [Value::Null; 0]);
    }
}

async fn change_a_goal_field_by_field(stack: &Stack, agent: &str) {
    let goal_at = format!("/v1/agents/{agent}/goals/q4");
    let made = stack
        .put(&goal_at, json!({ "description": "Report", "dueAt": "2026-12-31T00:00:00Z" }))
        .await
        .must_be(200);
    let changed = stack.put(&goal_at, json!({ "priority": 1, "dueAt": null })).await.must_be(200);
    assert_eq!(
        (&changed["createdAt"], &changed["dueAt"], &changed["priority"]),
        (&made["createdAt"], &json!(null), &json!(1))
    );
    let due = stack.put(&goal_at, json!({ "dueAt": "2026-12-31T00:00:00Z" })).await.must_be(200);
    let changed = stack.put(&goal_at, json!({ "priority": 2 })).await.must_be(200);
    assert_eq!(
        (&changed["dueAt"], &changed["priority"]),
        (&due["dueAt"], &json!(2)),
        "a field that is left out keeps its value"
    );
}

/// Bad requests for the state of this agent, and requests for the state of a person.
async fn refuse_bad_state(stack: &Stack, agent: &str, person: &str) {
    let of_agent = |rest: &str| format!("/v1/agents/{agent}/{rest}");
    let invalid: &[u16] = &[422];
    for (path, body, statuses, word) in [
        (of_agent("memories/k"), json!({}), invalid, "value"),
        (of_agent("memories/k"), json!({ "value": "" }), invalid, "/value"),
        (of_agent("memories/k"), json!({ "value": "x".repeat(4_001) }), invalid, "4000"),
        (of_agent("memories/k"), json!({ "value": "x", "key": "k" }), invalid, "key"),
        (of_agent("goals/new"), json!({}), invalid, "/description"),
        (of_agent("goals/q4"), json!({ "priority": 0 }), invalid, "/priority"),
        (of_agent("goals/q4"), json!({ "id": "q5" }), invalid, "id"),
        (
            of_agent(&format!("memories/{}", "k".repeat(129))),
            json!({ "value": "x" }),
            &[404],
            "128",
        ),
        (of_agent("memories/%00"), json!({ "value": "x" }), &[404], "nul"),
        (format!("/v1/agents/{person}/memories/k"), json!({ "value": "x" }), &[404], "person"),
        (format!("/v1/agents/{person}/goals/k"), json!({ "description": "x" }), &[404], "person"),
    ] {
        assert_problem(&stack.put(&path, body).await, statuses, word, &path);
    }
    // API Gateway replaces bytes that are not UTF-8 text before the product sees them.
    if deployed().is_none() {
        let path = of_agent("memories/%FF");
        assert_problem(&stack.put(&path, json!({ "value": "x" })).await, &[404], "", &path);
    }
    for path in
        ["memories?cursor=nonsense", "goals?limit=0", "memories?cursor=WyJFIiwiTUVUQSIsIk1FVEEiXQ"]
    {
        assert_problem(&stack.get(&of_agent(path)).await, &[400], "", path);
    }
    assert_problem(
        &stack.get(&format!("/v1/agents/{person}/memories")).await,
        &[404],
        "person",
        "a person's memories",
    );
    assert_problem(
        &stack.delete(&format!("/v1/agents/{person}/goals/k")).await,
        &[404],
        "person",
        "a person's goal",
    );
}
