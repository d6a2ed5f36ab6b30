//! What agents keep: memories and goals, set by themselves and by the operator.

use serde_json::{Value, json};

use super::{
    bad_input::assert_problem,
    deployed::deployed,
    model::{Gate, Part, answer, call, raw_call, stop, wait},
    routes::woken,
    stack::Stack,
};

/// Wakes the agent once, whose model makes one call after the other. What came of each.
async fn results_of(stack: &Stack, (person, agent, space): &(String, String, String), calls: Vec<Part>) -> Vec<Value> {
    let (before, count) = (stack.model.asked("ada").len(), calls.len());
    stack.model.plays("ada", calls.into_iter().map(Into::into).chain([stop()]));
    let question = stack.post(space, person, "Do it, please.").await;
    stack.quiet(space).await;
    assert_eq!(stack.run(&woken(&question, agent).unwrap()).await["status"], "completed");
    let results = stack.model.asked("ada")[before + count].results();
    assert_eq!(results.len(), count);
    results.into_iter().map(timeless).collect()
}

/// Without the times that tell when something was set.
fn timeless(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            fields.retain(|name, value| !(["createdAt", "updatedAt"].contains(&name.as_str()) && value.is_string()));
            fields.values_mut().for_each(|value| *value = timeless(value.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = timeless(item.take())),
        _ => {}
    }
    value
}

fn memories(keys: impl IntoIterator<Item = String>) -> Value {
    let memories: Vec<_> = keys.into_iter().map(|key| json!({ "value": format!("of {key}"), "key": key })).collect();
    json!({ "memories": memories })
}

fn goal(id: &str, description: &str, status: &str, priority: u8) -> Value {
    json!({ "id": id, "description": description, "status": status, "priority": priority, "longTerm": false, "dueAt": null })
}

#[tokio::test]
async fn an_agent_sets_reads_and_deletes_its_memories() {
    let stack = Stack::start().await;
    let pair = stack.pair().await;
    let set = json!({ "memories": [{ "key": "city", "value": "Oslo" }, { "key": "boss", "value": "Sara" }, { "key": "city", "value": "Bergen" }] });
    let calls = vec![
        call("get_memories", json!({})),
        call("set_memories", set),
        raw_call("get_memories", ""),
        call("get_memories", json!({ "keys": ["city", "nobody"] })),
        call("delete_memories", json!({ "keys": ["boss", "nobody", "boss"] })),
        call("delete_memories", json!({ "keys": ["boss"] })),
    ];
    let (boss, city) = (json!({ "key": "boss", "value": "Sara" }), json!({ "key": "city", "value": "Bergen" }));
    let expected = [
        json!({ "memories": [] }),
        json!({ "saved": ["boss", "city"] }),
        json!({ "memories": [boss, city] }),
        json!({ "memories": [city] }),
        json!({ "deleted": ["boss"] }),
        json!({ "deleted": [] }),
    ];
    assert_eq!(results_of(&stack, &pair, calls).await, expected);
    // A later run, and the operator.
    assert_eq!(results_of(&stack, &pair, vec![call("get_memories", json!({}))]).await, [json!({ "memories": [city] })]);
    let kept = stack.all(&format!("/v1/agents/{}/memories", pair.1)).await;
    assert!(kept[0]["updatedAt"].is_string());
    assert_eq!(timeless(json!(kept)), json!([city]));
}

#[tokio::test]
async fn an_agent_sets_and_deletes_its_goals() {
    let stack = Stack::start().await;
    let pair = stack.pair().await;
    let first = json!({ "goals": [
        { "id": "q4", "description": "Write the report", "priority": 2.0, "dueAt": "2026-12-31T12:00:00+01:00" },
        { "description": "Learn Norwegian", "longTerm": true }] });
    let twice = json!({ "goals": [{ "id": "q4", "status": "abandoned", "priority": 1 }, { "id": "q4", "status": "completed" }] });
    let results = results_of(&stack, &pair, vec![call("set_goals", first), call("set_goals", twice)]).await;
    let own = results[0]["goals"][0]["id"].as_str().unwrap().to_owned();
    assert!(own.starts_with("goal-") && own.ends_with("-1"), "{own}");
    let mut learn = goal(&own, "Learn Norwegian", "active", 3);
    learn["longTerm"] = json!(true);
    let report = |status: &str, priority: u8| {
        let mut report = goal("q4", "Write the report", status, priority);
        report["dueAt"] = json!("2026-12-31T11:00:00.000Z");
        report
    };
    assert_eq!(results, [json!({ "goals": [learn, report("active", 2)] }), json!({ "goals": [report("completed", 1)] })]);
    let listed = format!("/v1/agents/{}/goals", pair.1);
    assert_eq!(timeless(json!(stack.all(&listed).await)), json!([learn, report("completed", 1)]));
    let delete = call("delete_goals", json!({ "goalIds": ["q4", "q5"] }));
    assert_eq!(results_of(&stack, &pair, vec![delete]).await, [json!({ "deleted": ["q4"] })]);
    assert_eq!(timeless(json!(stack.all(&listed).await)), json!([learn]));
}

#[tokio::test]
async fn what_does_not_fit_goes_back_to_the_model_and_changes_nothing() {
    let stack = Stack::start().await;
    let pair = stack.pair().await;
    let memory = |key: &str, value: &str| json!({ "memories": [{ "key": "fine", "value": "fine" }, { "key": key, "value": value }] });
    let bad = [
        (call("set_memories", json!({})), "memories"),
        (call("set_memories", json!({ "memories": [] })), "memories"),
        (call("set_memories", memory("", "v")), "/memories/1/key"),
        (call("set_memories", memory(&"k".repeat(129), "v")), "128"),
        (call("set_memories", memory("k", "")), "/memories/1/value"),
        (call("set_memories", memory("k", &"v".repeat(4_001))), "4000"),
        (call("set_memories", memory("k", "nul \0")), "/memories/1/value"),
        (call("set_memories", memories((0..51).map(|number| number.to_string()))), "50"),
        (call("set_memories", json!({ "memories": [{ "key": "k", "value": "v", "colour": "red" }] })), "colour"),
        (call("delete_memories", json!({})), "keys"),
        (call("delete_memories", json!({ "keys": ["nul \0"] })), "/keys/0"),
        (call("get_memories", json!({ "keys": [5] })), "/keys/0"),
        (call("set_goals", json!({ "goals": [{ "id": "new", "status": "active" }] })), "there is no goal"),
        (call("set_goals", json!({ "goals": [{ "description": "d" }, { "description": "d", "priority": 6 }] })), "5"),
        (call("set_goals", json!({ "goals": [{ "description": "d", "dueAt": "soon" }] })), "rfc 3339"),
        (call("set_goals", json!({ "goals": [{ "description": "d", "status": "done" }] })), "/goals/0/status"),
        (call("delete_goals", json!({ "goalIds": [] })), "goalids"),
    ];
    let (calls, words): (Vec<_>, Vec<_>) = bad.into_iter().unzip();
    for (result, word) in results_of(&stack, &pair, calls).await.iter().zip(words) {
        let error = result["error"].as_str().unwrap_or_else(|| panic!("no error in {result}")).to_lowercase();
        assert!(error.contains(word), "it does not say {word:?}: {error}");
    }
    for kind in ["memories", "goals"] {
        assert_eq!(stack.all(&format!("/v1/agents/{}/{kind}", pair.1)).await, [Value::Null; 0]);
    }
}

#[tokio::test]
async fn the_operator_sets_lists_and_deletes_what_an_agent_keeps() {
    let stack = Stack::start().await;
    let (person, agent, _) = stack.pair().await;
    let of_agent = |rest: &str| format!("/v1/agents/{agent}/{rest}");
    // A slash, blanks, a question mark, umlauts, what sorts last, and 128 characters of four bytes.
    let long = "%F0%9F%8C%8D".repeat(128);
    let odd = ["a%2Fb", "a%20b%3F%23%25", "%C3%BCber", "~~", &long];
    for key in odd {
        let set = stack.put(&of_agent(&format!("memories/{key}")), json!({ "value": "old" })).await.must_be(200);
        let again = stack.put(&of_agent(&format!("memories/{key}")), json!({ "value": "new" })).await.must_be(200);
        assert_eq!((&set["key"], &set["value"], &again["value"]), (&again["key"], &json!("old"), &json!("new")));
        stack.put(&of_agent(&format!("goals/{key}")), json!({ "description": "d" })).await.must_be(200);
    }
    let long = "🌍".repeat(128);
    let expected = ["a b?#%", "a/b", "~~", "über", &long];
    for (kind, field) in [("memories", "key"), ("goals", "id")] {
        let listed = stack.all(&of_agent(&format!("{kind}?limit=2"))).await;
        assert_eq!(listed.iter().map(|item| item[field].as_str().unwrap()).collect::<Vec<_>>(), expected);
        for key in odd {
            stack.delete(&of_agent(&format!("{kind}/{key}"))).await.must_be(204);
            stack.delete(&of_agent(&format!("{kind}/{key}"))).await.must_be(204);
        }
        assert_eq!(stack.all(&of_agent(kind)).await, [Value::Null; 0]);
    }

    let goal_at = of_agent("goals/q4");
    let made = stack.put(&goal_at, json!({ "description": "Report", "dueAt": "2026-12-31T00:00:00Z" })).await.must_be(200);
    let changed = stack.put(&goal_at, json!({ "priority": 1, "dueAt": null })).await.must_be(200);
    assert_eq!((&changed["createdAt"], &changed["dueAt"], &changed["priority"]), (&made["createdAt"], &json!(null), &json!(1)));
    let kept = stack.put(&goal_at, json!({ "dueAt": "2026-12-31T00:00:00Z" })).await.must_be(200);
    let changed = stack.put(&goal_at, json!({ "priority": 2 })).await.must_be(200);
    assert_eq!((&changed["dueAt"], &changed["priority"]), (&kept["dueAt"], &json!(2)), "what is left out stays");
    let invalid: &[u16] = &[422];
    for (path, body, statuses, word) in [
        (of_agent("memories/k"), json!({}), invalid, "value"),
        (of_agent("memories/k"), json!({ "value": "" }), invalid, "/value"),
        (of_agent("memories/k"), json!({ "value": "x".repeat(4_001) }), invalid, "4000"),
        (of_agent("memories/k"), json!({ "value": "x", "key": "k" }), invalid, "key"),
        (of_agent("goals/new"), json!({}), invalid, "/description"),
        (of_agent("goals/q4"), json!({ "priority": 0 }), invalid, "/priority"),
        (of_agent("goals/q4"), json!({ "id": "q5" }), invalid, "id"),
        (of_agent(&format!("memories/{}", "k".repeat(129))), json!({ "value": "x" }), &[404], "128"),
        (of_agent("memories/%00"), json!({ "value": "x" }), &[404], "nul"),
        (format!("/v1/agents/{person}/memories/k"), json!({ "value": "x" }), &[404], "person"),
        (format!("/v1/agents/{person}/goals/k"), json!({ "description": "x" }), &[404], "person"),
    ] {
        assert_problem(&stack.put(&path, body).await, statuses, word, &path);
    }
    // API Gateway makes text of what is none.
    if deployed().is_none() {
        let path = of_agent("memories/%FF");
        assert_problem(&stack.put(&path, json!({ "value": "x" })).await, &[404], "", &path);
    }
    for path in ["memories?cursor=nonsense", "goals?limit=0", "memories?cursor=WyJFIiwiTUVUQSIsIk1FVEEiXQ"] {
        assert_problem(&stack.get(&of_agent(path)).await, &[400], "", path);
    }
    assert_problem(&stack.get(&format!("/v1/agents/{person}/memories")).await, &[404], "person", "a person's memories");
    assert_problem(&stack.delete(&format!("/v1/agents/{person}/goals/k")).await, &[404], "person", "a person's goal");
    stack.delete(&format!("/v1/entities/{agent}")).await.must_be(204);
    for reply in [stack.get(&of_agent("goals")).await, stack.delete(&goal_at).await, stack.put(&goal_at, json!({ "priority": 1 })).await] {
        assert_problem(&reply, &[404], "", "a retired agent's goals");
    }
}

#[tokio::test]
async fn an_agent_keeps_at_most_500_memories_and_100_goals() {
    let stack = Stack::start().await;
    let pair = stack.pair().await;
    let fifty = |from: usize| (from..from + 50).map(|number| format!("{number:03}"));
    let goals = |from: usize| -> Value { fifty(from).map(|id| json!({ "id": id, "description": "d" })).collect() };
    let mut calls: Vec<_> = (0..10).map(|call_no| call("set_memories", memories(fifty(call_no * 50)))).collect();
    calls.push(call("set_memories", memories(["000".into(), "one more".into()])));
    calls.push(call("set_memories", memories(["000".into()])));
    calls.extend([0, 50].map(|from| call("set_goals", json!({ "goals": goals(from) }))));
    calls.push(call("set_goals", json!({ "goals": [{ "id": "one more", "description": "d" }] })));
    calls.push(call("set_goals", json!({ "goals": [{ "id": "000", "priority": 1 }] })));
    let results = results_of(&stack, &pair, calls).await;
    let refused: Vec<_> = (0..).zip(&results).filter_map(|(place, result)| Some((place, result["error"].as_str()?))).collect();
    let advice = "delete some first";
    assert!(matches!(&refused[..], [(10, one), (14, other)] if one.contains(advice) && other.contains(advice)), "{refused:?}");
    for (kind, count, body) in [("memories", 500, json!({ "value": "v" })), ("goals", 100, json!({ "description": "d" }))] {
        let list = format!("/v1/agents/{}/{kind}", pair.1);
        assert_eq!(stack.all(&format!("{list}?limit=200")).await.len(), count);
        assert_problem(&stack.put(&format!("{list}/another"), body.clone()).await, &[409], "at most", kind);
        stack.delete(&format!("{list}/007")).await.must_be(204);
        stack.put(&format!("{list}/another"), body).await.must_be(200);
    }
    // What is read is bounded, too.
    let long = |number: usize| json!({ "key": format!("{number:03}"), "value": "x".repeat(4_000) });
    let set = json!({ "memories": (10..20).map(long).collect::<Vec<_>>() });
    let results = results_of(&stack, &pair, vec![call("set_memories", set), call("get_memories", json!({}))]).await;
    let shown = results[1]["memories"].as_array().unwrap().len();
    assert!((12..20).contains(&shown) && results[1].to_string().len() < 32 * 1024, "{shown}");
    assert_eq!(results[1]["more"], 500 - shown);
    // What did not fit can be asked for: its keys are told.
    let keys = results[1]["moreKeys"].as_array().unwrap();
    assert_eq!(keys.len(), 500 - shown);
    assert!(keys[0].as_str() > results[1]["memories"][shown - 1]["key"].as_str());
}

#[tokio::test]
async fn runs_that_set_memories_at_the_same_moment_lose_none_and_pass_no_limit() {
    let stack = Stack::start().await;
    let (person, agent, space) = stack.pair().await;
    let other = stack.space("Other", &[&person, &agent]).await;
    let gate = Gate::closed();
    let scripted = gate.clone();
    stack.model.replies("ada", move |asked| {
        let name = asked.trigger_text();
        let set = |number: usize| call("set_memories", memories((0..30).map(|key| format!("{name} {number} {key}"))));
        super::model::Answer::of([wait(&scripted)].into_iter().chain((0..10).map(set)).collect())
    });
    let asked = [stack.post(&space, &person, "one").await, stack.post(&other, &person, "two").await];
    gate.reached(2).await;
    gate.open();
    stack.quiet(&space).await;
    stack.quiet(&other).await;
    let (mut saved, mut refused) = (0, 0);
    for question in &asked {
        let run = stack.run(&woken(question, &agent).unwrap()).await;
        assert_eq!(run["status"], "completed", "{run}");
        for call in run["steps"][0]["calls"].as_array().unwrap() {
            saved += call["output"]["saved"].as_array().map_or(0, Vec::len);
            refused += usize::from(call["output"]["error"].is_string());
        }
    }
    // Each call whole or not at all: 16 of 20 fit.
    assert_eq!((saved, refused), (480, 4));
    assert_eq!(stack.all(&format!("/v1/agents/{agent}/memories?limit=200")).await.len(), 480);
}

#[tokio::test]
async fn a_canceled_run_sets_no_memory() {
    let stack = Stack::start().await;
    let (person, agent, space) = stack.pair().await;
    let gate = Gate::closed();
    let set = call("set_memories", memories(["before".into()]));
    stack.model.plays("ada", [answer([set]), answer([call("set_memories", memories(["after".into()])), wait(&gate)])]);
    let question = stack.post(&space, &person, "Remember this.").await;
    gate.reached(1).await;
    stack.cancel(&woken(&question, &agent).unwrap()).await.must_be(202);
    gate.open();
    stack.quiet(&space).await;
    let kept = stack.all(&format!("/v1/agents/{agent}/memories")).await;
    assert_eq!(timeless(json!(kept)), json!([{ "key": "before", "value": "of before" }]));
}

#[tokio::test]
async fn what_was_set_outlasts_a_kill_and_is_not_set_twice() {
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
    assert_eq!(goals.iter().map(|goal| goal["description"].as_str().unwrap()).collect::<Vec<_>>(), ["Write the report"]);
    let asked = stack.model.asked("ada");
    assert_eq!(asked.last().unwrap().results(), asked[1].results(), "the result is the one that was kept");
}
