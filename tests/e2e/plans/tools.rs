//! Agents set plans for themselves: the answers of the three tools. [`once`] tests that each call
//! takes effect once, [`bad_input`] the errors, and [`ends`] what stops such plans.

mod bad_input;
mod ends;
mod once;

use std::collections::BTreeMap;

use jiff::SignedDuration;
use serde_json::{Map, Value, json};

use crate::{
    plans::operator::{daily, once, time},
    support::{
        model::{Answer, Part, call, stop},
        routes::{id, triggered_run},
        stack::{Stack, Team},
        waiting::SOON,
    },
};

const MISSING_PLAN: &str = "pln_01ARZ3NDEKTSV4RRFFQ69G5FAV";

/// Triggers the team's agent once, whose model makes all these calls in one answer. Returns their
/// results.
async fn results_of(stack: &Stack, team: &Team, calls: Vec<Part>) -> Vec<Value> {
    let before = stack.model.requests("ada").len();
    let count = calls.len();
    stack.model.plays("ada", [Answer::of(calls), stop()]);
    let question = stack.post(&team.space, &team.person, "Do it, please.").await;
    let run = triggered_run(&question, &team.agent).unwrap();
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
    assert_eq!(results, [json!("PLANS: none"), set_plans_output(&plans)]);
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
    let plans = by_name(stack, &team.agent, ["Numbers", "Good morning"]).await;
    let delete = |ids: &[&str]| call("delete_plans", json!({ "planIds": ids }));
    let calls = vec![
        call("get_plans", json!({})),
        call("get_plans", json!({ "status": "active" })),
        call("get_plans", json!({ "status": "paused" })),
        delete(&[report, MISSING_PLAN, report]),
        delete(&[report]),
    ];
    let results = results_of(stack, team, calls).await;
    let lists = results[..3].iter().map(|list| list.as_str().unwrap().lines().collect::<Vec<_>>());
    let lists: Vec<Vec<&str>> = lists.collect();
    let [all, active, paused] = [0, 1, 2].map(|list: usize| &lists[list][1..]);
    assert_eq!((all.len(), active.len(), paused.len()), (2, 1, 1), "{lists:#?}");
    assert!(active[0].starts_with(&format!("- \"Numbers\" ({report}, cron: ")), "{active:?}");
    let instruction = json!(plans[0]["instruction"]).to_string();
    assert!(active[0].ends_with(&format!(" — {instruction}")), "{active:?}");
    let of_paused = format!("- \"Good morning\" ({hello}, paused) [set via runAfter: \"1 day\"]");
    assert!(paused[0].starts_with(&of_paused), "{paused:?}");
    assert_eq!(results[3..], [json!({ "deleted": [report] }), json!({ "deleted": [] })]);
    assert_eq!(stack.plans(&team.agent).await, [plans[1].clone()]);
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
