//! What is refused of plans: with which status, in which words, and without a trace.

use reqwest::Method;
use serde_json::{Value, json};

use super::daily;
use crate::{bad_input::assert_problem, routes::id, stack::Stack};

const NO_PLAN: &str = "pln_01ARZ3NDEKTSV4RRFFQ69G5FAV";

#[tokio::test]
async fn what_is_wrong_with_a_plan_is_said_with_its_place() {
    let stack = Stack::start().await;
    let (_, agent, _) = stack.pair().await;
    let path = format!("/v1/agents/{agent}/plans");
    let plan = |fields: Value| {
        let mut plan = json!({ "name": "n", "instruction": "i" });
        plan.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        plan
    };
    let named = |name: &str| json!({ "name": name, "instruction": "i", "runAfter": "1 day" });
    let instructed = |text: &str| json!({ "name": "n", "instruction": text, "runAfter": "1 day" });
    let exactly_one = "expected exactly one of runafter, scheduledat and cron";
    let bad = [
        (json!({}), "", exactly_one),
        (plan(json!({})), "", "got none"),
        (plan(json!({ "runAfter": "1 day", "cron": "0 9 * * *" })), "", "got runafter and cron"),
        (plan(json!({ "runAfter": "1 day", "scheduledAt": "2099-01-01T00:00:00Z", "cron": "0 9 * * *" })), "", exactly_one),
        (plan(json!({ "timezone": "UTC" })), "", "got none"),
        (plan(json!({ "scheduledAt": "2020-01-01T00:00:00Z" })), "/scheduledAt", "expected a time after now"),
        (plan(json!({ "scheduledAt": "2999-01-01T00:00:00Z" })), "/scheduledAt", "within 10 years"),
        (plan(json!({ "scheduledAt": "tomorrow" })), "/scheduledAt", "expected a time like"),
        (plan(json!({ "scheduledAt": "2030-02-30T00:00:00Z" })), "/scheduledAt", "expected a time like"),
        (plan(json!({ "scheduledAt": "2030-01-01T00:00" })), "/scheduledAt", "or a timezone beside it"),
        (plan(json!({ "scheduledAt": "2030-01-01T00:00Z", "timezone": "UTC" })), "/timezone", "expected none"),
        (plan(json!({ "runAfter": "1 day", "timezone": "UTC" })), "/timezone", "expected none beside runafter"),
        (plan(json!({ "runAfter": "soon" })), "/runAfter", "expected a duration like"),
        (plan(json!({ "runAfter": "-1 day" })), "/runAfter", "expected a duration like"),
        (plan(json!({ "runAfter": "0 seconds" })), "/runAfter", "expected a duration like"),
        (plan(json!({ "runAfter": "600 weeks" })), "/runAfter", "at most 10 years"),
        (plan(json!({ "runAfter": 5 })), "/runAfter", "string"),
        (plan(json!({ "cron": "0 9 * * *", "timezone": "Europe/Nowhere" })), "/timezone", "expected an iana time zone"),
        (plan(json!({ "cron": "0 0 9 * * *" })), "/cron", "five fields"),
        (plan(json!({ "cron": "0 9 * *" })), "/cron", "five fields"),
        (plan(json!({ "cron": "61 9 * * *" })), "/cron", "expected"),
        (plan(json!({ "cron": "0 9 30 2 *" })), "/cron", "expected a day that its months have"),
        (json!({ "instruction": "i", "runAfter": "1 day" }), "/name", "needed where the plan is new: its name"),
        (json!({ "name": "n", "runAfter": "1 day" }), "/instruction", "needed where the plan is new: its instruction"),
        (named(""), "/name", "expected 1 to 128 characters"),
        (named(" \t "), "/name", "not only blanks"),
        (named(&"n".repeat(129)), "/name", "expected 1 to 128 characters"),
        (named("nul \0"), "/name", "without nul"),
        (instructed(""), "/instruction", "expected"),
        (instructed(&"i".repeat(4_001)), "/instruction", "4000"),
        (instructed("nul \0"), "/instruction", "nul"),
        (plan(json!({ "runAfter": "1 day", "colour": "red" })), "/colour", "unknown field"),
        (plan(json!({ "runAfter": "1 day", "status": "over" })), "/status", "expected"),
        (json!(["a plan"]), "", "expected"),
    ];
    let known = stack.plan(&agent, daily("Report")).await;
    let place = format!("{path}/{}", id(&known));
    let mut wrong = Vec::new();
    for (body, pointer, word) in bad {
        let shown = format!("{body:.200}");
        let reply = stack.create(&path, body.clone()).await;
        assert_problem(&reply, &[422], "", &shown);
        let fault = &reply.body["errors"][0];
        if fault["pointer"] != pointer || !fault["detail"].to_string().to_lowercase().contains(word) {
            wrong.push(format!("{shown}: expected {pointer} {word}, got {fault}"));
        }
        // Of a change, what is left out is not missing.
        if !word.contains("needed") && !word.contains("got none") && body != json!({}) {
            assert_eq!(stack.put(&place, body).await.must_be(422)["errors"][0]["pointer"], fault["pointer"], "{shown}");
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(stack.plans(&agent).await, [known], "what is refused leaves no trace");
    stack.plan(&agent, json!({ "name": "🌍".repeat(128), "instruction": "🌍".repeat(4_000), "runAfter": "1 day" })).await;
}

#[tokio::test]
async fn plans_are_the_operators_and_an_agents() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let (person, agent, _) = stack.pair().await;
    let other = stack.agent("Bea", &stack.model.name("bea")).await;
    let plan = id(&stack.plan(&agent, daily("Report")).await);
    for (of, plan, word) in [
        (agent.as_str(), NO_PLAN, "no such plan"),
        (other.as_str(), plan.as_str(), "no such plan"),
        (person.as_str(), plan.as_str(), "person"),
        ("ent_01ARZ3NDEKTSV4RRFFQ69G5FAV", plan.as_str(), ""),
        (agent.as_str(), "nonsense", ""),
    ] {
        let place = format!("/v1/agents/{of}/plans/{plan}");
        assert_problem(&stack.put(&place, json!({ "name": "x" })).await, &[404], word, &place);
        assert_problem(&stack.call(Method::POST, &format!("{place}/run"), None).await, &[404], word, &place);
    }
    for (of, word) in [(person.as_str(), "person"), ("ent_01ARZ3NDEKTSV4RRFFQ69G5FAV", "")] {
        assert_problem(&stack.get(&format!("/v1/agents/{of}/plans")).await, &[404], word, of);
        assert_problem(&stack.create(&format!("/v1/agents/{of}/plans"), daily("x")).await, &[404], word, of);
    }
    for caller in [&person, &agent] {
        let caller = stack.as_entity(caller);
        let (all, one) = (format!("/v1/agents/{agent}/plans"), format!("/v1/agents/{agent}/plans/{plan}"));
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
    assert_problem(&stack.create(&path, daily("one more")).await, &[409], "at most 100 plans", "the 101st");
    stack.put(&format!("{path}/{}", id(&last)), json!({ "name": "changed" })).await.must_be(200);
    stack.delete(&format!("{path}/{}", id(&last))).await.must_be(204);
    stack.plan(&agent, daily("one more")).await;
    assert_eq!(stack.plans(&agent).await.len(), 100);
}
