//! Refused requests about plans: their status, the words of the problem, and that they change
//! nothing.

use reqwest::Method;
use serde_json::{Value, json};

use crate::plans::operator::daily;
use crate::{
    api::bad_input::assert_problem,
    support::{routes::id, stack::Stack},
};

const NO_PLAN: &str = "pln_01ARZ3NDEKTSV4RRFFQ69G5FAV";

/// An invalid plan, the pointer of its error, and a part of the error in lower case.
type Case = (Value, &'static str, &'static str);

/// A plan with these fields.
fn plan(fields: Value) -> Value {
    let mut plan = json!({ "name": "n", "instruction": "i" });
    plan.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    plan
}

/// Plans without exactly one kind of time.
fn wrong_kinds_of_time() -> Vec<Case> {
    let exactly_one = "expected exactly one of runafter, scheduledat and cron";
    let all = json!({
        "runAfter": "1 day",
        "scheduledAt": "2099-01-01T00:00:00Z",
        "cron": "0 9 * * *",
    });
    let two = json!({ "runAfter": "1 day", "cron": "0 9 * * *" });
    vec![
        (json!({}), "", exactly_one),
        (plan(json!({})), "", "got none"),
        (plan(two), "", "got runafter and cron"),
        (plan(all), "", exactly_one),
        (plan(json!({ "timezone": "UTC" })), "", "got none"),
    ]
}

fn wrong_times() -> Vec<Case> {
    let at = |time: &str| plan(json!({ "scheduledAt": time }));
    let after = |time: Value| plan(json!({ "runAfter": time }));
    let cron = |cron: &str| plan(json!({ "cron": cron }));
    let zoned =
        |field: &str, time: &str, zone: &str| plan(json!({ field: time, "timezone": zone }));
    let no_zone = "expected no timezone";
    vec![
        (at("2020-01-01T00:00:00Z"), "/scheduledAt", "expected a time after now"),
        (at("2999-01-01T00:00:00Z"), "/scheduledAt", "within 10 years"),
        (at("tomorrow"), "/scheduledAt", "expected a time like"),
        (at("2030-02-30T00:00:00Z"), "/scheduledAt", "expected a time like"),
        (at("2030-01-01T00:00"), "/scheduledAt", "or a timezone"),
        (zoned("scheduledAt", "2030-01-01T00:00Z", "UTC"), "/timezone", no_zone),
        (zoned("runAfter", "1 day", "UTC"), "/timezone", "expected no timezone with runafter"),
        (after(json!("soon")), "/runAfter", "expected a duration like"),
        (after(json!("-1 day")), "/runAfter", "expected a duration like"),
        (after(json!("0 seconds")), "/runAfter", "expected a duration like"),
        (after(json!("600 weeks")), "/runAfter", "at most 10 years"),
        (after(json!(5)), "/runAfter", "string"),
        (zoned("cron", "0 9 * * *", "Europe/Nowhere"), "/timezone", "expected an iana time zone"),
        (cron("0 0 9 * * *"), "/cron", "five fields"),
        (cron("0 9 * *"), "/cron", "five fields"),
        (cron("61 9 * * *"), "/cron", "expected"),
        (cron("0 9 30 2 *"), "/cron", "expected a day that exists in its months"),
    ]
}

/// The beginning of the error about a field that only a new plan requires.
const REQUIRED: &str = "required for a new plan";

fn wrong_fields() -> Vec<Case> {
    let named = |name: &str| json!({ "name": name, "instruction": "i", "runAfter": "1 day" });
    let instructed = |text: &str| json!({ "name": "n", "instruction": text, "runAfter": "1 day" });
    let with = |field: &str, value: &str| plan(json!({ "runAfter": "1 day", field: value }));
    let no_name = json!({ "instruction": "i", "runAfter": "1 day" });
    let no_instruction = json!({ "name": "n", "runAfter": "1 day" });
    vec![
        (no_name, "/name", "required for a new plan: its name"),
        (no_instruction, "/instruction", "required for a new plan: its instruction"),
        (named(""), "/name", "expected 1 to 128 characters"),
        (named(" \t "), "/name", "not only blanks"),
        (named(&"n".repeat(129)), "/name", "expected 1 to 128 characters"),
        (named("nul \0"), "/name", "without control characters"),
        (instructed(""), "/instruction", "expected"),
        (instructed(&"i".repeat(4_001)), "/instruction", "4000"),
        (instructed("nul \0"), "/instruction", "nul"),
        (with("colour", "red"), "/colour", "unknown field"),
        (with("status", "over"), "/status", "expected"),
        (json!(["a plan"]), "", "expected"),
    ]
}

#[tokio::test]
async fn an_invalid_plan_is_refused_with_a_pointer_to_the_error() {
    let stack = Stack::start().await;
    let (_, agent, _) = stack.pair().await;
    let path = format!("/v1/agents/{agent}/plans");
    let known = stack.plan(&agent, daily("Report")).await;
    let location = format!("{path}/{}", id(&known));
    let mut wrong = Vec::new();
    let cases = [wrong_kinds_of_time(), wrong_times(), wrong_fields()];
    for (body, pointer, word) in cases.into_iter().flatten() {
        let shown = format!("{body:.200}");
        let reply = stack.create(&path, body.clone()).await;
        assert_problem(&reply, &[422], "", &shown);
        let fault = &reply.body["errors"][0];
        if fault["pointer"] != pointer || !fault["detail"].to_string().to_lowercase().contains(word)
        {
            wrong.push(format!("{shown}: expected {pointer} {word}, got {fault}"));
        }
        // A change may omit all fields.
        if !word.contains(REQUIRED) && !word.contains("got none") && body != json!({}) {
            assert_eq!(
                stack.put(&location, body).await.must_be(422)["errors"][0]["pointer"],
                fault["pointer"],
                "{shown}"
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(stack.plans(&agent).await, [known], "refused requests change nothing");
    let longest = json!({
        "name": "🌍".repeat(128),
        "instruction": "🌍".repeat(4_000),
        "runAfter": "1 day",
    });
    stack.plan(&agent, longest).await;
}

#[tokio::test]
async fn plans_are_only_accessible_to_the_operator_and_belong_to_one_agent() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let (person, agent, _) = stack.pair().await;
    let other = stack.agent("Bea", &stack.model.name("bea")).await;
    let plan = id(&stack.plan(&agent, daily("Report")).await);
    for (agent, plan, word) in [
        (agent.as_str(), NO_PLAN, "no such plan"),
        (other.as_str(), plan.as_str(), "no such plan"),
        (person.as_str(), plan.as_str(), "person"),
        ("ent_01ARZ3NDEKTSV4RRFFQ69G5FAV", plan.as_str(), ""),
        (agent.as_str(), "nonsense", ""),
    ] {
        let location = format!("/v1/agents/{agent}/plans/{plan}");
        let change = stack.put(&location, json!({ "name": "x" })).await;
        assert_problem(&change, &[404], word, &location);
        assert_problem(
            &stack.call(Method::POST, &format!("{location}/run"), None).await,
            &[404],
            word,
            &location,
        );
    }
    for (agent, word) in [(person.as_str(), "person"), ("ent_01ARZ3NDEKTSV4RRFFQ69G5FAV", "")] {
        let path = format!("/v1/agents/{agent}/plans");
        assert_problem(&stack.get(&path).await, &[404], word, agent);
        assert_problem(&stack.create(&path, daily("x")).await, &[404], word, agent);
    }
    for caller in [&person, &agent] {
        let caller = stack.as_entity(caller);
        let all = format!("/v1/agents/{agent}/plans");
        let one = format!("/v1/agents/{agent}/plans/{plan}");
        let replies = [
            caller.get(&all).await,
            caller.create(&all, daily("Theirs")).await,
            caller.put(&one, json!({ "name": "x" })).await,
            caller.delete(&one).await,
            caller.call(Method::POST, &format!("{one}/run"), None).await,
        ];
        assert_eq!(replies.map(|reply| reply.status), [403; 5]);
    }
    assert_eq!(stack.plans(&agent).await.len(), 1);
    assert!(stack.all(&format!("/v1/agents/{agent}/runs")).await.is_empty());
}

#[tokio::test]
async fn an_agent_has_at_most_100_plans() {
    let stack = Stack::start().await;
    let (_, agent, _) = stack.pair().await;
    let mut last = Value::Null;
    for number in 0..100 {
        last = stack.plan(&agent, daily(&format!("{number}"))).await;
    }
    let path = format!("/v1/agents/{agent}/plans");
    assert_problem(
        &stack.create(&path, daily("one more")).await,
        &[409],
        "at most 100 plans",
        "the 101st",
    );
    stack.put(&format!("{path}/{}", id(&last)), json!({ "name": "changed" })).await.must_be(200);
    stack.delete(&format!("{path}/{}", id(&last))).await.must_be(204);
    stack.plan(&agent, daily("one more")).await;
    assert_eq!(stack.plans(&agent).await.len(), 100);
}
