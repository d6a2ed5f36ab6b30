//! Plans that agents set for themselves: what the tools answer, and that each call takes effect once. [`ends`] says how far that goes.

mod ends;

use std::{collections::BTreeMap, time::Duration};

use jiff::SignedDuration;
use serde_json::{Map, Value, json};
use tokio::time::sleep;

use super::{
    acting::{Acting, but, http_tool},
    model::{Answer, Gate, Part, call, stop, wait},
    plans::{daily, once, time},
    routes::{id, woken},
    stack::Stack,
    waiting::SOON,
};

/// Wakes the agent once, whose model makes these calls in one answer. What came of each.
async fn results_of(stack: &Stack, (person, agent, space): &(String, String, String), calls: Vec<Part>) -> Vec<Value> {
    let (before, count) = (stack.model.asked("ada").len(), calls.len());
    stack.model.plays("ada", [Answer::of(calls), stop()]);
    let question = stack.post(space, person, "Do it, please.").await;
    assert_eq!(stack.ended(&woken(&question, agent).unwrap(), SOON).await["status"], "completed");
    let results = stack.model.asked("ada")[before + 1].results();
    assert_eq!(results.len(), count);
    results
}

fn set(plans: &[Value]) -> Part {
    call("set_plans", json!({ "plans": plans }))
}

/// Ids and times of plans, as `set_plans` answers.
fn told(plans: &[Value]) -> Value {
    let fields = ["id", "nextRunAt", "timezone"];
    let one = |plan: &Value| -> Value {
        fields.iter().filter_map(|field| Some(((*field).to_owned(), plan.get(*field)?.clone()))).collect::<Map<_, _>>().into()
    };
    json!({ "plans": plans.iter().map(one).collect::<Vec<_>>() })
}

/// An agent's two plans, in the order of these names: those of one call are of one age.
async fn by_name(stack: &Stack, agent: &str, names: [&str; 2]) -> Vec<Value> {
    let plans = stack.plans(agent).await;
    assert_eq!(plans.len(), names.len(), "{plans:?}");
    names.iter().map(|name| plans.iter().find(|plan| plan["name"] == *name).cloned().unwrap_or_default()).collect()
}

#[tokio::test]
async fn an_agent_sets_reads_changes_and_drops_its_plans() {
    let stack = Stack::start().await;
    let pair = stack.pair().await;
    let results = results_of(&stack, &pair, vec![call("get_plans", json!({})), set(&[daily("Report"), once("Hello", "2 hours")])]).await;
    let plans = by_name(&stack, &pair.1, ["Report", "Hello"]).await;
    assert_eq!(results, [json!({ "plans": [] }), told(&plans)]);
    assert_eq!(time(&plans[1]["nextRunAt"]), time(&plans[1]["createdAt"]) + SignedDuration::from_hours(2));

    // By its id only what is given changes; several in one call, one of them twice.
    let (report, hello) = (id(&plans[0]), id(&plans[1]));
    let changes = [
        json!({ "id": hello, "runAfter": "1 day" }),
        json!({ "id": report, "name": "Numbers" }),
        json!({ "id": hello, "name": "Good morning" }),
        json!({ "id": report, "timezone": "Asia/Tokyo" }),
    ];
    let changed = results_of(&stack, &pair, vec![set(&changes)]).await;
    let plans = by_name(&stack, &pair.1, ["Numbers", "Good morning"]).await;
    let shown: Vec<_> = plans.iter().map(|plan| json!([plan["id"], plan["name"], plan["timezone"], plan["runAfter"]])).collect();
    assert_eq!(shown, [json!([report, "Numbers", "Asia/Tokyo", null]), json!([hello, "Good morning", null, "1 day"])]);
    let listed: BTreeMap<_, _> = changed[0]["plans"].as_array().unwrap().iter().map(|plan| (id(plan), plan["nextRunAt"].clone())).collect();
    assert_eq!(listed, BTreeMap::from([(report.clone(), plans[0]["nextRunAt"].clone()), (hello.clone(), plans[1]["nextRunAt"].clone())]));

    stack.put(&format!("/v1/agents/{}/plans/{hello}", pair.1), json!({ "status": "paused" })).await.must_be(200);
    let listed = stack.plans(&pair.1).await;
    let plans = by_name(&stack, &pair.1, ["Numbers", "Good morning"]).await;
    let drop = |ids: &[&str]| call("delete_plans", json!({ "planIds": ids }));
    let calls = vec![
        call("get_plans", json!({})),
        call("get_plans", json!({ "status": "active" })),
        call("get_plans", json!({ "status": "paused" })),
        drop(&[&report, "pln_01ARZ3NDEKTSV4RRFFQ69G5FAV", &report]),
        drop(&[&report]),
    ];
    let expected = [
        json!({ "plans": listed }),
        json!({ "plans": [plans[0]] }),
        json!({ "plans": [plans[1]] }),
        json!({ "deleted": [report] }),
        json!({ "deleted": [] }),
    ];
    assert_eq!(results_of(&stack, &pair, calls).await, expected);
    assert_eq!(stack.plans(&pair.1).await, [plans[1].clone()]);
}

#[tokio::test]
async fn one_that_is_wrong_sets_none() {
    let stack = Stack::start().await;
    let pair = stack.pair().await;
    let other = stack.agent("Bea", &stack.model.name("bea")).await;
    let others = id(&stack.plan(&other, daily("Hers")).await);
    let beside = |plan: Value| set(&[daily("fine"), plan]);
    let with = |fields: Value| {
        let mut plan = json!({ "name": "n", "instruction": "i" });
        plan.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        beside(plan)
    };
    let many: Vec<_> = (0..51).map(|number| daily(&number.to_string())).collect();
    let bad = [
        (call("set_plans", json!({})), "plans"),
        (set(&[]), "plans"),
        (set(&many), "50"),
        (with(json!({})), "/plans/1: expected exactly one of runafter, scheduledat and cron, got none"),
        (
            with(json!({ "runAfter": "1 day", "cron": "0 9 * * *" })),
            "/plans/1: expected exactly one of runafter, scheduledat and cron, got runafter and cron",
        ),
        (with(json!({ "runAfter": "soon" })), "/plans/1/runafter: expected a duration like"),
        (with(json!({ "scheduledAt": "2020-01-01T00:00:00Z" })), "/plans/1/scheduledat: expected a time after now"),
        (with(json!({ "cron": "0 0 9 * * *" })), "five fields"),
        (with(json!({ "cron": "0 9 * * *", "timezone": "Nowhere" })), "/plans/1/timezone: expected an iana time zone"),
        (with(json!({ "runAfter": "1 day", "status": "paused" })), "status"),
        (with(json!({ "runAfter": "1 day", "colour": "red" })), "colour"),
        (beside(json!({ "instruction": "i", "runAfter": "1 day" })), "/plans/1/name"),
        (beside(json!({ "name": "n", "runAfter": "1 day" })), "/plans/1/instruction"),
        (beside(json!({ "name": "n".repeat(129), "instruction": "i", "runAfter": "1 day" })), "128"),
        (beside(json!({ "name": "n", "instruction": "i".repeat(4_001), "runAfter": "1 day" })), "4000"),
        (beside(json!({ "id": "nonsense", "name": "x" })), "/plans/1/id"),
        (beside(json!({ "id": "pln_01ARZ3NDEKTSV4RRFFQ69G5FAV", "name": "x" })), "/plans/1: there is no plan pln_"),
        (beside(json!({ "id": others, "name": "x" })), "/plans/1: there is no plan pln_"),
        (call("get_plans", json!({ "status": "over" })), "status"),
        (call("delete_plans", json!({ "planIds": [] })), "planids"),
        (call("delete_plans", json!({ "planIds": ["nonsense"] })), "/planids/0"),
        (call("delete_plans", json!({})), "planids"),
    ];
    let count = bad.len();
    let (mut calls, words): (Vec<_>, Vec<_>) = bad.into_iter().unzip();
    calls.push(call("delete_plans", json!({ "planIds": [others] })));
    let results = results_of(&stack, &pair, calls).await;
    for (result, word) in results.iter().zip(words) {
        let error = result["error"].as_str().unwrap_or_else(|| panic!("no error in {result}, expected {word}")).to_lowercase();
        assert!(error.contains(word), "it does not say {word:?}: {error}");
    }
    assert_eq!(results[count], json!({ "deleted": [] }), "another's plan is not there");
    assert_eq!((stack.plans(&pair.1).await.len(), stack.plans(&other).await.len()), (0, 1));
}

#[tokio::test]
async fn an_agent_sets_itself_at_most_100_plans() {
    let stack = Stack::start().await;
    let pair = stack.pair().await;
    let fifty = |from: usize| set(&(from..from + 50).map(|number| daily(&number.to_string())).collect::<Vec<_>>());
    let results = results_of(&stack, &pair, vec![fifty(0), fifty(50), set(&[daily("one more")])]).await;
    assert_eq!([0, 1].map(|call| results[call]["plans"].as_array().unwrap().len()), [50, 50]);
    assert!(results[2]["error"].as_str().unwrap().contains("at most 100 plans"), "{}", results[2]);
    let plans = stack.plans(&pair.1).await;
    let change = json!({ "id": plans[99]["id"], "name": "changed" });
    let drop = call("delete_plans", json!({ "planIds": [plans[0]["id"]] }));
    let results = results_of(&stack, &pair, vec![set(&[change]), drop, set(&[daily("one more")])]).await;
    assert!(results.iter().all(|result| result["error"].is_null()), "{results:?}");
    assert_eq!(stack.plans(&pair.1).await.len(), 100);
}

#[tokio::test]
async fn a_plan_that_was_set_before_a_kill_is_not_set_again() {
    let held = |url: &str| json!([but(http_tool("order", "POST", &format!("{url}/count/held"), json!({})), json!({ "idempotent": true }))]);
    let Some(mut acting) = Acting::on_disk(held).await else { return };
    let run = acting.begin(vec![set(&[daily("Report"), once("Hello", "1 day")]), call("order", json!({}))]).await;
    acting.server.gate.reached(1).await;
    let plans = by_name(&acting.stack, &acting.agent, ["Report", "Hello"]).await;
    acting.stack.kill9();
    acting.stack.restart().await;
    acting.server.gate.reached(2).await;
    acting.server.gate.open();
    let ended = acting.stack.ended(&run, SOON).await;
    assert_eq!((&ended["status"], &ended["attempt"]), (&json!("completed"), &json!(2)));
    assert_eq!(by_name(&acting.stack, &acting.agent, ["Report", "Hello"]).await, plans);
    assert_eq!(ended["steps"][0]["calls"][0]["output"], told(&plans));
}

#[tokio::test]
async fn wherever_a_call_dies_it_sets_one_plan() {
    let Some(mut stack) = Stack::local().await else { return };
    let (person, agent, space) = stack.pair().await;
    stack.model.replies("ada", |asked| set(&[daily(&asked.trigger_text())]));
    for (round, millis) in [0, 1, 2, 4, 8, 16].into_iter().enumerate() {
        let asked = stack.model.asked("ada").len();
        let question = stack.post(&space, &person, &format!("plan {round}")).await;
        stack.model.asked_times("ada", asked + 1).await;
        // Another moment each time: before, while and after it is kept.
        sleep(Duration::from_millis(millis)).await;
        stack.kill9();
        stack.restart().await;
        assert_eq!(stack.ended(&woken(&question, &agent).unwrap(), SOON).await["status"], "completed");
    }
    let names: Vec<_> = stack.plans(&agent).await.iter().map(|plan| plan["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names, [0, 1, 2, 3, 4, 5].map(|round| format!("plan {round}")));
}

#[tokio::test]
async fn runs_that_set_plans_at_the_same_moment_lose_none() {
    let stack = Stack::start().await;
    let (person, agent, space) = stack.pair().await;
    let gate = Gate::closed();
    let held = gate.clone();
    stack.model.replies("ada", move |asked| {
        let name = asked.trigger_text();
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
