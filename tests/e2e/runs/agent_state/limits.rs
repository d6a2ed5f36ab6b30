//! The limits of the state of an agent, also with concurrent runs.

use serde_json::{Value, json};

use crate::{
    api::bad_input::assert_problem,
    runs::agent_state::{memories, results_of},
    support::{
        model::{Answer, Gate, call, wait},
        routes::triggered_run,
        stack::{Stack, Team},
    },
};

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
    let text = results[1].as_str().unwrap();
    let lines: Vec<&str> = text.lines().skip(1).collect();
    let shown = lines.iter().filter(|line| line.starts_with("- [")).count();
    assert!((12..20).contains(&shown) && text.len() < 32 * 1024, "{shown}");
    let more = lines.last().unwrap().strip_prefix(&format!("… {} more: ", 500 - shown)).unwrap();
    let keys: Vec<&str> = more.split(", ").collect();
    assert_eq!(keys.len(), 500 - shown);
    assert!(!lines[shown - 1].contains(keys[0]) && lines[shown - 1] < &*format!("- [{}]", keys[0]));
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
        let run = stack.run(&triggered_run(question, &agent).unwrap()).await;
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
