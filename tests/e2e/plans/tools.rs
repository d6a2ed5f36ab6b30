//! Agents set plans for themselves: the answers of the three tools, and that each call takes
//! effect once. [`ends`] covers what stops such plans.

mod ends;

use std::{collections::BTreeMap, time::Duration};

use jiff::SignedDuration;
use serde_json::{Map, Value, json};
use tokio::time::sleep;

use crate::{
    plans::operator::{daily, once, time},
    support::{
        model::{Answer, Gate, Part, call, stop, wait},
        routes::{id, woken},
        stack::{Stack, Team},
        tool_scene::{ToolScene, but, http_tool},
        waiting::SOON,
    },
};

const MISSING_PLAN: &str = "pln_01ARZ3NDEKTSV4RRFFQ69G5FAV";

/// Wakes the team's agent once, whose model makes all these calls in one answer. Returns their
/// results.
async fn results_of(stack: &Stack, team: &Team, calls: Vec<Part>) -> Vec<Value> {
    let before = stack.model.requests("ada").len();
    let count = calls.len();
    stack.model.plays("ada", [Answer::of(calls), stop()]);
    let question = stack.post(&team.space, &team.person, "Do it, please.").await;
    let run = woken(&question, &team.agent).unwrap();
    assert_eq!(stack.ended(&run, SOON).await["status"], "completed");
    let results = stack.model.requests("ada")[before + 1].results();
    assert_eq!(results.len(), count);
    results
}

fn set(plans: &[Value]) -> Part {
    call("set_plans", json!({ "plans": plans }))
}

/// The output of `set_plans` for these plans: their ids and times.
fn set_plans_output(plans: &[Value]) -> Value {
    let fields = ["id", "nextRunAt", "timezone"];
    let one = |plan: &Value| -> Value {
        fields
            .iter()
            .filter_map(|field| Some(((*field).to_owned(), plan.get(*field)?.clone())))
            .collect::<Map<_, _>>()
            .into()
    };
    json!({ "plans": plans.iter().map(one).collect::<Vec<_>>() })
}

/// Returns an agent's two plans in the order of these names. The API can't order the plans of one
/// call: they have the same creation time.
async fn by_name(stack: &Stack, agent: &str, names: [&str; 2]) -> Vec<Value> {
    let plans = stack.plans(agent).await;
    assert_eq!(plans.len(), names.len(), "{plans:?}");
    names
        .iter()
        .map(|name| plans.iter().find(|plan| plan["name"] == *name).cloned().unwrap_or_default())
        .collect()
}

#[tokio::test]
async fn an_agent_sets_reads_changes_and_deletes_its_plans() {
    let stack = Stack::start().await;
    let team = stack.team().await;
    let plans = set_two_plans(&stack, &team).await;
    let report = id(&plans[0]);
    let hello = id(&plans[1]);
    change_plans_by_id(&stack, &team, &report, &hello).await;
    read_and_delete_plans(&stack, &team, &report, &hello).await;
}

async fn set_two_plans(stack: &Stack, team: &Team) -> Vec<Value> {
    let calls =
        vec![call("get_plans", json!({})), set(&[daily("Report"), once("Hello", "2 hours")])];
    let results = results_of(stack, team, calls).await;
    let plans = by_name(stack, &team.agent, ["Report", "Hello"]).await;
    assert_eq!(results, [json!({ "plans": [] }), set_plans_output(&plans)]);
    assert_eq!(
        time(&plans[1]["nextRunAt"]),
        time(&plans[1]["createdAt"]) + SignedDuration::from_hours(2)
    );
    plans
}

/// A plan given by id changes only in the fields that are set. One call may change several plans,
/// and one plan twice.
async fn change_plans_by_id(stack: &Stack, team: &Team, report: &str, hello: &str) {
    let changes = [
        json!({ "id": hello, "runAfter": "1 day" }),
        json!({ "id": report, "name": "Numbers" }),
        json!({ "id": hello, "name": "Good morning" }),
        json!({ "id": report, "timezone": "Asia/Tokyo" }),
    ];
    let changed = results_of(stack, team, vec![set(&changes)]).await;
    let plans = by_name(stack, &team.agent, ["Numbers", "Good morning"]).await;
    let shown: Vec<_> = plans
        .iter()
        .map(|plan| json!([plan["id"], plan["name"], plan["timezone"], plan["runAfter"]]))
        .collect();
    assert_eq!(
        shown,
        [
            json!([report, "Numbers", "Asia/Tokyo", null]),
            json!([hello, "Good morning", null, "1 day"])
        ]
    );
    let listed: BTreeMap<_, _> = changed[0]["plans"]
        .as_array()
        .unwrap()
        .iter()
        .map(|plan| (id(plan), plan["nextRunAt"].clone()))
        .collect();
    assert_eq!(
        listed,
        BTreeMap::from([
            (report.to_owned(), plans[0]["nextRunAt"].clone()),
            (hello.to_owned(), plans[1]["nextRunAt"].clone())
        ])
    );
}

async fn read_and_delete_plans(stack: &Stack, team: &Team, report: &str, hello: &str) {
    let path = format!("/v1/agents/{}/plans/{hello}", team.agent);
    stack.put(&path, json!({ "status": "paused" })).await.must_be(200);
    let listed = stack.plans(&team.agent).await;
    let plans = by_name(stack, &team.agent, ["Numbers", "Good morning"]).await;
    let delete = |ids: &[&str]| call("delete_plans", json!({ "planIds": ids }));
    let calls = vec![
        call("get_plans", json!({})),
        call("get_plans", json!({ "status": "active" })),
        call("get_plans", json!({ "status": "paused" })),
        delete(&[report, MISSING_PLAN, report]),
        delete(&[report]),
    ];
    let expected = [
        json!({ "plans": listed }),
        json!({ "plans": [plans[0]] }),
        json!({ "plans": [plans[1]] }),
        json!({ "deleted": [report] }),
        json!({ "deleted": [] }),
    ];
    assert_eq!(results_of(stack, team, calls).await, expected);
    assert_eq!(stack.plans(&team.agent).await, [plans[1].clone()]);
}

#[tokio::test]
async fn one_wrong_plan_in_a_call_sets_none() {
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

#[tokio::test]
async fn an_agent_has_at_most_100_plans() {
    let stack = Stack::start().await;
    let team = stack.team().await;
    let fifty = |from: usize| {
        set(&(from..from + 50).map(|number| daily(&number.to_string())).collect::<Vec<_>>())
    };
    let calls = vec![fifty(0), fifty(50), set(&[daily("one more")])];
    let results = results_of(&stack, &team, calls).await;
    assert_eq!([0, 1].map(|call| results[call]["plans"].as_array().unwrap().len()), [50, 50]);
    assert!(results[2]["error"].as_str().unwrap().contains("at most 100 plans"), "{}", results[2]);
    let plans = stack.plans(&team.agent).await;
    let change = json!({ "id": plans[99]["id"], "name": "changed" });
    let delete = call("delete_plans", json!({ "planIds": [plans[0]["id"]] }));
    let calls = vec![set(&[change]), delete, set(&[daily("one more")])];
    let results = results_of(&stack, &team, calls).await;
    assert!(results.iter().all(|result| result["error"].is_null()), "{results:?}");
    assert_eq!(stack.plans(&team.agent).await.len(), 100);
}

#[tokio::test]
async fn a_plan_set_before_a_kill_is_not_set_again() {
    let held = |url: &str| {
        json!([but(
            http_tool("order", "POST", &format!("{url}/count/held"), json!({})),
            json!({ "idempotent": true })
        )])
    };
    let Some(mut scene) = ToolScene::on_disk(held).await else { return };
    let run = scene
        .begin(vec![set(&[daily("Report"), once("Hello", "1 day")]), call("order", json!({}))])
        .await;
    scene.server.gate.reached(1).await;
    let plans = by_name(&scene.stack, &scene.agent, ["Report", "Hello"]).await;
    scene.stack.kill9();
    scene.stack.restart().await;
    scene.server.gate.reached(2).await;
    scene.server.gate.open();
    let ended = scene.stack.ended(&run, SOON).await;
    assert_eq!((&ended["status"], &ended["attempt"]), (&json!("completed"), &json!(2)));
    assert_eq!(by_name(&scene.stack, &scene.agent, ["Report", "Hello"]).await, plans);
    assert_eq!(ended["steps"][0]["calls"][0]["output"], set_plans_output(&plans));
}

#[tokio::test]
async fn a_kill_during_a_set_plans_call_leaves_exactly_one_plan() {
    let Some(mut stack) = Stack::local().await else { return };
    let (person, agent, space) = stack.pair().await;
    stack.model.replies("ada", |request| set(&[daily(&request.trigger_text())]));
    for (round, millis) in [0, 1, 2, 4, 8, 16].into_iter().enumerate() {
        let before = stack.model.requests("ada").len();
        let question = stack.post(&space, &person, &format!("plan {round}")).await;
        stack.model.nth_request("ada", before + 1).await;
        // The delays cover the moments before, during and after the plan is stored.
        sleep(Duration::from_millis(millis)).await;
        stack.kill9();
        stack.restart().await;
        assert_eq!(
            stack.ended(&woken(&question, &agent).unwrap(), SOON).await["status"],
            "completed"
        );
    }
    let names: Vec<_> = stack
        .plans(&agent)
        .await
        .iter()
        .map(|plan| plan["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, [0, 1, 2, 3, 4, 5].map(|round| format!("plan {round}")));
}

#[tokio::test]
async fn concurrent_runs_of_an_agent_lose_no_plan() {
    let stack = Stack::start().await;
    let (person, agent, space) = stack.pair().await;
    let gate = Gate::closed();
    let held = gate.clone();
    stack.model.replies("ada", move |request| {
        let name = request.trigger_text();
        let plans = (0..10).map(|number| set(&[daily(&format!("{name} {number}"))]));
        Answer::of([wait(&held)].into_iter().chain(plans).collect())
    });
    for text in ["one", "two", "three"] {
        stack.post(&space, &person, text).await;
    }
    gate.reached(3).await;
    gate.open();
    stack.quiet(&space).await;
    assert_eq!(stack.plans(&agent).await.len(), 30);
}
