//! Agents with models on Amazon Bedrock.

use serde_json::Value;

use crate::{
    models::providers::Provider,
    support::{
        model::{Api, answer, say, stop, think},
        routes::triggered_run,
        waiting::SOON,
    },
};

const BEDROCK: Provider = Provider {
    name: "bedrock",
    model: "eu.anthropic.claude-ada-v1:0",
    api: Api::Bedrock,
    overload: 503,
    fatal: &[(400, "bad_request"), (403, "unauthorized"), (404, "bad_request")],
};

#[tokio::test]
async fn text_streams_while_the_model_writes_and_the_message_replaces_it() {
    let Some([first, second]) = BEDROCK.check_streaming().await else { return };
    let beginning = |body: &Value| [body["toolConfig"].to_string(), body["system"].to_string()];
    assert_eq!(
        beginning(&first.body),
        beginning(&second.body),
        "the cached part is identical in each step"
    );
}

#[tokio::test]
async fn models_of_other_makers_answer_too() {
    for name in ["amazon.nova-ada-v1:0", "us.meta.llama-ada-v1:0"] {
        let Some(stack) = BEDROCK.stack().await else { return };
        stack.model.plays(name, [answer([think("Let me greet."), say("Hello.")]), stop()]);
        let (person, agent, space) = BEDROCK.team(&stack, name).await;
        let question = stack.post(&space, &person, "Hello there.").await;
        let run = stack.ended(&triggered_run(&question, &agent).unwrap(), SOON).await;
        assert_eq!(
            (run["status"].as_str(), stack.texts(&space).await),
            (Some("completed"), vec!["Hello there.".to_owned(), "Hello.".to_owned()]),
            "{run}"
        );
        let requests = stack.model.requests(name);
        let marked = requests.iter().any(|request| request.body.to_string().contains("cachePoint"));
        assert_eq!((requests.len(), marked), (2, name.starts_with("amazon")));
    }
}

#[tokio::test]
async fn invalid_tool_calls_go_back_to_the_model_as_errors() {
    BEDROCK.check_invalid_calls().await;
}

#[tokio::test]
async fn a_rate_limit_and_an_overload_are_retried_after_a_delay() {
    BEDROCK.check_retries().await;
}

#[tokio::test]
async fn an_error_without_retry_fails_the_run_at_once_and_does_not_show_the_key() {
    BEDROCK.check_fatal_errors().await;
}

#[tokio::test]
async fn a_cut_answer_is_retried_and_posted_once() {
    BEDROCK.check_cut_answers().await;
}
