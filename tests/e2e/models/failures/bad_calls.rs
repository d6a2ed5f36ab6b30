//! Invalid tool calls: the model gets an error and continues.

use serde_json::json;

use crate::{
    models::failures::Outcome,
    support::model::{Part, answer, call, raw_call, say, stop, think},
};

/// Checks that the model gets an error with one of the words for an invalid call, and continues.
async fn assert_call_fails(wrong: Part, words: &[&str]) {
    let outcome =
        Outcome::of([answer([think("Let me see."), wrong]), say("Better.").into(), stop()]).await;
    outcome.assert_completed();
    assert_eq!(outcome.posted().await, ["Better."]);
    let results = outcome.stack.model.requests("ada")[1].results();
    assert_eq!(results.len(), 1);
    let error = results[0]["error"]
        .as_str()
        .unwrap_or_else(|| panic!("no error in {}", results[0]))
        .to_lowercase();
    let helps = words.iter().any(|word| error.contains(word));
    assert!(helps, "the error has none of {words:?}: {error}");
    let step = &outcome.run["steps"][0];
    assert_eq!(
        (&step["calls"][0]["status"], &step["text"]),
        (&json!("failed"), &json!("Let me see.")),
        "{step}"
    );
}

#[tokio::test]
async fn a_call_with_invalid_json_goes_back_to_the_model() {
    assert_call_fails(raw_call("send_message", "{broken"), &["json"]).await;
}

#[tokio::test]
async fn a_call_that_ends_in_the_middle_of_a_text_goes_back_to_the_model() {
    assert_call_fails(raw_call("send_message", "{\"text\": \"half of wh"), &["json"]).await;
}

#[tokio::test]
async fn an_unknown_tool_goes_back_to_the_model() {
    let dance = call("dance", json!({ "style": "tango" }));
    assert_call_fails(dance, &["dance", "no such tool", "unknown"]).await;
}

#[tokio::test]
async fn an_empty_text_goes_back_to_the_model() {
    assert_call_fails(say(""), &["text"]).await;
}

#[tokio::test]
async fn a_text_that_is_too_long_or_missing_goes_back_to_the_model() {
    assert_call_fails(say(&"x".repeat(33_000)), &["32768", "32,768"]).await;
    assert_call_fails(call("send_message", json!({ "text": 5 })), &["text"]).await;
    assert_call_fails(call("send_message", json!({})), &["text"]).await;
}
