//! The names of providers, and what the settings of a model do in a run.

use serde_json::{Value, json};

use crate::support::{
    model::{answer, say, think},
    routes::triggered_run,
    stack::Stack,
    waiting::SOON,
};

#[tokio::test]
async fn a_provider_that_does_not_exist_is_refused_with_those_that_do() {
    let stack = Stack::start().await;
    let listed = stack.get("/v1/providers").await.must_be(200);
    let names: Vec<&str> = listed["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|provider| provider["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["anthropic", "bedrock", "openai", "scripted"]);
    let model = json!({"provider": "vllm", "name": "m"});
    let agent = json!({"type": "agent", "name": "Ada", "agent": {"model": model}});
    let refused = stack.create("/v1/entities", agent).await.must_be(422);
    let fault = &refused["errors"][0];
    assert_eq!(fault["pointer"], "/agent/model/provider");
    assert!(fault["detail"].as_str().unwrap().contains(&names.join(", ")), "{fault}");
}

/// Asks an agent whose model has these settings, and returns its ended run and the texts that it
/// posted.
async fn run_with(stack: &Stack, settings: Value) -> (Value, Vec<Value>) {
    let person = stack.person("Husam").await;
    let mut model = json!({"provider": "openai", "name": stack.model.name("ada")});
    model.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
    let agent = stack.agent_with("Ada", json!({"model": model})).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    let message = stack.post(&space, &person, "How many?").await;
    let run = stack.ended(&triggered_run(&message, &agent).unwrap(), SOON).await;
    let posted = stack.messages(&space).await;
    let own = posted.into_iter().filter(|message| message["sender"]["id"] == json!(agent));
    (run, own.map(|message| message["parts"][0]["text"].clone()).collect())
}

#[tokio::test]
async fn a_run_whose_model_must_call_ends_by_itself_after_its_message() {
    let stack = Stack::start().await;
    stack.model.answers("ada", |_| say("Seven.").into());
    let settings = json!({"toolChoice": "required", "request": {"top_p": 0.5}});
    let (run, posted) = run_with(&stack, settings).await;
    assert_eq!((&run["status"], &run["endReason"]), (&json!("completed"), &json!("done")));
    assert_eq!(posted, [json!("Seven.")]);
    let requests = stack.model.requests("ada");
    assert_eq!(requests.len(), 1);
    let body = &requests[0].body;
    assert_eq!((&body["tool_choice"], &body["top_p"]), (&json!("required"), &json!(0.5)));
}

#[tokio::test]
async fn a_model_that_speaks_json_posts_what_it_says() {
    let stack = Stack::start().await;
    stack.model.answers("ada", |_| answer([think(r#"{"say": "Seven.", "reason": "asked"}"#)]));
    let (run, posted) = run_with(&stack, json!({"speaks": "json"})).await;
    assert_eq!((&run["status"], &run["endReason"]), (&json!("completed"), &json!("done")));
    assert_eq!(posted, [json!("Seven.")]);
    let requests = stack.model.requests("ada");
    assert_eq!((requests.len(), requests[0].body.get("tools")), (1, None));
}

#[tokio::test]
async fn a_model_that_speaks_json_skips_with_null() {
    let stack = Stack::start().await;
    stack.model.answers("ada", |_| answer([think(r#"{"say": null, "reason": "not for me"}"#)]));
    let (run, posted) = run_with(&stack, json!({"speaks": "json"})).await;
    assert_eq!((&run["status"], &run["endReason"]), (&json!("completed"), &json!("skipped")));
    assert!(posted.is_empty(), "{posted:?}");
}
