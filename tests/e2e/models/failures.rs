//! Models that fail: which errors are retried, and how the run ends.

mod bad_calls;
mod endings;

use std::{collections::BTreeSet, time::Duration};

use serde_json::{Value, json};

use crate::support::{
    model::{Answer, KEY, Line, answer, http, http_retry, say, stop},
    routes::triggered_run,
    secret_spellings::Search,
    socket::Socket,
    stack::Stack,
    waiting::SOON,
};

/// The time limit of a run whose model fails. Each retry waits longer than the one before.
const RETRIES_WITHIN: Duration = Duration::from_mins(1);

/// The end of a run that a message triggered.
struct Outcome {
    stack: Stack,
    space: String,
    run: Value,
}

impl Outcome {
    /// Runs an agent whose model gives these answers.
    async fn of<A: Into<Answer>>(answers: impl IntoIterator<Item = A>) -> Self {
        let stack = Stack::start().await;
        stack.model.plays("ada", answers);
        Self::on(stack).await
    }

    /// Runs an agent whose model always gives this answer.
    async fn of_always(answer: Answer) -> Self {
        let stack = Stack::start().await;
        stack.model.answers("ada", move |_| answer.clone());
        Self::on(stack).await
    }

    async fn on(stack: Stack) -> Self {
        let (person, agent, space) = stack.pair().await;
        let socket = stack.socket_of(&person).await;
        socket.subscribe(&space, None).await;
        let question = stack.post(&space, &person, "Hello.").await;
        let run = stack.ended(&triggered_run(&question, &agent).unwrap(), RETRIES_WITHIN).await;
        let kind = format!("run.{}", run["status"].as_str().unwrap());
        let ended = socket.frame(&kind, SOON, |frame| frame["run"]["id"] == run["id"]).await;
        assert_eq!(ended.body["run"]["error"]["code"], run["error"]["code"]);
        let count = stack.messages(&space).await.len();
        let shown = socket
            .shows(&space, "all stored messages", SOON, |view| {
                (view.messages.len() == count).then(|| view.clone())
            })
            .await;
        assert!(
            shown.live().is_empty(),
            "a browser shows no text without a stored message: {:?}",
            shown.live()
        );
        Self { stack, space, run }
    }

    /// The messages of the agent.
    async fn posted(&self) -> Vec<String> {
        self.stack.texts(&self.space).await.split_off(1)
    }

    /// The number of requests to the model.
    fn requests(&self) -> usize {
        self.stack.model.requests("ada").len()
    }

    #[track_caller]
    fn assert_completed(&self) {
        assert_eq!(
            (self.run["status"].as_str(), &self.run["error"]),
            (Some("completed"), &Value::Null),
            "{}",
            self.run
        );
    }

    #[track_caller]
    fn assert_failed(&self, code: &str) {
        assert_eq!(
            (self.run["status"].as_str(), self.run["error"]["code"].as_str()),
            (Some("failed"), Some(code)),
            "{}",
            self.run
        );
        let message = self.run["error"]["message"].as_str().unwrap();
        assert!(!message.is_empty());
        assert!(!self.run.to_string().contains(KEY), "the error shows the key: {}", self.run);
        assert!(
            self.run["finishedAt"].is_string() && self.run["endReason"].is_null(),
            "{}",
            self.run
        );
    }
}

#[tokio::test]
async fn a_missing_provider_key_fails_the_run_and_is_named() {
    let Some(stack) = Stack::local_with_env(&[("AWS_ACCESS_KEY_ID", "")]).await else { return };
    let person = stack.person("Husam").await;
    let agent = stack
        .agent_with("Ada", json!({ "model": { "provider": "bedrock", "name": "nova" } }))
        .await;
    let space = stack.space("Team", &[&person, &agent]).await;
    let question = stack.post(&space, &person, "Hello there.").await;
    let run = stack.ended(&triggered_run(&question, &agent).unwrap(), SOON).await;
    assert_eq!(
        (run["status"].as_str(), run["error"]["code"].as_str()),
        (Some("failed"), Some("not_configured")),
        "{run}"
    );
    let message = run["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("bedrock") && message.contains("AWS_ACCESS_KEY_ID"),
        "the error names the missing variable: {message}"
    );
}

#[tokio::test]
async fn a_refused_provider_key_fails_the_run_at_once_and_is_not_shown() {
    let outcome = Outcome::of_always(http(401)).await;
    outcome.assert_failed("unauthorized");
    assert_eq!((outcome.requests(), outcome.posted().await), (1, vec![]));
    let search = Search::of(&[("the key", KEY), ("the key", &KEY.to_uppercase())]);
    for shown in [outcome.run.to_string(), outcome.stack.log()] {
        assert_eq!(search.in_bytes(shown.as_bytes()), BTreeSet::new(), "{shown}");
        assert!(!shown.contains("test&#45;key"), "{shown}");
    }
}

#[tokio::test]
async fn members_read_what_a_failure_means_and_the_operator_what_the_provider_said() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    stack.model.answers("ada", |_| http(401));
    let (person, agent, space) = stack.pair().await;
    let member = stack.as_entity(&person);
    let [theirs, ours] = [stack.socket_of(&person).await, stack.socket().await];
    theirs.subscribe(&space, None).await;
    ours.subscribe(&space, None).await;
    let question = stack.post(&space, &person, "Hello there.").await;
    let run = stack.ended(&triggered_run(&question, &agent).unwrap(), RETRIES_WITHIN).await;
    let said = run["error"]["message"].as_str().unwrap();
    assert!(said.starts_with("the provider answered 401"), "{said}");
    let frame = async |socket: &Socket| {
        let frame = socket.frame("run.failed", SOON, |frame| frame["run"]["id"] == run["id"]).await;
        frame.body["run"]["error"].clone()
    };
    assert_eq!(frame(&ours).await, run["error"]);
    let means = json!({
        "code": "unauthorized",
        "message": "the provider refused the deployment's credentials",
    });
    let path = format!("/v1/runs/{}", run["id"].as_str().unwrap());
    let listed = member.get(&format!("/v1/spaces/{space}/runs")).await.must_be(200);
    for (place, shown) in [
        ("frame", frame(&theirs).await),
        ("run", member.get(&path).await.must_be(200)["error"].clone()),
        ("list", listed["items"][0]["error"].clone()),
    ] {
        assert_eq!(shown, means, "{place}");
    }
}

#[tokio::test]
async fn a_refused_request_fails_the_run_at_once() {
    let outcome = Outcome::of_always(http(400)).await;
    outcome.assert_failed("bad_request");
    assert_eq!((outcome.requests(), outcome.posted().await), (1, vec![]));
}

#[tokio::test]
async fn a_rate_limit_is_retried_after_its_delay() {
    let outcome = Outcome::of([http_retry(429, 1), say("Here.").into(), stop()]).await;
    outcome.assert_completed();
    assert_eq!(outcome.posted().await, ["Here."]);
    let requests = outcome.stack.model.requests("ada");
    let waited = requests[1].at.duration_since(requests[0].at);
    let in_time = waited >= Duration::from_millis(990);
    assert!(in_time, "Retry-After is 1 s, but the retry came after {waited:?}");
}

#[tokio::test]
async fn a_permanent_rate_limit_fails_the_run() {
    let outcome = Outcome::of_always(http_retry(429, 1)).await;
    outcome.assert_failed("rate_limited");
    assert_eq!(
        (outcome.requests(), outcome.posted().await),
        (4, vec![]),
        "one request and three retries"
    );
}

#[tokio::test]
async fn a_server_error_is_retried() {
    let outcome = Outcome::of([http(500), say("Here.").into(), stop()]).await;
    outcome.assert_completed();
    assert_eq!(outcome.posted().await, ["Here."]);
}

#[tokio::test]
async fn a_permanent_server_error_counts_as_an_overload() {
    let outcome = Outcome::of_always(http(503)).await;
    outcome.assert_failed("overloaded");
    assert_eq!(outcome.posted().await, [""; 0]);
}

#[tokio::test]
async fn a_cut_answer_is_retried_and_posted_once() {
    let text = "A text that is long enough to be cut.";
    for cut in [answer([say(text)]).cut_after(4), answer([say(text)]).ends_after(4)] {
        let outcome = Outcome::of([cut, say(text).into(), stop()]).await;
        outcome.assert_completed();
        assert_eq!(outcome.posted().await, [text]);
        assert_eq!(outcome.requests(), 3);
    }
}

#[tokio::test]
async fn a_complete_call_of_a_cut_answer_is_not_made_twice() {
    let both = || answer([say("First."), say("Second.")]).slow(200, Duration::from_millis(100));
    // The connection breaks after the head, the first call's name and input, and the second call's
    // name.
    let outcome = Outcome::of([both().cut_after(4), both(), stop()]).await;
    outcome.assert_completed();
    assert_eq!(outcome.posted().await, ["First.", "Second."]);
}

#[tokio::test]
async fn answers_that_are_always_cut_fail_the_run() {
    let outcome =
        Outcome::of_always(answer([say("A text that is long enough to be cut.")]).cut_after(4))
            .await;
    outcome.assert_failed("broken_stream");
    assert_eq!((outcome.requests(), outcome.posted().await), (4, vec![]));
}

#[tokio::test]
async fn a_failed_run_does_not_affect_the_next_one() {
    let stack = Stack::start().await;
    stack.model.plays("ada", [http(400), say("Better now.").into(), stop()]);
    let (person, _, space) = stack.pair().await;
    stack.post(&space, &person, "Hello there.").await;
    stack.quiet(&space).await;
    stack.post(&space, &person, "Hello again.").await;
    stack.quiet(&space).await;
    assert_eq!(stack.texts(&space).await, ["Hello there.", "Hello again.", "Better now."]);
    let user = stack.model.requests("ada")[1].user();
    let lines: Vec<String> = user.timeline().iter().map(Line::short).collect();
    assert_eq!(
        lines,
        ["NEW Husam: Hello there.", "NEW Husam: Hello again. ← TRIGGER"],
        "messages that only a failed run has read stay new"
    );
}
