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

const KEY: &str = "sk-ant-secret";

/// An answer with text and two calls, the second of them without input.
const EVENTS: &str = concat!(
    "event: message_start\n",
    r#"data: {"type":"message_start","message":{"id":"msg_1","type":"message","#,
    r#""role":"assistant","model":"claude-x","content":[],"stop_reason":null,"#,
    r#""stop_sequence":null,"usage":{"input_tokens":36,"cache_creation_input_tokens":0,"#,
    r#""cache_read_input_tokens":64,"output_tokens":1}}}"#,
    "\n\n",
    "event: content_block_start\n",
    r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    "\n\n",
    "event: ping\n",
    r#"data: {"type": "ping"}"#,
    "\n\n",
    "event: content_block_delta\n",
    r#"data: {"type":"content_block_delta","index":0,"#,
    r#""delta":{"type":"text_delta","text":"Grüße"}}"#,
    "\r\n\r\n",
    "event: content_block_stop\n",
    r#"data: {"type":"content_block_stop","index":0}"#,
    "\n\n",
    "event: content_block_start\n",
    r#"data: {"type":"content_block_start","index":1,"#,
    r#""content_block":{"type":"tool_use","id":"toolu_1","name":"f","input":{}}}"#,
    "\n\n",
    "event: content_block_delta\n",
    r#"data: {"type":"content_block_delta","index":1,"#,
    r#""delta":{"type":"input_json_delta","partial_json":"{\"a\":\"😀"}}"#,
    "\n\n",
    "event: content_block_delta\n",
    r#"data: {"type":"content_block_delta","index":1,"#,
    r#""delta":{"type":"input_json_delta","partial_json":"\"}"}}"#,
    "\n\n",
    "event: content_block_stop\n",
    r#"data: {"type":"content_block_stop","index":1}"#,
    "\n\n",
    "event: content_block_start\n",
    r#"data: {"type":"content_block_start","index":2,"#,
    r#""content_block":{"type":"tool_use","id":"toolu_2","name":"g","input":{}}}"#,
    "\n\n",
    "event: content_block_stop\n",
    r#"data: {"type":"content_block_stop","index":2}"#,
    "\n\n",
);
const END: &str = concat!(
    "event: message_delta\n",
    r#"data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"#,
    r#""usage":{"output_tokens":20}}"#,
    "\n\n",
);
const STOP: &str = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

fn pieces() -> Vec<Result<Piece, ModelError>> {
    let started = |index, name: &str| Ok(Piece::CallStarted { index, name: name.to_owned() });
    let id = |index, id: &str| Ok(Piece::CallId { index, id: id.to_owned() });
    let input = |index, json: &str| Ok(Piece::CallInput { index, json: json.to_owned() });
    vec![
        Ok(Piece::Text("Grüße".to_owned())),
        started(0, "f"),
        id(0, "toolu_1"),
        input(0, "{\"a\":\"😀"),
        input(0, "\"}"),
        started(1, "g"),
        id(1, "toolu_2"),
        input(1, "{}"),
    ]
}

fn whole() -> Vec<Result<Piece, ModelError>> {
    let usage =
        Usage { input_tokens: 100, cached_tokens: 64, output_tokens: 20, ..Usage::default() };
    let (id, model) = (Some("msg_1".to_owned()), Some("claude-x".to_owned()));
    let end = Piece::Finished { reason: FinishReason::ToolCalls, usage };
    [pieces(), vec![Ok(Piece::Origin { id, model }), Ok(end)]].concat()
}

fn broken(text: &str) -> Result<Piece, ModelError> {
    Err(ModelError::new(FailureCode::BrokenStream, text))
}

fn anthropic(key: Option<&str>, base: Option<&str>) -> Anthropic {
    let entry = ProviderEntry::of(ProviderApi::Anthropic).with(key, base);
    let http = http::client().no_proxy().build().unwrap();
    Anthropic::new(http, &ProviderApi::Anthropic.into(), &entry)
}

/// Asks through the limits, which remove the signs of life.
async fn ask(anthropic: &Anthropic) -> Result<Vec<Result<Piece, ModelError>>, ModelError> {
    Ok(Limits::default().ask(anthropic, &samples::request()).await?.collect().await)
}

async fn answer(reply: Reply) -> Result<Vec<Result<Piece, ModelError>>, ModelError> {
    let provider = Provider::start(reply).await;
    ask(&anthropic(Some(KEY), Some(&provider.address))).await
}

#[tokio::test]
async fn an_answer_may_arrive_in_chunks_of_any_size() {
    let all = [EVENTS, END, STOP].concat();
    for size in [1, 2, 3, 7, 64, all.len()] {
        assert_eq!(answer(Reply::events(&all).cut(size)).await, Ok(whole()), "{size}");
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_ends_with_an_error() {
    let with = |last| Ok([pieces(), vec![last]].concat());
    let early = || broken("the answer ended before it was complete");
    assert_eq!(answer(Reply::events(EVENTS)).await, with(early()));
    assert_eq!(answer(Reply::events(&[EVENTS, END].concat())).await, with(early()));
    assert_eq!(answer(Reply::events(&[EVENTS, STOP].concat())).await, with(early()));
    assert_eq!(
        answer(Reply::events(EVENTS).then(Part::Break)).await,
        with(broken("the connection broke"))
    );
    assert_eq!(
        answer(Reply::events(&[EVENTS, END].concat()).then(Part::Break)).await,
        with(broken("the connection broke"))
    );
    let not_json = [EVENTS, "data: {\"ty\n\n", END, STOP].concat();
    assert_eq!(
        answer(Reply::events(&not_json)).await,
        with(broken("the provider sent an event that is not JSON"))
    );
    assert_eq!(answer(Reply::refusal(200, "<html>Hello</html>")).await, Ok(vec![early()]));
}

#[tokio::test]
async fn an_answer_ends_at_message_stop() {
    assert_eq!(
        answer(Reply::events(&[EVENTS, END, STOP].concat()).then(Part::Silence)).await,
        Ok(whole())
    );
    // An event without its fields says nothing.
    let empty = [EVENTS, "data: {\"type\":\"content_block_delta\"}\n\n", END, STOP].concat();
    assert_eq!(answer(Reply::events(&empty)).await, Ok(whole()));
    assert_eq!(
        answer(Reply::events(&[EVENTS, END, STOP, "data: nonsense\n\n"].concat())).await,
        Ok(whole())
    );
}

#[tokio::test]
async fn a_silent_answer_ends_with_a_timeout_and_pings_end_a_silence() {
    let provider = Provider::start(Reply::events(EVENTS).then(Part::Silence)).await;
    let mut answer = Limits::default()
        .ask(&anthropic(None, Some(&provider.address)), &samples::request())
        .await
        .unwrap();
    assert_eq!(answer.by_ref().take(pieces().len()).collect::<Vec<_>>().await, pieces());
    // From here on only time passes, so the clock can be paused and advanced at once.
    tokio::time::pause();
    assert_eq!(answer.collect::<Vec<_>>().await, [broken("the model sent nothing for 60s")]);
    tokio::time::resume();
    let provider = Provider::start(
        Reply::events("event: ping\ndata: {\"type\": \"ping\"}\n\n").then(Part::Silence),
    )
    .await;
    let mut answer =
        anthropic(None, Some(&provider.address)).ask(&samples::request()).await.unwrap();
    assert_eq!(answer.next().await, Some(Ok(Piece::Text(String::new()))));
}
