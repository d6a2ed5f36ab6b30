mod refusals;

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
    let input = |index, json: &str| Ok(Piece::CallInput { index, json: json.to_owned() });
    vec![
        Ok(Piece::Text("Grüße".to_owned())),
        started(0, "f"),
        input(0, "{\"a\":\"😀"),
        input(0, "\"}"),
        started(1, "g"),
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

#[tokio::test]
async fn a_request_is_signed_and_its_body_is_sent_unchanged() {
    let provider = Provider::start(reply(all())).await;
    assert_eq!(ask(&bedrock(&provider.address)).await, whole());
    let all = provider.received();
    let [received] = &all[..] else { panic!("{all:?}") };
    let path = "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream";
    assert_eq!(received.path, path);
    assert_eq!(received.body, serde_json::to_value(RequestBody::new(&request())).unwrap());
    let [("authorization", signature)] = &received.headers[..] else {
        panic!("{:?}", received.headers)
    };
    let signed = signature.starts_with("AWS4-HMAC-SHA256 Credential=AKIATEST/")
        && signature.contains("/eu-central-1/bedrock/aws4_request");
    assert!(signed, "{signature}");
}

#[tokio::test]
async fn the_sdk_neither_retries_nor_times_out() {
    let short = TimeoutConfig::builder()
        .read_timeout(Duration::from_secs(1))
        .operation_timeout(Duration::from_secs(2))
        .operation_attempt_timeout(Duration::from_secs(3))
        .build();
    let client = client(
        &config("http://localhost", credentials()).into_builder().timeout_config(short).build(),
    )
    .unwrap();
    let timeouts = client.config().timeout_config().unwrap();
    assert_eq!(
        (timeouts.connect_timeout(), timeouts.read_timeout()),
        (Some(Duration::from_secs(10)), None)
    );
    assert_eq!((timeouts.operation_timeout(), timeouts.operation_attempt_timeout()), (None, None));
    assert!(!client.config().stalled_stream_protection().unwrap().is_enabled());
    let refused = Provider::start(Reply::refusal(503, "{}")).await;
    ask(&bedrock(&refused.address)).await.unwrap_err();
    assert_eq!(refused.received().len(), 1);
}

#[tokio::test]
async fn an_answer_that_breaks_off_ends_with_an_error() {
    let early = || broken("the answer ended before it was complete");
    assert_eq!(answer(reply(events())).await, with(early()));
    assert_eq!(answer(reply([events(), metadata()].concat())).await, with(early()));
    assert_eq!(
        answer(reply(events()).then(Part::Break)).await,
        with(broken("the connection broke"))
    );
    assert_eq!(answer(reply([events(), end()[..20].to_vec()].concat())).await, with(early()));
    let not_json =
        frame(&[(":message-type", "event"), (":event-type", "contentBlockStop")], "{\"con");
    assert_eq!(
        answer(reply([events(), not_json, end()].concat())).await,
        with(broken("the provider sent an event that is not part of an answer"))
    );
    let mut damaged = end();
    damaged[30] ^= 1;
    assert_eq!(
        answer(reply([events(), damaged].concat())).await,
        with(broken("the provider sent an invalid event stream"))
    );
    // The first bytes of the page are read as the length of an event, which never arrives.
    assert_eq!(
        answer(Reply::refusal(200, "<html>Hello, this is a proxy.</html>")).await,
        Ok(vec![early()])
    );
}

#[tokio::test]
async fn an_answer_has_a_size_limit() {
    let word = event(
        "contentBlockDelta",
        json!({"contentBlockIndex": 0, "delta": {"text": "x".repeat(1 << 20)}}),
    );
    let parts = vec![Part::Bytes(word); 33];
    let answer = answer(Reply { parts, ..reply(Vec::new()) }).await.unwrap();
    assert_eq!(answer.last(), Some(&broken("the answer is too long")));
}

#[tokio::test]
async fn an_answer_ends_at_its_token_counts_or_with_its_connection() {
    assert_eq!(answer(reply(all()).then(Part::Silence)).await, whole());
    // Without the last event only the token counts are missing.
    for last in [
        Part::Break,
        Part::Bytes(Vec::new()),
        Part::Bytes(exception("internalServerException", "Too late.")),
    ] {
        let usage = Usage { input_tokens: 24, output_tokens: 5, ..Usage::default() };
        let answered = answer(reply([events(), end()].concat()).then(last)).await;
        assert_eq!(answered, with(Ok(Piece::Finished { reason: FinishReason::ToolCalls, usage })));
    }
}

#[tokio::test]
async fn a_silent_answer_ends_with_a_timeout_and_hidden_reasoning_ends_a_silence() {
    let provider = Provider::start(reply(events()).then(Part::Silence)).await;
    let mut answer = Limits::default().ask(&bedrock(&provider.address), &request()).await.unwrap();
    let count = pieces_of_events().len();
    assert_eq!(answer.by_ref().take(count).collect::<Vec<_>>().await, pieces_of_events());
    // From here on only time passes, so the clock can be paused and advanced at once.
    tokio::time::pause();
    assert_eq!(answer.collect::<Vec<_>>().await, [broken("the model sent nothing for 60s")]);
    tokio::time::resume();
    let thinking = event(
        "contentBlockDelta",
        json!({"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "Hm."}}}),
    );
    let provider = Provider::start(reply(thinking).then(Part::Silence)).await;
    let mut answer = bedrock(&provider.address).ask(&request()).await.unwrap();
    assert_eq!(answer.next().await, Some(Ok(Piece::Text(String::new()))));
}

#[tokio::test]
async fn an_error_in_the_stream_gets_the_same_code_as_a_refusal() {
    for (kind, code) in [
        ("throttlingException", FailureCode::RateLimited),
        ("serviceUnavailableException", FailureCode::Overloaded),
        ("internalServerException", FailureCode::Overloaded),
        ("modelTimeoutException", FailureCode::Overloaded),
        ("modelStreamErrorException", FailureCode::BrokenStream),
        ("validationException", FailureCode::BadRequest),
        ("accessDeniedException", FailureCode::Unauthorized),
        ("ofNextYear", FailureCode::BrokenStream),
    ] {
        let error = Err(ModelError::new(code, format!("the provider answered with {kind}: No.")));
        assert_eq!(
            answer(reply([events(), exception(kind, "No.")].concat())).await,
            with(error),
            "{kind}"
        );
    }
    let too_long = Err(ModelError::new(
        FailureCode::ContextTooLong,
        "the provider answered with validationException: Input is too long.",
    ));
    assert_eq!(
        answer(reply([events(), exception("validationException", "Input is too long.")].concat()))
            .await,
        with(too_long)
    );
    let unmodeled = frame(
        &[
            (":message-type", "error"),
            (":error-code", "InternalFailure"),
            (":error-message", "No."),
        ],
        "",
    );
    let error = broken("the provider answered with InternalFailure: No.");
    assert_eq!(answer(reply([events(), unmodeled].concat())).await, with(error));
}
