//! Plans through the API of the operator: create, change, pause, run by hand, delete. [`clock`]
//! tests when they fire.

mod clock;
mod described;
mod refused;

use std::collections::BTreeSet;

use futures::future::join_all;
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    api::bad_input::assert_problem,
    support::{
        client::{Client, Reply},
        routes::id,
        stack::Stack,
        waiting::{SOON, wait_for},
    },
};

/// A plan that fires each day at nine in Berlin.
pub(crate) fn daily(name: &str) -> Value {
    json!({
        "name": name,
        "instruction": "Post the numbers.",
        "cron": "0 9 * * *",
        "timezone": "Europe/Berlin",
    })
}

/// A plan that fires once, after this time.
pub(crate) fn once(name: &str, run_after: &str) -> Value {
    json!({ "name": name, "instruction": "Say hello.", "runAfter": run_after })
}

/// Parses a time in a response.
pub(crate) fn time(value: &Value) -> Timestamp {
    value
        .as_str()
        .and_then(|text| text.parse().ok())
        .unwrap_or_else(|| panic!("{value} is not a time"))
}

impl Client {
    /// Creates a plan.
    pub(crate) async fn plan(&self, agent: &str, plan: Value) -> Value {
        self.create(&format!("/v1/agents/{agent}/plans"), plan).await.must_be(201)
    }

    /// All plans of an agent.
    pub(crate) async fn plans(&self, agent: &str) -> Vec<Value> {
        self.all(&format!("/v1/agents/{agent}/plans")).await
    }

    /// Runs a plan by hand. Returns the run.
    pub(crate) async fn run_plan(&self, agent: &str, plan: &Value) -> String {
        id(&self
            .call(Method::POST, &format!("/v1/agents/{agent}/plans/{}/run", id(plan)), None)
            .await
            .must_be(202))
    }

    /// Waits until plans have triggered `times` runs of an agent. Returns these runs, newest first.
    pub(crate) async fn fired(&self, agent: &str, times: usize) -> Vec<Value> {
        wait_for(&format!("{times} runs of plans"), SOON, async || {
            let runs = self.all(&format!("/v1/agents/{agent}/runs")).await;
            let fired: Vec<_> =
                runs.into_iter().filter(|run| run["trigger"]["type"] == "plan").collect();
            (fired.len() >= times).then_some(fired)
        })
        .await
    }

    async fn post_plan(&self, agent: &str, rest: &str, key: &str, body: Option<&Value>) -> Reply {
        let request = self.request(Method::POST, &format!("/v1/agents/{agent}/plans{rest}"));
        let request = request.bearer_auth(&self.key).header("idempotency-key", key);
        self.send(match body {
            Some(body) => request.json(body),
            None => request,
        })
        .await
    }
}

/// A plan without the time of its last change.
fn without_updated_at(mut plan: Value) -> Value {
    plan.as_object_mut().unwrap().remove("updatedAt");
    plan
}

/// `plan` with other fields and without the time of its last change.
fn changed(plan: &Value, fields: Value) -> Value {
    let mut plan = without_updated_at(plan.clone());
    plan.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    plan
}

#[tokio::test]
async fn a_plan_is_created_changed_paused_and_deleted() {
    let stack = Stack::start().await;
    let (_, agent, _) = stack.pair().await;
    let path = format!("/v1/agents/{agent}/plans");
    let reply = stack.create(&path, daily("Report")).await;
    let location = reply.header("location").to_owned();
    let made = reply.must_be(201);
    assert_eq!(location, format!("{path}/{}", id(&made)));
    let next = time(&made["nextRunAt"]);
    let expected = json!({
        "id": made["id"],
        "name": "Report",
        "instruction": "Post the numbers.",
        "type": "cron",
        "cron": "0 9 * * *",
        "timezone": "Europe/Berlin",
        "status": "active",
        "nextRunAt": made["nextRunAt"],
        "lastRunAt": null,
        "createdAt": made["createdAt"],
        "updatedAt": made["createdAt"],
    });
    assert_eq!(made, expected);
    let wait = next.duration_since(time(&made["createdAt"]));
    assert!(SignedDuration::ZERO < wait && wait <= SignedDuration::from_hours(25), "{made}");

    change_name_and_status(&stack, &location, &made).await;
    let paused = change_times(&stack, &location, &made).await;
    assert_eq!(stack.plans(&agent).await, [paused]);
    for _ in 0..2 {
        stack.delete(&location).await.must_be(204);
    }
    assert_eq!(stack.plans(&agent).await, [Value::Null; 0]);
    assert_problem(
        &stack.put(&location, json!({ "name": "x" })).await,
        &[404],
        "no such plan",
        "a deleted plan",
    );
}

async fn change_name_and_status(stack: &Stack, location: &str, made: &Value) {
    let change = async |body: Value| stack.put(location, body).await.must_be(200);
    let renamed = change(json!({ "name": "Daily report" })).await;
    let expected = changed(made, json!({ "name": "Daily report" }));
    assert_eq!(without_updated_at(renamed.clone()), expected, "omitted fields stay");
    assert!(time(&renamed["updatedAt"]) >= time(&made["updatedAt"]));
    let paused = change(json!({ "status": "paused" })).await;
    assert_eq!(
        without_updated_at(paused),
        changed(&expected, json!({ "status": "paused", "nextRunAt": null }))
    );
    let active = change(json!({ "status": "active" })).await;
    assert_eq!(without_updated_at(active), expected);
}

/// Changes the times of the plan. Returns the plan at the end, which is paused and fires once.
async fn change_times(stack: &Stack, location: &str, made: &Value) -> Value {
    let change = async |body: Value| stack.put(location, body).await.must_be(200);
    let tokyo = change(json!({ "timezone": "Asia/Tokyo" })).await;
    let fields = json!({
        "name": "Daily report",
        "timezone": "Asia/Tokyo",
        "nextRunAt": tokyo["nextRunAt"],
    });
    assert_eq!(without_updated_at(tokyo.clone()), changed(made, fields));
    assert_eq!(time(&tokyo["nextRunAt"]).to_string()[10..], *"T00:00:00Z", "nine in Tokyo");
    let evening = change(json!({ "cron": "0 21 * * *" })).await;
    assert_eq!(
        (time(&evening["nextRunAt"]).to_string()[10..].to_owned(), &evening["timezone"]),
        ("T12:00:00Z".into(), &json!("Asia/Tokyo")),
        "the time zone stays"
    );
    let moved = change(json!({ "cron": "*/5 * * * *", "timezone": "UTC" })).await;
    assert_eq!(
        (&moved["cron"], &moved["timezone"], &moved["createdAt"]),
        (&json!("*/5 * * * *"), &json!("UTC"), &made["createdAt"])
    );
    assert!(
        time(&moved["nextRunAt"]) <= time(&moved["updatedAt"]) + SignedDuration::from_mins(5),
        "{moved}"
    );
    let later = change(json!({ "runAfter": "2 hours" })).await;
    assert_eq!(
        (&later["type"], &later["runAfter"], later.get("cron")),
        (&json!("once"), &json!("2 hours"), None)
    );
    assert_eq!(
        time(&later["nextRunAt"]),
        time(&later["updatedAt"]) + SignedDuration::from_hours(2)
    );
    let paused = change(json!({ "status": "paused" })).await;
    assert_eq!(
        paused["nextRunAt"], later["nextRunAt"],
        "a paused plan that fires once keeps its time"
    );
    paused
}

#[tokio::test]
async fn a_scheduled_time_has_an_offset_or_a_timezone() {
    let stack = Stack::start().await;
    let (_, agent, _) = stack.pair().await;
    let tomorrow =
        (Timestamp::now() + SignedDuration::from_hours(24)).strftime("%Y-%m-%d").to_string();
    for (written, zone, expected) in [
        ("T15:07:00Z", None, "T15:07:00Z"),
        ("T15:07+01:00", None, "T14:07:00Z"),
        ("T15:07", Some("Asia/Tokyo"), "T06:07:00Z"),
        ("T15:07:30", Some("utc"), "T15:07:30Z"),
    ] {
        let at = format!("{tomorrow}{written}");
        let mut plan = json!({ "name": "n", "instruction": "i", "scheduledAt": at });
        if let Some(zone) = zone {
            plan["timezone"] = zone.into();
        }
        let made = stack.plan(&agent, plan).await;
        assert_eq!(
            (time(&made["nextRunAt"]).to_string(), &made["type"]),
            (format!("{tomorrow}{expected}"), &json!("once")),
            "{written}"
        );
        assert_eq!(made["runAfter"], Value::Null);
    }
}

#[tokio::test]
async fn plans_are_listed_by_age_in_pages() {
    let stack = Stack::start().await;
    let (_, agent, _) = stack.pair().await;
    let mut made = Vec::new();
    for number in 0..5 {
        made.push(stack.plan(&agent, daily(&format!("{number}"))).await);
    }
    for limit in [1, 2, 5, 200] {
        assert_eq!(
            stack.all(&format!("/v1/agents/{agent}/plans?limit={limit}")).await,
            made,
            "{limit} a page"
        );
    }
    for query in ["cursor=nonsense", "limit=0", "limit=201"] {
        assert_problem(
            &stack.get(&format!("/v1/agents/{agent}/plans?{query}")).await,
            &[400],
            "",
            query,
        );
    }
}

#[tokio::test]
async fn an_idempotency_key_makes_one_plan_and_one_run() {
    let stack = Stack::start().await;
    let (_, agent, _) = stack.pair().await;
    let report = daily("Report");
    let other = daily("Another");
    let made = stack.post_plan(&agent, "", "one", Some(&report)).await.must_be(201);
    let again = stack.post_plan(&agent, "", "one", Some(&report)).await;
    assert_eq!(again.header("location"), format!("/v1/agents/{agent}/plans/{}", id(&made)));
    assert_eq!(again.must_be(201), made);
    assert_problem(
        &stack.post_plan(&agent, "", "one", Some(&other)).await,
        &[422],
        "another body",
        "another body",
    );
    let replies = join_all((0..10).map(|_| stack.post_plan(&agent, "", "ten", Some(&other)))).await;
    let ids: BTreeSet<String> = replies.into_iter().map(|reply| id(&reply.must_be(201))).collect();
    assert_eq!((ids.len(), stack.plans(&agent).await.len()), (1, 2));

    let now = format!("/{}/run", id(&made));
    let replies = join_all((0..10).map(|_| stack.post_plan(&agent, &now, "now", None))).await;
    let mut runs: BTreeSet<String> =
        replies.into_iter().map(|reply| id(&reply.must_be(202))).collect();
    runs.insert(id(&stack.post_plan(&agent, &now, "now", None).await.must_be(202)));
    assert_eq!(runs.len(), 1, "{runs:?}");
    // The keys also work for several runs in the same millisecond.
    let keys: Vec<String> = (0..20).map(|number| format!("key {number}")).collect();
    let once_each = async || -> Vec<String> {
        let replies =
            join_all(keys.iter().map(|key| stack.post_plan(&agent, &now, key, None))).await;
        replies.into_iter().map(|reply| id(&reply.must_be(202))).collect()
    };
    let first = once_each().await;
    let again = once_each().await;
    assert_eq!((first.iter().collect::<BTreeSet<_>>().len(), &again), (20, &first));
    let more = id(&stack.post_plan(&agent, &now, "later", None).await.must_be(202));
    assert!(!runs.contains(&more));
    assert_eq!(stack.fired(&agent, 22).await.len(), 22);

    stack.delete(&format!("/v1/agents/{agent}/plans/{}", id(&made))).await.must_be(204);
    assert_problem(
        &stack.post_plan(&agent, "", "one", Some(&report)).await,
        &[409],
        "idempotency-key",
        "a key whose plan was deleted",
    );
    assert_eq!(
        id(&stack.post_plan(&agent, &now, "later", None).await.must_be(202)),
        more,
        "the run still exists"
    );
}

#[tokio::test]
async fn an_idempotency_key_returns_its_plan_after_the_plan_has_fired() {
    let stack = Stack::start().await;
    let (_, agent, _) = stack.pair().await;
    // Late enough that both plans exist before they fire, even on a slow machine.
    let at = (Timestamp::now() + SignedDuration::from_secs(8)).to_string();
    let soon = once("Soon", "8 seconds");
    let then = json!({ "name": "Then", "instruction": "Say hello.", "scheduledAt": at });
    let mut made = Vec::new();
    for (key, body) in [("soon", &soon), ("then", &then)] {
        made.push(stack.post_plan(&agent, "", key, Some(body)).await.must_be(201));
    }
    stack.fired(&agent, 2).await;
    assert!(stack.plans(&agent).await.is_empty());
    for (key, body, made) in [("soon", &soon, &made[0]), ("then", &then, &made[1])] {
        let again = stack.post_plan(&agent, "", key, Some(body)).await;
        assert_eq!(again.header("location"), format!("/v1/agents/{agent}/plans/{}", id(made)));
        let again = again.must_be(201);
        let mut expected = made.clone();
        for (field, value) in [
            ("nextRunAt", &Value::Null),
            ("createdAt", &again["createdAt"]),
            ("updatedAt", &again["createdAt"]),
        ] {
            expected[field] = value.clone();
        }
        assert_eq!(again, expected);
        let early = time(&made["createdAt"]).duration_since(time(&again["createdAt"]));
        assert!(
            (SignedDuration::ZERO..SignedDuration::from_secs(20)).contains(&early),
            "{again} {made}"
        );
    }
    assert_eq!(stack.fired(&agent, 2).await.len(), 2, "a repeated key triggers no run");
}

#[tokio::test]
async fn a_run_by_hand_does_not_change_the_next_time_of_the_plan() {
    let stack = Stack::start().await;
    let (_, agent, _) = stack.pair().await;
    let plan = stack.plan(&agent, daily("Report")).await;
    let path = format!("/v1/agents/{agent}/plans/{}/run", id(&plan));
    let run = stack.call(Method::POST, &path, None).await.must_be(202);
    let trigger = json!({
        "type": "plan",
        "planId": plan["id"],
        "name": "Report",
        "instruction": "Post the numbers.",
        "scheduledAt": run["createdAt"],
        "missed": 0,
    });
    assert_eq!(
        (&run["trigger"], &run["agentId"], &run["chainDepth"]),
        (&trigger, &json!(agent), &json!(0))
    );
    assert_eq!((&run["activeSpaceId"], run.get("steps")), (&Value::Null, None));
    let ended = stack.ended(&id(&run), SOON).await;
    assert_eq!((&ended["status"], &ended["trigger"]), (&json!("completed"), &trigger));
    let after = stack.plans(&agent).await.remove(0);
    assert_eq!((&after["nextRunAt"], &after["lastRunAt"]), (&plan["nextRunAt"], &run["createdAt"]));

    // A paused plan can be run by hand, but not a plan of a paused agent.
    stack
        .put(&format!("/v1/agents/{agent}/plans/{}", id(&plan)), json!({ "status": "paused" }))
        .await
        .must_be(200);
    stack.run_plan(&agent, &plan).await;
    stack
        .patch(&format!("/v1/entities/{agent}"), json!({ "agent": { "paused": true } }))
        .await
        .must_be(200);
    assert_problem(
        &stack.call(Method::POST, &path, None).await,
        &[409],
        "paused",
        "a paused agent",
    );
    assert_eq!(stack.fired(&agent, 2).await.len(), 2);
}
