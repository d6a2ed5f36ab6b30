//! Invalid calls of the tools for memories and goals.

use serde_json::{Value, json};

use crate::{
    runs::agent_state::{memories, results_of},
    support::{
        model::{Part, call},
        stack::Stack,
    },
};

#[tokio::test]
async fn bad_input_is_reported_to_the_model_and_changes_nothing() {
    let stack = Stack::start().await;
    let team = stack.team().await;
    let mut bad = bad_memory_calls();
    bad.extend(bad_goal_calls());
    let (calls, words): (Vec<_>, Vec<_>) = bad.into_iter().unzip();
    for (result, word) in results_of(&stack, &team, calls).await.iter().zip(words) {
        let error = result["error"]
            .as_str()
            .unwrap_or_else(|| panic!("no error in {result}"))
            .to_lowercase();
        assert!(error.contains(word), "the error lacks {word:?}: {error}");
    }
    for kind in ["memories", "goals"] {
        let path = format!("/v1/agents/{}/{kind}", team.agent);
        assert_eq!(stack.all(&path).await, [Value::Null; 0]);
    }
}

/// A bad call and a word that its error contains, in lower case.
type BadCall = (Part, &'static str);

fn bad_memory_calls() -> Vec<BadCall> {
    let memory = |key: &str, value: &str| {
        json!({ "memories": [
            { "key": "fine", "value": "fine" },
            { "key": key, "value": value },
        ] })
    };
    vec![
        (call("set_memories", json!({})), "memories"),
        (call("set_memories", json!({ "memories": [] })), "memories"),
        (call("set_memories", memory("", "v")), "/memories/1/key"),
        (call("set_memories", memory(&"k".repeat(129), "v")), "128"),
        (call("set_memories", memory("k", "")), "/memories/1/value"),
        (call("set_memories", memory("k", &"v".repeat(4_001))), "4000"),
        (call("set_memories", memory("k", "nul \0")), "/memories/1/value"),
        (call("set_memories", memories((0..51).map(|number| number.to_string()))), "50"),
        (
            call(
                "set_memories",
                json!({ "memories": [{ "key": "k", "value": "v", "colour": "red" }] }),
            ),
            "colour",
        ),
        (call("delete_memories", json!({})), "keys"),
        (call("delete_memories", json!({ "keys": ["nul \0"] })), "/keys/0"),
        (call("get_memories", json!({ "keys": [5] })), "/keys/0"),
    ]
}

fn bad_goal_calls() -> Vec<BadCall> {
    let goals = |goals: Value| call("set_goals", json!({ "goals": goals }));
    vec![
        (goals(json!([{ "id": "new", "status": "active" }])), "there is no goal"),
        (goals(json!([{ "description": "d" }, { "description": "d", "priority": 6 }])), "5"),
        (goals(json!([{ "description": "d", "dueAt": "soon" }])), "rfc 3339"),
        (goals(json!([{ "description": "d", "status": "done" }])), "/goals/0/status"),
        (call("delete_goals", json!({ "goalIds": [] })), "goalids"),
    ]
}
