//! Models that fail, and models that call tools wrongly.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    model::{Answer, KEY, Part, answer, call, http, http_retry, raw_call, say, stop, think},
    routes::woken,
    stack::Stack,
    waiting::SOON,
};

/// Every repetition waits longer than the one before.
const PATIENT: Duration = Duration::from_mins(1);

/// A message was posted and the run that it woke has ended.
struct Outcome {
    stack: Stack,
    space: String,
    run: Value,
}

impl Outcome {
    /// Of a run whose model gives these answers.
    async fn of<A: Into<Answer>>(answers: impl IntoIterator<Item = A>) -> Self {
        let stack = Stack::start().await;
        stack.model.plays("ada", answers);
        Self::on(stack).await
    }

    /// Of a run whose model gives this answer again and again.
    async fn of_always(answer: Answer) -> Self {
        let stack = Stack::start().await;
        stack.model.answers("ada", move |_| answer.clone());
        Self::on(stack).await
    }

    async fn on(stack: Stack) -> Self {
        let (person, agent) = (stack.person("Husam").await, stack.agent("Ada", &stack.model.name("ada")).await);
        let space = stack.space("Team", &[&person, &agent]).await;
        let socket = stack.socket_of(&person).await;
        socket.subscribe(&space, None).await;
        let question = stack.post(&space, &person, "Hello?").await;
        let run = stack.ended(&woken(&question, &agent).unwrap(), PATIENT).await;
        let kind = format!("run.{}", run["status"].as_str().unwrap());
        let told = socket.frame(&kind, SOON, |frame| frame["run"]["id"] == run["id"]).await;
        assert_eq!(told.body["run"]["error"], run["error"]);
        let kept = stack.messages(&space).await.len();
        let shown = socket.shows(&space, "what is kept", SOON, |view| (view.messages.len() == kept).then(|| view.clone())).await;
        assert!(shown.live().is_empty(), "a browser shows no text that is not kept: {:?}", shown.live());
        Self { stack, space, run }
    }

    async fn said(&self) -> Vec<String> {
        self.stack.texts(&self.space).await.split_off(1)
    }

    fn asked(&self) -> usize {
        self.stack.model.asked("ada").len()
    }

    #[track_caller]
    fn assert_completed(&self) {
        assert_eq!((self.run["status"].as_str(), &self.run["error"]), (Some("completed"), &Value::Null), "{}", self.run);
    }

    #[track_caller]
    fn assert_failed(&self, code: &str) {
        assert_eq!((self.run["status"].as_str(), self.run["error"]["code"].as_str()), (Some("failed"), Some(code)), "{}", self.run);
        let message = self.run["error"]["message"].as_str().unwrap();
        assert!(!message.is_empty());
        assert!(!self.run.to_string().contains(KEY), "the key shows: {}", self.run);
        assert!(self.run["finishedAt"].is_string() && self.run["endReason"].is_null(), "{}", self.run);
    }
}

#[tokio::test]
async fn a_provider_without_its_key_fails_the_run_and_says_so() {
    let Some(stack) = Stack::local_with_env(&[("AWS_ACCESS_KEY_ID", "")]).await else { return };
    let person = stack.person("Husam").await;
    let agent = stack.agent_with("Ada", json!({ "model": { "provider": "bedrock", "name": "nova" } })).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    let question = stack.post(&space, &person, "Hello?").await;
    let run = stack.ended(&woken(&question, &agent).unwrap(), SOON).await;
    assert_eq!((run["status"].as_str(), run["error"]["code"].as_str()), (Some("failed"), Some("not_configured")), "{run}");
    let message = run["error"]["message"].as_str().unwrap();
    assert!(message.contains("bedrock") && message.contains("AWS_ACCESS_KEY_ID"), "it says what is missing: {message}");
}

#[tokio::test]
async fn a_refused_key_fails_the_run_at_once_and_is_not_shown() {
    let outcome = Outcome::of_always(http(401)).await;
    outcome.assert_failed("unauthorized");
    assert_eq!((outcome.asked(), outcome.said().await), (1, vec![]));
}

#[tokio::test]
async fn a_refused_request_fails_the_run_at_once() {
    let outcome = Outcome::of_always(http(400)).await;
    outcome.assert_failed("bad_request");
    assert_eq!((outcome.asked(), outcome.said().await), (1, vec![]));
}

#[tokio::test]
async fn a_rate_limit_is_waited_for() {
    let outcome = Outcome::of([http_retry(429, 1), say("Here.").into(), stop()]).await;
    outcome.assert_completed();
    assert_eq!(outcome.said().await, ["Here."]);
    let asked = outcome.stack.model.asked("ada");
    let waited = asked[1].at.duration_since(asked[0].at);
    assert!(waited >= Duration::from_millis(990), "Retry-After: 1, and it waited {waited:?}");
}

#[tokio::test]
async fn a_rate_limit_without_end_fails_the_run() {
    let outcome = Outcome::of_always(http_retry(429, 1)).await;
    outcome.assert_failed("rate_limited");
    assert_eq!((outcome.asked(), outcome.said().await), (4, vec![]), "asked once, and three times again");
}

#[tokio::test]
async fn a_server_error_is_tried_again() {
    let outcome = Outcome::of([http(500), say("Here.").into(), stop()]).await;
    outcome.assert_completed();
    assert_eq!(outcome.said().await, ["Here."]);
}

#[tokio::test]
async fn a_server_error_without_end_is_an_overload() {
    let outcome = Outcome::of_always(http(503)).await;
    outcome.assert_failed("overloaded");
    assert_eq!(outcome.said().await, [""; 0]);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_asked_for_again_and_said_once() {
    let text = "A text that is long enough to be cut.";
    for cut in [answer([say(text)]).cut_after(4), answer([say(text)]).ends_after(4)] {
        let outcome = Outcome::of([cut, say(text).into(), stop()]).await;
        outcome.assert_completed();
        assert_eq!(outcome.said().await, [text]);
        assert_eq!(outcome.asked(), 3);
    }
}

#[tokio::test]
async fn a_call_that_was_complete_when_the_answer_broke_off_is_not_made_twice() {
    let both = || answer([say("First."), say("Second.")]).slow(200, Duration::from_millis(100));
    // The head, the first call's name and its input, the second call's name: then it breaks.
    let outcome = Outcome::of([both().cut_after(4), both(), stop()]).await;
    outcome.assert_completed();
    assert_eq!(outcome.said().await, ["First.", "Second."]);
}

#[tokio::test]
async fn answers_that_always_break_off_fail_the_run() {
    let outcome = Outcome::of_always(answer([say("A text that is long enough to be cut.")]).cut_after(4)).await;
    outcome.assert_failed("broken_stream");
    assert_eq!((outcome.asked(), outcome.said().await), (4, vec![]));
}

/// The model made one wrong call, is told so, and goes on.
async fn is_told(wrong: Part, words: &[&str]) {
    let outcome = Outcome::of([answer([think("Let me see."), wrong]), say("Better.").into(), stop()]).await;
    outcome.assert_completed();
    assert_eq!(outcome.said().await, ["Better."]);
    let results = outcome.stack.model.asked("ada")[1].results();
    assert_eq!(results.len(), 1);
    let error = results[0]["error"].as_str().unwrap_or_else(|| panic!("no error in {}", results[0])).to_lowercase();
    assert!(words.iter().any(|word| error.contains(word)), "it does not help: {error}");
    let step = &outcome.run["steps"][0];
    assert_eq!((&step["calls"][0]["status"], &step["text"]), (&json!("failed"), &json!("Let me see.")), "{step}");
}

#[tokio::test]
async fn a_call_with_broken_json_goes_back_to_the_model() {
    is_told(raw_call("send_message", "{broken"), &["json"]).await;
}

#[tokio::test]
async fn a_call_that_ends_in_the_middle_of_a_text_goes_back_to_the_model() {
    is_told(raw_call("send_message", "{\"text\": \"half of wh"), &["json"]).await;
}

#[tokio::test]
async fn an_unknown_tool_goes_back_to_the_model() {
    is_told(call("dance", json!({ "style": "tango" })), &["dance", "no such tool", "unknown"]).await;
}

#[tokio::test]
async fn an_empty_text_goes_back_to_the_model() {
    is_told(say(""), &["text"]).await;
}

#[tokio::test]
async fn a_text_that_is_too_long_or_no_text_goes_back_to_the_model() {
    is_told(say(&"x".repeat(33_000)), &["32768", "32,768"]).await;
    is_told(call("send_message", json!({ "text": 5 })), &["text"]).await;
    is_told(call("send_message", json!({})), &["text"]).await;
}

#[tokio::test]
async fn a_failed_run_does_not_stop_the_next() {
    let stack = Stack::start().await;
    stack.model.plays("ada", [http(400), say("Better now.").into(), stop()]);
    let (person, agent) = (stack.person("Husam").await, stack.agent("Ada", &stack.model.name("ada")).await);
    let space = stack.space("Team", &[&person, &agent]).await;
    stack.post(&space, &person, "Hello?").await;
    stack.quiet(&space).await;
    stack.post(&space, &person, "Hello again?").await;
    stack.quiet(&space).await;
    assert_eq!(stack.texts(&space).await, ["Hello?", "Hello again?", "Better now."]);
    let user = stack.model.asked("ada")[1].user();
    let lines: Vec<String> = user.timeline().iter().map(super::model::Line::short).collect();
    assert_eq!(lines, ["NEW Husam: Hello?", "NEW Husam: Hello again? ← TRIGGER"], "what only a failed run has read stays new");
}

#[tokio::test]
async fn a_model_that_never_stops_calling_is_stopped() {
    let stack = Stack::start().await;
    stack.model.answers("ada", |_| call("read_messages", json!({ "limit": 1 })).into());
    let person = stack.person("Husam").await;
    let model = json!({ "provider": "openai", "name": stack.model.name("ada") });
    let agent = stack.agent_with("Ada", json!({ "model": model, "loop": { "maxSteps": 3 } })).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    let question = stack.post(&space, &person, "Hello?").await;
    let run = stack.ended(&woken(&question, &agent).unwrap(), SOON).await;
    assert_eq!((run["status"].as_str(), run["endReason"].as_str()), (Some("completed"), Some("max_steps")), "{run}");
    assert_eq!((run["stepCount"].as_u64(), stack.model.asked("ada").len()), (Some(3), 3));
}

#[tokio::test]
async fn skip_response_ends_the_run_and_keeps_why() {
    let outcome = Outcome::of([answer([call("skip_response", json!({ "reason": "not for me" }))]), say("Never.").into()]).await;
    outcome.assert_completed();
    assert_eq!(outcome.run["endReason"], "skipped");
    assert_eq!((outcome.asked(), outcome.said().await), (1, vec![]));
    assert_eq!(outcome.run["steps"][0]["calls"][0]["input"]["reason"], "not for me");
}

#[tokio::test]
async fn what_a_run_used_is_counted() {
    let outcome = Outcome::of([say("Here.").into(), stop()]).await;
    outcome.assert_completed();
    let usage = &outcome.run["usage"];
    assert_eq!(usage["outputTokens"], 24, "12 for each of two answers: {usage}");
    assert!(usage["inputTokens"].as_u64().unwrap() > 100, "{usage}");
    let steps = outcome.run["steps"].as_array().unwrap();
    let reasons: Vec<_> = steps.iter().map(|step| step["finishReason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["tool_calls", "stop"]);
}
