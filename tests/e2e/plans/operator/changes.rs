//! Creating, changing, pausing and deleting a plan.

use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::{
    api::bad_input::assert_problem,
    plans::operator::{daily, time},
    support::{routes::id, stack::Stack},
};

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
