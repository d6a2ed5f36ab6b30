mod ends;
mod refusals;
mod requests;

use std::time::Duration;

use aws_config::{BehaviorVersion, Region};
use aws_credential_types::{Credentials, provider::SharedCredentialsProvider};
use aws_sdk_bedrockruntime::{
    config::ProvideCredentials,
    primitives::event_stream::{Header, HeaderValue, Message},
};
use aws_smithy_eventstream::frame::write_message_to;
use serde_json::{Value, json};
use smartspace_domain::{agents::ModelConfig, runs::Usage, steps::FinishReason};

use super::*;
use crate::{
    limits::Limits,
    provider::{Part, Provider, Reply},
    samples,
};

const MODEL: &str = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const TOKEN: &str = "session-token-of-a-test";

/// One message in the encoding of AWS event streams.
fn frame(headers: &[(&'static str, &str)], payload: &str) -> Vec<u8> {
    let header = |(name, value): &(&'static str, &str)| {
        Header::new(*name, HeaderValue::String((*value).to_owned().into()))
    };
    let message = headers
        .iter()
        .map(header)
        .fold(Message::new(payload.as_bytes().to_vec()), Message::add_header);
    let mut frame = Vec::new();
    write_message_to(&message, &mut frame).unwrap();
    frame
}

fn event(kind: &str, payload: Value) -> Vec<u8> {
    let headers =
        [(":message-type", "event"), (":event-type", kind), (":content-type", "application/json")];
    frame(&headers, &payload.to_string())
}

fn exception(kind: &str, message: &str) -> Vec<u8> {
    let headers = [
        (":message-type", "exception"),
        (":exception-type", kind),
        (":content-type", "application/json"),
    ];
    frame(&headers, &json!({"message": message}).to_string())
}

/// An answer with text and two calls, the second of them without input.
fn events() -> Vec<u8> {
    let delta = |block: u32, delta: Value| {
        event(
            "contentBlockDelta",
            json!({"contentBlockIndex": block, "delta": delta, "p": "abcdef"}),
        )
    };
    let call = |block: u32, name: &str| {
        let start = json!({"toolUse": {"toolUseId": format!("tooluse_{block}"), "name": name}});
        event("contentBlockStart", json!({"contentBlockIndex": block, "start": start}))
    };
    let stop = |block: u32| event("contentBlockStop", json!({"contentBlockIndex": block}));
    [
        event("messageStart", json!({"role": "assistant"})),
        delta(0, json!({"text": "Grüße"})),
        stop(0),
        event("ofNextYear", json!({"a": 1})),
        call(1, "f"),
        delta(1, json!({"toolUse": {"input": "{\"a\":\"😀"}})),
        delta(1, json!({"toolUse": {"input": "\"}"}})),
        stop(1),
        call(2, "g"),
        stop(2),
    ]
    .concat()
}

fn end() -> Vec<u8> {
    event("messageStop", json!({"stopReason": "tool_use"}))
}

fn metadata() -> Vec<u8> {
    let usage = json!({
        "inputTokens": 6,
        "outputTokens": 20,
        "totalTokens": 120,
        "cacheReadInputTokens": 64,
        "cacheWriteInputTokens": 30,
    });
    event("metadata", json!({"usage": usage, "metrics": {"latencyMs": 100}}))
}

fn all() -> Vec<u8> {
    [events(), end(), metadata()].concat()
}

fn reply(bytes: Vec<u8>) -> Reply {
    Reply {
        status: 200,
        headers: vec![("content-type", "application/vnd.amazon.eventstream")],
        parts: vec![Part::Bytes(bytes)],
    }
}

fn pieces_of_events() -> Vec<Result<Piece, ModelError>> {
    let started = |index, name: &str| Ok(Piece::CallStarted { index, name: name.to_owned() });
    let id = |index, id: &str| Ok(Piece::CallId { index, id: id.to_owned() });
    let input = |index, json: &str| Ok(Piece::CallInput { index, json: json.to_owned() });
    vec![
        Ok(Piece::Text("Grüße".to_owned())),
        started(0, "f"),
        id(0, "tooluse_1"),
        input(0, "{\"a\":\"😀"),
        input(0, "\"}"),
        started(1, "g"),
        id(1, "tooluse_2"),
        input(1, "{}"),
    ]
}

#[expect(clippy::unnecessary_wraps, reason = "tests compare it with the result of `answer`")]
fn with(last: Result<Piece, ModelError>) -> Result<Vec<Result<Piece, ModelError>>, ModelError> {
    Ok([pieces_of_events(), vec![last]].concat())
}

fn whole() -> Result<Vec<Result<Piece, ModelError>>, ModelError> {
    let usage = Usage {
        input_tokens: 100,
        cached_tokens: 64,
        cache_write_tokens: 30,
        output_tokens: 20,
        ..Usage::default()
    };
    with(Ok(Piece::Finished { reason: FinishReason::ToolCalls, usage }))
}

fn config(address: &str, credentials: impl ProvideCredentials + 'static) -> SdkConfig {
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("eu-central-1"))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .endpoint_url(address)
        .build()
}

fn credentials() -> Credentials {
    Credentials::new("AKIATEST", "secret", Some(TOKEN.to_owned()), None, "a test")
}

fn bedrock(address: &str) -> Bedrock {
    Bedrock::with(config(address, credentials()))
}

fn request() -> Request {
    Request {
        model: ModelConfig { name: MODEL.to_owned(), ..samples::request().model },
        ..samples::request()
    }
}

/// Asks through the limits, which remove the signs of life.
async fn ask(bedrock: &Bedrock) -> Result<Vec<Result<Piece, ModelError>>, ModelError> {
    Ok(Limits::default().ask(bedrock, &request()).await?.collect().await)
}

async fn answer(reply: Reply) -> Result<Vec<Result<Piece, ModelError>>, ModelError> {
    let provider = Provider::start(reply).await;
    ask(&bedrock(&provider.address)).await
}

fn broken(text: &str) -> Result<Piece, ModelError> {
    Err(ModelError::new(FailureCode::BrokenStream, text))
}

#[tokio::test]
async fn an_answer_may_arrive_in_chunks_of_any_size() {
    for size in [1, 2, 3, 7, 64, all().len()] {
        assert_eq!(answer(reply(all()).cut(size)).await, whole(), "{size}");
    }
}
