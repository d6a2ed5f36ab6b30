//! Agents with Anthropic models.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    model::{
        Answer, Api, Gate, KEY, answer, call, http, http_retry, raw_call, say, say_held, stop,
        think,
    },
    routes::triggered_run,
    stack::Stack,
    waiting::SOON,
};

/// The time limit of a run whose model fails. Each retry waits longer than the one before.
const RETRIES_WITHIN: Duration = Duration::from_mins(1);

/// Creates a person, an agent with the Anthropic model `ada`, and their space.
async fn team(stack: &Stack) -> (String, String, String) {
    let person = stack.person("Husam").await;
    let model =
        json!({ "provider": "anthropic", "name": stack.model.name("ada"), "temperature": 1.5 });
    let agent = stack.agent_with("Ada", json!({ "model": model })).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    (person, agent, space)
}

/// Posts a question and waits for the end of the run. Returns the run and the messages of the
/// agent.
async fn outcome(answers: Vec<Answer>) -> (Stack, Value, Vec<String>) {
    let stack = Stack::start().await;
    stack.model.plays("ada", answers);
    let (person, agent, space) = team(&stack).await;
    let question = stack.post(&space, &person, "Hello?").await;
    let run = stack.ended(&triggered_run(&question, &agent).unwrap(), RETRIES_WITHIN).await;
    let said = stack.texts(&space).await.split_off(1);
    (stack, run, said)
}

#[tokio::test]
async fn text_streams_while_the_model_writes_and_the_message_replaces_it() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    stack.model.plays(
        "ada",
        [answer([think("Let me greet."), say_held("Hello wor", &gate, "ld, at last.")]), stop()],
    );
    let (person, agent, space) = team(&stack).await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    let question = stack.post(&space, &person, "Hello?").await;

    socket
        .shows(&space, "the text so far", SOON, |view| (view.live() == ["Hello wor"]).then_some(()))
        .await;
    gate.open();
    let shown = socket
        .shows(&space, "the message", SOON, |view| (view.messages.len() == 2).then(|| view.clone()))
        .await;
    assert_eq!((shown.texts(), shown.live()), (vec!["Hello?", "Hello world, at last."], vec![]));

    let run = stack.ended(&triggered_run(&question, &agent).unwrap(), SOON).await;
    assert_eq!(
        (run["status"].as_str(), run["endReason"].as_str()),
        (Some("completed"), Some("done")),
        "{run}"
    );
    assert_eq!(run["steps"][0]["model"], format!("anthropic/{}", stack.model.name("ada")));
    assert_eq!(
        (&run["steps"][0]["text"], &run["steps"][0]["finishReason"]),
        (&json!("Let me greet."), &json!("tool_calls"))
    );
    let usage = &run["usage"];
    assert_eq!(usage["outputTokens"], 24, "12 tokens for each of two answers: {usage}");

    let requests = stack.model.requests("ada");
    assert_eq!((requests.len(), requests[0].api), (2, Api::Anthropic));
    assert_eq!(requests[0].trigger_text(), "Hello?");
    assert_eq!(
        requests[0].system().field("IDENTITY", "name").as_deref(),
        Some("\"Ada\""),
        "the system prompt names the agent"
    );
    assert!(requests[0].tools().is_sorted(), "{:?}", requests[0].tools());
    for tool in ["enter_space", "read_messages", "send_message", "skip_response"] {
        assert!(
            requests[0].tools().contains(&tool),
            "{tool} is missing in {:?}",
            requests[0].tools()
        );
    }
    assert_eq!(
        requests[1].results()[0]["status"],
        "delivered",
        "the second step has the results of the first: {:?}",
        requests[1].results()
    );
}

#[tokio::test]
async fn invalid_tool_calls_go_back_to_the_model_as_errors() {
    let wrong = answer([
        raw_call("send_message", "{\"text\": \"half of wh"),
        call("dance", json!({})),
        raw_call("read_messages", ""),
    ]);
    let (stack, run, said) = outcome(vec![wrong, say("Better.").into(), stop()]).await;
    assert_eq!(
        (run["status"].as_str(), said),
        (Some("completed"), vec!["Better.".to_owned()]),
        "{run}"
    );
    let results = stack.model.requests("ada")[1].results();
    assert!(
        results[0]["error"].as_str().unwrap().contains("JSON")
            && results[1]["error"].as_str().unwrap().contains("dance"),
        "{results:?}"
    );
    assert_eq!(results[2]["messages"][0]["text"], "Hello?", "{results:?}");
}

#[tokio::test]
async fn a_rate_limit_and_an_overload_are_retried_after_a_delay() {
    let late = answer([say("A text that is long enough to be cut.")]).fails_after(6);
    let (stack, run, said) =
        outcome(vec![http_retry(429, 1), http(529), late, say("Here.").into(), stop()]).await;
    assert_eq!(
        (run["status"].as_str(), said),
        (Some("completed"), vec!["Here.".to_owned()]),
        "{run}"
    );
    let requests = stack.model.requests("ada");
    let waited = requests[1].at.duration_since(requests[0].at);
    let in_time = waited >= Duration::from_millis(990);
    assert!(in_time, "Retry-After is 1 s, but the retry came after {waited:?}");
}

#[tokio::test]
async fn an_error_without_retry_fails_the_run_at_once_and_does_not_show_the_key() {
    for (status, code) in
        [(400, "bad_request"), (401, "unauthorized"), (403, "unauthorized"), (404, "bad_request")]
    {
        let (stack, run, said) = outcome(vec![http(status), say("Never.").into()]).await;
        assert_eq!(
            (run["status"].as_str(), run["error"]["code"].as_str()),
            (Some("failed"), Some(code)),
            "{run}"
        );
        assert_eq!((stack.model.requests("ada").len(), said.len()), (1, 0));
        assert!(!run.to_string().contains(KEY), "the key shows: {run}");
    }
}

#[tokio::test]
async fn a_cut_answer_is_retried_and_posted_once() {
    let text = "A text that is long enough to be cut.";
    for cut in [answer([say(text)]).cut_after(6), answer([say(text)]).ends_after(6)] {
        let (stack, run, said) = outcome(vec![cut, say(text).into(), stop()]).await;
        assert_eq!(
            (run["status"].as_str(), said),
            (Some("completed"), vec![text.to_owned()]),
            "{run}"
        );
        assert_eq!(stack.model.requests("ada").len(), 3);
    }
}
