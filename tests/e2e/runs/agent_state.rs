//! The state of agents, memories and goals: the tools that agents set it with, its limits, and that
//! each call takes effect once.

mod operator;

use serde_json::{Value, json};

use crate::{
    api::bad_input::assert_problem,
    support::{
        model::{Answer, Gate, Part, answer, call, raw_call, stop, wait},
        routes::woken,
        stack::{Stack, Team},
    },
};

/// Wakes the team's agent once, whose model makes these calls, one in each step. Returns their
/// results.
async fn results_of(stack: &Stack, team: &Team, calls: Vec<Part>) -> Vec<Value> {
    let before = stack.model.requests("ada").len();
    let count = calls.len();
    stack.model.plays("ada", calls.into_iter().map(Into::into).chain([stop()]));
    let question = stack.post(&team.space, &team.person, "Do it, please.").await;
    stack.quiet(&team.space).await;
    assert_eq!(stack.run(&woken(&question, &team.agent).unwrap()).await["status"], "completed");
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
    let boss = json!({ "key": "boss", "value": "Sara" });
    let city = json!({ "key": "city", "value": "Bergen" });
    let expected = [
        json!({ "memories": [] }),
        json!({ "saved": ["boss", "city"] }),
        json!({ "memories": [boss, city] }),
        json!({ "memories": [city] }),
        json!({ "deleted": ["boss"] }),
        json!({ "deleted": [] }),
    ];
    assert_eq!(results_of(&stack, &team, calls).await, expected);
    // A later run reads the same, and so does the operator.
    assert_eq!(
        results_of(&stack, &team, vec![call("get_memories", json!({}))]).await,
        [json!({ "memories": [city] })]
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

#[tokio::test]
async fn an_agent_has_at_most_500_memories_and_100_goals() {
    let stack = Stack::start().await;
    let team = stack.team().await;
    let fifty = |from: usize| (from..from + 50).map(|number| format!("{number:03}"));
    let goals = |from: usize| -> Value {
        fifty(from).map(|id| json!({ "id": id, "description": "d" })).collect()
    };
    let mut calls: Vec<_> =
        (0..10).map(|call_no| call("set_memories", memories(fifty(call_no * 50)))).collect();
    calls.push(call("set_memories", memories(["000".into(), "one more".into()])));
    calls.push(call("set_memories", memories(["000".into()])));
    calls.extend([0, 50].map(|from| call("set_goals", json!({ "goals": goals(from) }))));
    calls.push(call("set_goals", json!({ "goals": [{ "id": "one more", "description": "d" }] })));
    calls.push(call("set_goals", json!({ "goals": [{ "id": "000", "priority": 1 }] })));
    let results = results_of(&stack, &team, calls).await;
    let refused: Vec<_> = (0..)
        .zip(&results)
        .filter_map(|(index, result)| Some((index, result["error"].as_str()?)))
        .collect();
    assert_eq!(refused.iter().map(|(index, _)| *index).collect::<Vec<_>>(), [10, 14]);
    let advises = |error: &str| error.contains("delete some first");
    assert!(refused.iter().all(|(_, error)| advises(error)), "{refused:?}");
    for (kind, count, body) in
        [("memories", 500, json!({ "value": "v" })), ("goals", 100, json!({ "description": "d" }))]
    {
        let list = format!("/v1/agents/{}/{kind}", team.agent);
        assert_eq!(stack.all(&format!("{list}?limit=200")).await.len(), count);
        assert_problem(
            &stack.put(&format!("{list}/another"), body.clone()).await,
            &[409],
            "at most",
            kind,
        );
        stack.delete(&format!("{list}/007")).await.must_be(204);
        stack.put(&format!("{list}/another"), body).await.must_be(200);
    }
    assert_reads_are_bounded(&stack, &team).await;
}

/// `get_memories` returns 32 KiB at most, and the keys of the rest.
async fn assert_reads_are_bounded(stack: &Stack, team: &Team) {
    let long = |number: usize| json!({ "key": format!("{number:03}"), "value": "x".repeat(4_000) });
    let set = json!({ "memories": (10..20).map(long).collect::<Vec<_>>() });
    let results =
        results_of(stack, team, vec![call("set_memories", set), call("get_memories", json!({}))])
            .await;
    let shown = results[1]["memories"].as_array().unwrap().len();
    assert!((12..20).contains(&shown) && results[1].to_string().len() < 32 * 1024, "{shown}");
    assert_eq!(results[1]["more"], 500 - shown);
    let keys = results[1]["moreKeys"].as_array().unwrap();
    assert_eq!(keys.len(), 500 - shown);
    assert!(keys[0].as_str() > results[1]["memories"][shown - 1]["key"].as_str());
}

#[tokio::test]
async fn concurrent_runs_of_an_agent_lose_no_memory_and_stay_within_the_limit() {
    let stack = Stack::start().await;
    let (person, agent, space) = stack.pair().await;
    let other = stack.space("Other", &[&person, &agent]).await;
    let gate = Gate::closed();
    let scripted = gate.clone();
    stack.model.replies("ada", move |request| {
        let name = request.trigger_text();
        let set = |number: usize| {
            call("set_memories", memories((0..30).map(|key| format!("{name} {number} {key}"))))
        };
        Answer::of([wait(&scripted)].into_iter().chain((0..10).map(set)).collect())
    });
    let questions =
        [stack.post(&space, &person, "one").await, stack.post(&other, &person, "two").await];
    gate.reached(2).await;
    gate.open();
    stack.quiet(&space).await;
    stack.quiet(&other).await;
    let mut saved = 0;
    let mut refused = 0;
    for question in &questions {
        let run = stack.run(&woken(question, &agent).unwrap()).await;
        assert_eq!(run["status"], "completed", "{run}");
        for call in run["steps"][0]["calls"].as_array().unwrap() {
            saved += call["output"]["saved"].as_array().map_or(0, Vec::len);
            refused += usize::from(call["output"]["error"].is_string());
        }
    }
    // A call takes effect as a whole or not at all: 16 of the 20 calls fit.
    assert_eq!((saved, refused), (480, 4));
    assert_eq!(stack.all(&format!("/v1/agents/{agent}/memories?limit=200")).await.len(), 480);
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
    stack.cancel(&woken(&question, &agent).unwrap()).await.must_be(202);
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
