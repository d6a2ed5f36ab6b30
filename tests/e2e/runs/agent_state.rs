//! The state of agents, memories and goals: the tools that agents set it with, and that each call
//! takes effect once.

mod bad_input;
mod limits;
mod operator;

use serde_json::{Value, json};

use crate::support::{
    model::{Gate, Part, answer, call, raw_call, stop, wait},
    routes::triggered_run,
    stack::{Stack, Team},
};

/// Triggers the team's agent once, whose model makes these calls, one in each step. Returns their
/// results.
async fn results_of(stack: &Stack, team: &Team, calls: Vec<Part>) -> Vec<Value> {
    let before = stack.model.requests("ada").len();
    let count = calls.len();
    stack.model.plays("ada", calls.into_iter().map(Into::into).chain([stop()]));
    let question = stack.post(&team.space, &team.person, "Do it, please.").await;
    stack.quiet(&team.space).await;
    assert_eq!(
        stack.run(&triggered_run(&question, &team.agent).unwrap()).await["status"],
        "completed"
    );
    let results = stack.model.requests("ada")[before + count].results();
    assert_eq!(results.len(), count);
    results.into_iter().map(timeless).collect()
}

/// Removes the times of creation and change.
fn timeless(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            fields.retain(|name, value| {
                !(["createdAt", "updatedAt"].contains(&name.as_str()) && value.is_string())
            });
            fields.values_mut().for_each(|value| *value = timeless(value.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = timeless(item.take())),
        _ => {}
    }
    value
}

fn memories(keys: impl IntoIterator<Item = String>) -> Value {
    let memories: Vec<_> =
        keys.into_iter().map(|key| json!({ "value": format!("of {key}"), "key": key })).collect();
    json!({ "memories": memories })
}

fn goal(id: &str, description: &str, status: &str, priority: u8) -> Value {
    json!({
        "id": id,
        "description": description,
        "status": status,
        "priority": priority,
        "longTerm": false,
        "dueAt": null,
    })
}

#[tokio::test]
async fn an_agent_sets_reads_and_deletes_its_memories() {
    let stack = Stack::start().await;
    let team = stack.team().await;
    let set = json!({ "memories": [
        { "key": "city", "value": "Oslo" },
        { "key": "boss", "value": "Sara" },
        { "key": "city", "value": "Bergen" },
    ] });
    let calls = vec![
        call("get_memories", json!({})),
        call("set_memories", set),
        raw_call("get_memories", ""),
        call("get_memories", json!({ "keys": ["city", "nobody"] })),
        call("delete_memories", json!({ "keys": ["boss", "nobody", "boss"] })),
        call("delete_memories", json!({ "keys": ["boss"] })),
    ];
    let city = json!({ "key": "city", "value": "Bergen" });
    let only_city = "MEMORIES:\n- [city] \"Bergen\"";
    let expected = [
        json!("MEMORIES: none"),
        json!({ "saved": ["boss", "city"] }),
        json!("MEMORIES:\n- [boss] \"Sara\"\n- [city] \"Bergen\""),
        json!(only_city),
        json!({ "deleted": ["boss"] }),
        json!({ "deleted": [] }),
    ];
    assert_eq!(results_of(&stack, &team, calls).await, expected);
    // A later run reads the same, and so does the operator.
    assert_eq!(
        results_of(&stack, &team, vec![call("get_memories", json!({}))]).await,
        [json!(only_city)]
    );
    let stored = stack.all(&format!("/v1/agents/{}/memories", team.agent)).await;
    assert!(stored[0]["updatedAt"].is_string());
    assert_eq!(timeless(json!(stored)), json!([city]));
}

#[tokio::test]
async fn an_agent_sets_and_deletes_its_goals() {
    let stack = Stack::start().await;
    let team = stack.team().await;
    let first = json!({ "goals": [
        {
            "id": "q4",
            "description": "Write the report",
            "priority": 2.0,
            "dueAt": "2026-12-31T12:00:00+01:00",
        },
        { "description": "Learn Norwegian", "longTerm": true },
    ] });
    let twice = json!({ "goals": [
        { "id": "q4", "status": "abandoned", "priority": 1 },
        { "id": "q4", "status": "completed" },
    ] });
    let results =
        results_of(&stack, &team, vec![call("set_goals", first), call("set_goals", twice)]).await;
    let own = results[0]["goals"][0]["id"].as_str().unwrap().to_owned();
    assert!(own.starts_with("goal-") && own.ends_with("-1"), "{own}");
    let mut learn = goal(&own, "Learn Norwegian", "active", 3);
    learn["longTerm"] = json!(true);
    let report = |status: &str, priority: u8| {
        let mut report = goal("q4", "Write the report", status, priority);
        report["dueAt"] = json!("2026-12-31T11:00:00.000Z");
        report
    };
    assert_eq!(
        results,
        [
            json!({ "goals": [learn, report("active", 2)] }),
            json!({ "goals": [report("completed", 1)] })
        ]
    );
    let listed = format!("/v1/agents/{}/goals", team.agent);
    assert_eq!(timeless(json!(stack.all(&listed).await)), json!([learn, report("completed", 1)]));
    let delete = call("delete_goals", json!({ "goalIds": ["q4", "q5"] }));
    assert_eq!(results_of(&stack, &team, vec![delete]).await, [json!({ "deleted": ["q4"] })]);
    assert_eq!(timeless(json!(stack.all(&listed).await)), json!([learn]));
}

#[tokio::test]
async fn a_canceled_run_sets_no_memory() {
    let stack = Stack::start().await;
    let (person, agent, space) = stack.pair().await;
    let gate = Gate::closed();
    let set = call("set_memories", memories(["before".into()]));
    stack.model.plays(
        "ada",
        [answer([set]), answer([call("set_memories", memories(["after".into()])), wait(&gate)])],
    );
    let question = stack.post(&space, &person, "Remember this.").await;
    gate.reached(1).await;
    stack.cancel(&triggered_run(&question, &agent).unwrap()).await.must_be(202);
    gate.open();
    stack.quiet(&space).await;
    let stored = stack.all(&format!("/v1/agents/{agent}/memories")).await;
    assert_eq!(timeless(json!(stored)), json!([{ "key": "before", "value": "of before" }]));
}

#[tokio::test]
async fn a_goal_set_before_a_kill_is_not_set_again() {
    let Some(mut stack) = Stack::local().await else { return };
    let (person, agent, space) = stack.pair().await;
    let gate = Gate::closed();
    let new_goal = call("set_goals", json!({ "goals": [{ "description": "Write the report" }] }));
    stack.model.plays("ada", [answer([new_goal]), answer([wait(&gate)]), stop()]);
    stack.post(&space, &person, "The report, please.").await;
    gate.reached(1).await;
    stack.kill9();
    stack.restart().await;
    stack.quiet(&space).await;
    let goals = stack.all(&format!("/v1/agents/{agent}/goals")).await;
    assert_eq!(
        goals.iter().map(|goal| goal["description"].as_str().unwrap()).collect::<Vec<_>>(),
        ["Write the report"]
    );
    let requests = stack.model.requests("ada");
    assert_eq!(
        requests.last().unwrap().results(),
        requests[1].results(),
        "the restarted run shows its model another result than the stored one"
    );
}
