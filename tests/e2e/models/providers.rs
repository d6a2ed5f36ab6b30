//! Tests that the models of all providers share: streaming, retries, and errors of the provider.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    model::{
        Answer, Api, Gate, KEY, ModelRequest, Prompt, answer, call, http, http_retry, raw_call,
        say, say_held, stop, think,
    },
    routes::triggered_run,
    stack::Stack,
    waiting::SOON,
};

/// The time limit of a run whose model fails. Each retry waits longer than the one before.
const RETRIES_WITHIN: Duration = Duration::from_mins(1);

/// A provider, with the model that its tests use.
pub(crate) struct Provider {
    pub(crate) name: &'static str,
    pub(crate) model: &'static str,
    pub(crate) api: Api,
    /// The status with which the provider reports an overload.
    pub(crate) overload: u16,
    /// The statuses that are not retried, with the error code of the run.
    pub(crate) fatal: &'static [(u16, &'static str)],
}

struct Outcome {
    stack: Stack,
    run: Value,
    /// The messages of the agent.
    posted: Vec<String>,
}

impl Outcome {
    #[track_caller]
    fn assert_posted(&self, text: &str) {
        assert_eq!(
            (self.run["status"].as_str(), &self.posted[..]),
            (Some("completed"), &[text.to_owned()][..]),
            "{}",
            self.run
        );
    }
}

impl Provider {
    /// Starts the product. A deployed stack has no fake Bedrock, so `None` skips the test there.
    pub(crate) async fn stack(&self) -> Option<Stack> {
        if self.api == Api::Bedrock { Stack::local().await } else { Some(Stack::start().await) }
    }

    /// Creates a person, an agent with this model, and their space.
    pub(crate) async fn team(&self, stack: &Stack, model: &str) -> (String, String, String) {
        let person = stack.person("Husam").await;
        let model =
            json!({ "provider": self.name, "name": stack.model.name(model), "temperature": 1.5 });
        let agent = stack.agent_with("Ada", json!({ "model": model })).await;
        let space = stack.space("Team", &[&person, &agent]).await;
        (person, agent, space)
    }

    /// Posts a question and waits for the end of the run.
    async fn outcome(&self, answers: Vec<Answer>) -> Option<Outcome> {
        let stack = self.stack().await?;
        stack.model.plays(self.model, answers);
        let (person, agent, space) = self.team(&stack, self.model).await;
        let question = stack.post(&space, &person, "Hello there.").await;
        let run = stack.ended(&triggered_run(&question, &agent).unwrap(), RETRIES_WITHIN).await;
        let posted = stack.texts(&space).await.split_off(1);
        Some(Outcome { stack, run, posted })
    }

    /// Checks that text streams while the model writes, and that the message replaces it. Returns
    /// the two requests, or `None` if the test is skipped.
    pub(crate) async fn check_streaming(&self) -> Option<[ModelRequest; 2]> {
        let stack = self.stack().await?;
        let gate = Gate::closed();
        let held = say_held("Hello wor", &gate, "ld, at last.");
        stack.model.plays(self.model, [answer([think("Let me greet."), held]), stop()]);
        let (person, agent, space) = self.team(&stack, self.model).await;
        let socket = stack.socket_of(&person).await;
        socket.subscribe(&space, None).await;
        let question = stack.post(&space, &person, "Hello there.").await;

        socket
            .shows(&space, "the text so far", SOON, |view| {
                (view.live() == ["Hello wor"]).then_some(())
            })
            .await;
        gate.open();
        let shown = socket
            .shows(&space, "the message", SOON, |view| {
                (view.messages.len() == 2).then(|| view.clone())
            })
            .await;
        assert_eq!(
            (shown.texts(), shown.live()),
            (vec!["Hello there.", "Hello world, at last."], vec![])
        );

        let run = stack.ended(&triggered_run(&question, &agent).unwrap(), SOON).await;
        self.assert_run(&run, &stack.model.name(self.model));
        let requests: [_; 2] = stack.model.requests(self.model).try_into().unwrap();
        self.assert_requests(&requests);
        Some(requests)
    }

    /// Checks the run of [`Self::check_streaming`].
    fn assert_run(&self, run: &Value, model: &str) {
        assert_eq!(
            (run["status"].as_str(), run["endReason"].as_str()),
            (Some("completed"), Some("done")),
            "{run}"
        );
        let step = &run["steps"][0];
        assert_eq!(step["model"], format!("{}/{model}", self.name));
        assert_eq!(
            (&step["text"], &step["finishReason"]),
            (&json!("Let me greet."), &json!("tool_calls"))
        );
        let usage = &run["usage"];
        assert_eq!(usage["outputTokens"], 24, "12 tokens for each of two answers: {usage}");
    }

    /// Checks the requests of [`Self::check_streaming`].
    fn assert_requests(&self, [first, second]: &[ModelRequest; 2]) {
        assert_eq!((first.api, second.api), (self.api, self.api));
        assert_eq!(first.trigger_text(), "Hello there.");
        assert_eq!(
            first.system().block("IDENTITY")[0].split(" (").next(),
            Some("IDENTITY: \"Ada\""),
            "the system prompt names the agent"
        );
        let tools = first.tools();
        assert!(tools.is_sorted(), "{tools:?}");
        for tool in ["enter_space", "read_messages", "send_message", "skip_response"] {
            assert!(tools.contains(&tool), "{tool} is missing in {tools:?}");
        }
        let results = second.results();
        assert_eq!(
            results[0]["status"], "delivered",
            "the second step has the results of the first: {results:?}"
        );
    }

    /// Checks that invalid tool calls go back to the model as errors.
    pub(crate) async fn check_invalid_calls(&self) {
        let wrong = answer([
            raw_call("send_message", "{\"text\": \"half of wh"),
            call("dance", json!({})),
            raw_call("read_messages", ""),
        ]);
        let answers = vec![wrong, say("Better.").into(), stop()];
        let Some(outcome) = self.outcome(answers).await else { return };
        outcome.assert_posted("Better.");
        let results = outcome.stack.model.requests(self.model)[1].results();
        assert!(
            results[0]["error"].as_str().unwrap().contains("JSON")
                && results[1]["error"].as_str().unwrap().contains("dance"),
            "{results:?}"
        );
        let read = Prompt::of_result(&results[2]).timeline();
        assert_eq!(read[0].text, "Hello there.", "{results:?}");
    }

    /// Checks that a rate limit, an overload and a late error are retried.
    pub(crate) async fn check_retries(&self) {
        let late = answer([say("A text that is long enough to be cut.")]).fails_after(6);
        let answers =
            vec![http_retry(429, 1), http(self.overload), late, say("Here.").into(), stop()];
        let Some(outcome) = self.outcome(answers).await else { return };
        outcome.assert_posted("Here.");
        let requests = outcome.stack.model.requests(self.model);
        let waited = requests[1].at.duration_since(requests[0].at);
        let in_time = waited >= Duration::from_millis(990);
        assert!(in_time, "Retry-After is 1 s, but the retry came after {waited:?}");
    }

    /// Checks that other errors fail the run at once, and that the run does not show the key.
    pub(crate) async fn check_fatal_errors(&self) {
        for (status, code) in self.fatal {
            let answers = vec![http(*status), say("Never.").into()];
            let Some(Outcome { stack, run, posted }) = self.outcome(answers).await else { return };
            assert_eq!(
                (run["status"].as_str(), run["error"]["code"].as_str()),
                (Some("failed"), Some(*code)),
                "{run}"
            );
            assert_eq!((stack.model.requests(self.model).len(), posted.len()), (1, 0));
            assert!(!run.to_string().contains(KEY), "the key shows: {run}");
        }
    }

    /// Checks that an answer that breaks off is retried, and that its message is posted once.
    pub(crate) async fn check_cut_answers(&self) {
        let text = "A text that is long enough to be cut.";
        for cut in [answer([say(text)]).cut_after(6), answer([say(text)]).ends_after(6)] {
            let answers = vec![cut, say(text).into(), stop()];
            let Some(outcome) = self.outcome(answers).await else { return };
            outcome.assert_posted(text);
            assert_eq!(outcome.stack.model.requests(self.model).len(), 3);
        }
    }
}

#[tokio::test]
async fn a_step_says_where_its_answer_comes_from() {
    let stack = Stack::start().await;
    stack.model.plays("ada", [stop()]);
    let (person, agent, space) = stack.pair().await;
    let message = stack.post(&space, &person, "Hello?").await;
    let run = stack.ended(&triggered_run(&message, &agent).unwrap(), SOON).await;
    let origin = &run["steps"][0]["origin"];
    assert_eq!(origin["responseId"], "chatcmpl-test", "{run}");
    assert!(origin["responseModel"].is_string() && origin["server"].is_string(), "{origin}");
}
