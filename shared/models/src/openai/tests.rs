mod refusals;
mod requests;

use std::time::Duration;

use serde_json::json;
use smartspace_domain::{
    providers::ProviderApi,
    runs::{FailureCode, Usage},
    steps::FinishReason,
};

use super::*;
use crate::{
    http,
    limits::Limits,
    port::Piece,
    provider::{Part, Provider, ReceivedRequest, Reply},
    samples,
};

const KEY: &str = "sk-secret";

/// An answer with text and two calls whose inputs interleave.
const EVENTS: &str = concat!(
    ": keep-alive\n\n",
    r#"data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""},"#,
    r#""finish_reason":null}],"usage":null}"#,
    "\n\n",
    r#"data: {"choices":[{"index":0,"delta":{"content":"Grüße"},"#,
    r#""finish_reason":null}],"usage":null}"#,
    "\r\n\r\n",
    r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_a","#,
    r#""type":"function","function":{"name":"f","arguments":""}}]}}]}"#,
    "\n\n",
    r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_b","#,
    r#""function":{"name":"g","arguments":"{"}}]}}]}"#,
    "\n\n",
    r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"#,
    r#""function":{"arguments":"{\"a\":\"😀"}}]}}]}"#,
    "\n\n",
    r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"#,
    r#""function":{"arguments":"}"}},{"index":0,"function":{"arguments":"\"}"}}]}}]}"#,
    "\n\n",
);
const END: &str = concat!(
    r#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
    "\n\n",
    r#"data: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"#,
    r#""prompt_tokens_details":{"cached_tokens":64}}}"#,
    "\n\n",
);
const DONE: &str = "data: [DONE]\n\n";

fn pieces() -> Vec<Result<Piece, ModelError>> {
    let started = |index, name: &str| Ok(Piece::CallStarted { index, name: name.to_owned() });
    let id = |index, id: &str| Ok(Piece::CallId { index, id: id.to_owned() });
    let input = |index, json: &str| Ok(Piece::CallInput { index, json: json.to_owned() });
    vec![
        Ok(Piece::Text("Grüße".to_owned())),
        started(0, "f"),
        id(0, "call_a"),
        started(1, "g"),
        id(1, "call_b"),
        input(1, "{"),
        input(0, "{\"a\":\"😀"),
        input(1, "}"),
        input(0, "\"}"),
    ]
}

fn finished() -> Piece {
    let usage =
        Usage { input_tokens: 100, cached_tokens: 64, output_tokens: 20, ..Usage::default() };
    Piece::Finished { reason: FinishReason::ToolCalls, usage }
}

fn broken(text: &str) -> Result<Piece, ModelError> {
    Err(ModelError::new(FailureCode::BrokenStream, text))
}

fn whole() -> Vec<Result<Piece, ModelError>> {
    [pieces(), vec![Ok(finished())]].concat()
}

fn openai(key: Option<&str>, base: Option<&str>) -> OpenAi {
    let entry = ProviderEntry::of(ProviderApi::Openai).with(key, base);
    OpenAi::new(http::client().no_proxy().build().unwrap(), &ProviderApi::Openai.into(), &entry)
}

/// Asks through the limits, which remove the signs of life.
async fn ask_under(
    limits: Limits,
    openai: &OpenAi,
) -> Result<Vec<Result<Piece, ModelError>>, ModelError> {
    Ok(limits.ask(openai, &samples::request()).await?.collect().await)
}

async fn answer(reply: Reply) -> Result<Vec<Result<Piece, ModelError>>, ModelError> {
    let provider = Provider::start(reply).await;
    ask_under(Limits::default(), &openai(Some(KEY), Some(&provider.address))).await
}

#[tokio::test]
async fn an_answer_may_arrive_in_chunks_of_any_size() {
    let all = [EVENTS, END, DONE].concat();
    for size in [1, 2, 3, 7, 64, all.len()] {
        assert_eq!(answer(Reply::events(&all).cut(size)).await, Ok(whole()), "{size}");
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_ends_with_an_error() {
    let with = |last| Ok([pieces(), vec![last]].concat());
    assert_eq!(
        answer(Reply::events(EVENTS)).await,
        with(broken("the answer ended before it was complete"))
    );
    assert_eq!(
        answer(Reply::events(EVENTS).then(Part::Break)).await,
        with(broken("the connection broke"))
    );
    let not_json = [EVENTS, "data: {\"cho\n\n", END, DONE].concat();
    assert_eq!(
        answer(Reply::events(&not_json)).await,
        with(broken("the provider sent an event that is not JSON"))
    );
    let page = Reply::refusal(200, "<html>Hello</html>");
    assert_eq!(answer(page).await, Ok(vec![broken("the answer ended before it was complete")]));
}

#[tokio::test]
async fn a_complete_answer_does_not_depend_on_the_end_of_its_connection() {
    assert_eq!(answer(Reply::events(&[EVENTS, END].concat())).await, Ok(whole()));
    assert_eq!(answer(Reply::events(&[EVENTS, END].concat()).then(Part::Break)).await, Ok(whole()));
    // `[DONE]` is an end, too, even without a reason. Then nothing counts the tokens.
    let mut all = answer(Reply::events(&[EVENTS, DONE].concat())).await.unwrap();
    let last = all.pop();
    let tool_calls = FinishReason::ToolCalls;
    assert!(
        matches!(last, Some(Ok(Piece::Finished { reason, .. })) if reason == tool_calls),
        "{last:?}"
    );
    assert_eq!(all, pieces());
    assert_eq!(
        answer(Reply::events(&[EVENTS, END, DONE].concat()).then(Part::Silence)).await,
        Ok(whole())
    );
}

#[tokio::test]
async fn a_silent_answer_ends_with_a_timeout() {
    for (reply, expected) in
        [(Reply::events(EVENTS), pieces()), (Reply { parts: vec![], ..Reply::events("") }, vec![])]
    {
        let provider = Provider::start(reply.then(Part::Silence)).await;
        let openai = openai(Some(KEY), Some(&provider.address));
        let mut answer = Limits::default().ask(&openai, &samples::request()).await.unwrap();
        assert_eq!(answer.by_ref().take(expected.len()).collect::<Vec<_>>().await, expected);
        // From here on only time passes, so the clock can be paused and advanced at once.
        tokio::time::pause();
        assert_eq!(answer.collect::<Vec<_>>().await, [broken("the model sent nothing for 60s")]);
        tokio::time::resume();
    }
}
