//! Plans through the API of the operator: create, change, pause, run by hand, delete. [`clock`]
//! tests when they fire.

mod by_hand;
mod changes;
mod clock;
mod described;
mod idempotency;
mod refused;

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::sleep;

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
        let made = self.create(&format!("/v1/agents/{agent}/plans"), plan).await.must_be(201);
        // The id of the next plan is of a later millisecond, because lists are in the order of ids.
        sleep(Duration::from_millis(1)).await;
        made
    }

    /// All plans of an agent, without the next times that only a list has.
    pub(crate) async fn plans(&self, agent: &str) -> Vec<Value> {
        let mut plans = self.all(&format!("/v1/agents/{agent}/plans")).await;
        for plan in &mut plans {
            let next = plan.as_object_mut().unwrap().remove("nextRuns").unwrap();
            let is_active = plan["status"] == "active";
            let first = next.get(0).unwrap_or(&Value::Null);
            assert_eq!(*first, if is_active { plan["nextRunAt"].clone() } else { Value::Null });
            let times = next.as_array().unwrap().len();
            let repeats = plan["type"] == "cron";
            assert_eq!(
                times,
                if !is_active {
                    0
                } else if repeats {
                    5
                } else {
                    1
                },
                "{plan}"
            );
        }
        plans
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
    let ids = |plans: &[Value]| plans.iter().map(id).collect::<Vec<_>>();
    for limit in [1, 2, 5, 200] {
        let listed = stack.all(&format!("/v1/agents/{agent}/plans?limit={limit}")).await;
        assert_eq!(ids(&listed), ids(&made), "{limit} a page");
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
