//! Agents with Anthropic models.

use crate::{models::providers::Provider, support::model::Api};

const ANTHROPIC: Provider = Provider {
    name: "anthropic",
    model: "ada",
    api: Api::Anthropic,
    overload: 529,
    fatal: &[
        (400, "bad_request"),
        (401, "unauthorized"),
        (403, "unauthorized"),
        (404, "bad_request"),
    ],
};

#[tokio::test]
async fn text_streams_while_the_model_writes_and_the_message_replaces_it() {
    ANTHROPIC.check_streaming().await;
}

#[tokio::test]
async fn invalid_tool_calls_go_back_to_the_model_as_errors() {
    ANTHROPIC.check_invalid_calls().await;
}

#[tokio::test]
async fn a_rate_limit_and_an_overload_are_retried_after_a_delay() {
    ANTHROPIC.check_retries().await;
}

#[tokio::test]
async fn an_error_without_retry_fails_the_run_at_once_and_does_not_show_the_key() {
    ANTHROPIC.check_fatal_errors().await;
}

#[tokio::test]
async fn a_cut_answer_is_retried_and_posted_once() {
    ANTHROPIC.check_cut_answers().await;
}
