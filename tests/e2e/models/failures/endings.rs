//! Runs that end without a failure: at the step limit, by `skip_response`, and with their tokens
//! counted.

use serde_json::{Value, json};

use crate::{
    models::failures::Outcome,
    support::{
        model::{answer, call, say, stop},
        routes::triggered_run,
        stack::Stack,
        waiting::SOON,
    },
};

#[tokio::test]
async fn the_step_limit_ends_a_run_whose_model_never_stops_calling_tools() {
    let stack = Stack::start().await;
    stack.model.answers("ada", |_| call("read_messages", json!({ "limit": 1 })).into());
    let person = stack.person("Husam").await;
    let model = json!({ "provider": "openai", "name": stack.model.name("ada") });
    let agent = stack.agent_with("Ada", json!({ "model": model, "loop": { "maxSteps": 3 } })).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    let question = stack.post(&space, &person, "Hello there.").await;
    let run = stack.ended(&triggered_run(&question, &agent).unwrap(), SOON).await;
    assert_eq!(
        (run["status"].as_str(), run["endReason"].as_str()),
        (Some("completed"), Some("max_steps")),
        "{run}"
    );
    assert_eq!((run["stepCount"].as_u64(), stack.model.requests("ada").len()), (Some(3), 3));
}

#[tokio::test]
async fn a_run_that_has_posted_ends_as_done_even_if_it_then_skips() {
    let outcome = Outcome::of([answer([
        say("Hello!"),
        call("skip_response", json!({ "reason": "answered" })),
    ])])
    .await;
    assert_eq!(outcome.run["endReason"], "done");
    assert!(outcome.run["reason"].is_null(), "{}", outcome.run);
    let calls = &outcome.run["steps"][0]["calls"];
    assert_eq!(calls[1]["input"]["reason"], "answered", "the step has it");
}

#[tokio::test]
async fn skip_response_ends_the_run_and_stores_the_reason() {
    let outcome = Outcome::of([
        answer([call("skip_response", json!({ "reason": "not for me" }))]),
        say("Never.").into(),
    ])
    .await;
    outcome.assert_completed();
    assert_eq!(outcome.run["endReason"], "skipped");
    assert_eq!((outcome.requests(), outcome.posted().await), (1, vec![]));
    assert_eq!(outcome.run["steps"][0]["calls"][0]["input"]["reason"], "not for me");
    assert_eq!(outcome.run["reason"], "not for me");
}

#[tokio::test]
async fn a_long_reason_is_cut_and_an_empty_one_is_none() {
    let long = "ö".repeat(400);
    for (given, expected) in [(long, json!("ö".repeat(300) + "…")), (" ".into(), Value::Null)] {
        let skip = call("skip_response", json!({ "reason": given }));
        assert_eq!(Outcome::of([answer([skip])]).await.run["reason"], expected);
    }
}

#[tokio::test]
async fn the_tokens_of_a_run_are_counted() {
    let outcome = Outcome::of([say("Here.").into(), stop()]).await;
    outcome.assert_completed();
    let usage = &outcome.run["usage"];
    assert_eq!(usage["outputTokens"], 24, "12 tokens for each of two answers: {usage}");
    assert!(usage["inputTokens"].as_u64().unwrap() > 100, "{usage}");
    let steps = outcome.run["steps"].as_array().unwrap();
    let reasons: Vec<_> = steps.iter().map(|step| step["finishReason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["tool_calls", "stop"]);
}
