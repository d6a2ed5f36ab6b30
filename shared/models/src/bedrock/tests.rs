use std::time::Duration;

use aws_config::{BehaviorVersion, Region};
use aws_credential_types::{
    Credentials,
    provider::{SharedCredentialsProvider, error::CredentialsError, future::ProvideCredentials as Provided},
};
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

/// One message in AWS's own encoding.
fn frame(headers: &[(&'static str, &str)], payload: &str) -> Vec<u8> {
    let header = |(name, value): &(&'static str, &str)| Header::new(*name, HeaderValue::String((*value).to_owned().into()));
    let message = headers.iter().map(header).fold(Message::new(payload.as_bytes().to_vec()), Message::add_header);
    let mut frame = Vec::new();
    write_message_to(&message, &mut frame).unwrap();
    frame
}

fn event(kind: &str, payload: Value) -> Vec<u8> {
    let headers = [(":message-type", "event"), (":event-type", kind), (":content-type", "application/json")];
    frame(&headers, &payload.to_string())
}

fn exception(kind: &str, message: &str) -> Vec<u8> {
    let headers = [(":message-type", "exception"), (":exception-type", kind), (":content-type", "application/json")];
    frame(&headers, &json!({"message": message}).to_string())
}

/// One answer with text and two calls, the second without input.
fn events() -> Vec<u8> {
    let delta = |block: u32, delta: Value| event("contentBlockDelta", json!({"contentBlockIndex": block, "delta": delta, "p": "abcdef"}));
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
    let usage = json!({"inputTokens": 6, "outputTokens": 20, "totalTokens": 120, "cacheReadInputTokens": 64, "cacheWriteInputTokens": 30});
    event("metadata", json!({"usage": usage, "metrics": {"latencyMs": 100}}))
}

fn all() -> Vec<u8> {
    [events(), end(), metadata()].concat()
}

fn reply(bytes: Vec<u8>) -> Reply {
    Reply { status: 200, headers: vec![("content-type", "application/vnd.amazon.eventstream")], parts: vec![Part::Bytes(bytes)] }
}

fn pieces_of_events() -> Vec<Result<Piece, ModelError>> {
    let started = |index, name: &str| Ok(Piece::CallStarted { index, name: name.to_owned() });
    let input = |index, json: &str| Ok(Piece::CallInput { index, json: json.to_owned() });
    vec![Ok(Piece::Text("Grüße".to_owned())), started(0, "f"), input(0, "{\"a\":\"😀"), input(0, "\"}"), started(1, "g"), input(1, "{}")]
}

#[expect(clippy::unnecessary_wraps, reason = "it is what whole answers are compared with")]
fn with(last: Result<Piece, ModelError>) -> Result<Vec<Result<Piece, ModelError>>, ModelError> {
    Ok([pieces_of_events(), vec![last]].concat())
}

fn whole() -> Result<Vec<Result<Piece, ModelError>>, ModelError> {
    let usage = Usage { input_tokens: 100, cached_tokens: 64, cache_write_tokens: 30, output_tokens: 20, ..Usage::default() };
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
    Request { model: ModelConfig { name: MODEL.to_owned(), ..samples::request().model }, ..samples::request() }
}

/// Asked through the limits, which take the signs of life out.
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
async fn an_answer_may_be_cut_anywhere() {
    for size in [1, 2, 3, 7, 64, all().len()] {
        assert_eq!(answer(reply(all()).cut(size)).await, whole(), "{size}");
    }
}

#[tokio::test]
async fn the_question_is_signed_and_sent_as_it_was_written() {
    let provider = Provider::start(reply(all())).await;
    assert_eq!(ask(&bedrock(&provider.address)).await, whole());
    let [asked] = &provider.asked()[..] else { panic!("{:?}", provider.asked()) };
    assert_eq!(asked.path, "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream");
    assert_eq!(asked.body, serde_json::to_value(Question::new(&request())).unwrap());
    let [("authorization", signature)] = &asked.headers[..] else { panic!("{:?}", asked.headers) };
    let signed = signature.starts_with("AWS4-HMAC-SHA256 Credential=AKIATEST/") && signature.contains("/eu-central-1/bedrock/aws4_request");
    assert!(signed, "{signature}");
}

#[tokio::test]
async fn the_sdk_neither_repeats_nor_bounds_the_wait() {
    let hasty = TimeoutConfig::builder()
        .read_timeout(Duration::from_secs(1))
        .operation_timeout(Duration::from_secs(2))
        .operation_attempt_timeout(Duration::from_secs(3))
        .build();
    let client = client(&config("http://localhost", credentials()).into_builder().timeout_config(hasty).build()).unwrap();
    let timeouts = client.config().timeout_config().unwrap();
    assert_eq!((timeouts.connect_timeout(), timeouts.read_timeout()), (Some(Duration::from_secs(10)), None));
    assert_eq!((timeouts.operation_timeout(), timeouts.operation_attempt_timeout()), (None, None));
    assert!(!client.config().stalled_stream_protection().unwrap().is_enabled());
    let refused = Provider::start(Reply::refusal(503, "{}")).await;
    ask(&bedrock(&refused.address)).await.unwrap_err();
    assert_eq!(refused.asked().len(), 1);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_broken() {
    let early = || broken("the answer ended before it was complete");
    assert_eq!(answer(reply(events())).await, with(early()));
    assert_eq!(answer(reply([events(), metadata()].concat())).await, with(early()));
    assert_eq!(answer(reply(events()).then(Part::Break)).await, with(broken("the connection broke")));
    assert_eq!(answer(reply([events(), end()[..20].to_vec()].concat())).await, with(early()));
    let no_json = frame(&[(":message-type", "event"), (":event-type", "contentBlockStop")], "{\"con");
    assert_eq!(
        answer(reply([events(), no_json, end()].concat())).await,
        with(broken("the provider sent an event that is no part of an answer"))
    );
    let mut damaged = end();
    damaged[30] ^= 1;
    assert_eq!(answer(reply([events(), damaged].concat())).await, with(broken("the provider sent no events")));
    // What is no event begins with a length that never comes.
    assert_eq!(answer(Reply::refusal(200, "<html>Hello, this is a proxy.</html>")).await, Ok(vec![early()]));
}

#[tokio::test]
async fn an_endless_answer_is_cut() {
    let word = event("contentBlockDelta", json!({"contentBlockIndex": 0, "delta": {"text": "x".repeat(1 << 20)}}));
    let parts = vec![Part::Bytes(word); 33];
    let answer = answer(Reply { parts, ..reply(Vec::new()) }).await.unwrap();
    assert_eq!(answer.last(), Some(&broken("the answer is too long")));
}

#[tokio::test]
async fn behind_its_end_nothing_is_waited_for() {
    assert_eq!(answer(reply(all()).then(Part::Silence)).await, whole());
    // Without its last event only the count is missing.
    for last in [Part::Break, Part::Bytes(Vec::new()), Part::Bytes(exception("internalServerException", "Too late."))] {
        let usage = Usage { input_tokens: 24, output_tokens: 5, ..Usage::default() };
        let answered = answer(reply([events(), end()].concat()).then(last)).await;
        assert_eq!(answered, with(Ok(Piece::Finished { reason: FinishReason::ToolCalls, usage })));
    }
}

#[tokio::test]
async fn a_silent_answer_is_broken_and_hidden_thinking_is_no_silence() {
    let provider = Provider::start(reply(events()).then(Part::Silence)).await;
    let mut answer = Limits::default().ask(&bedrock(&provider.address), &request()).await.unwrap();
    let count = pieces_of_events().len();
    assert_eq!(answer.by_ref().take(count).collect::<Vec<_>>().await, pieces_of_events());
    // From here on nothing happens but time, which need not be waited for.
    tokio::time::pause();
    assert_eq!(answer.collect::<Vec<_>>().await, [broken("the model sent nothing for 60s")]);
    tokio::time::resume();
    let thinking = event("contentBlockDelta", json!({"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "Hm."}}}));
    let provider = Provider::start(reply(thinking).then(Part::Silence)).await;
    let mut answer = bedrock(&provider.address).ask(&request()).await.unwrap();
    assert_eq!(answer.next().await, Some(Ok(Piece::Text(String::new()))));
}

#[tokio::test]
async fn an_error_in_the_stream_is_sorted_like_a_refusal() {
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
        let told = Err(ModelError::new(code, format!("the provider answered with {kind}: No.")));
        assert_eq!(answer(reply([events(), exception(kind, "No.")].concat())).await, with(told), "{kind}");
    }
    let too_long = Err(ModelError::new(FailureCode::ContextTooLong, "the provider answered with validationException: Input is too long."));
    assert_eq!(answer(reply([events(), exception("validationException", "Input is too long.")].concat())).await, with(too_long));
    let unmodeled = frame(&[(":message-type", "error"), (":error-code", "InternalFailure"), (":error-message", "No.")], "");
    let told = broken("the provider answered with InternalFailure: No.");
    assert_eq!(answer(reply([events(), unmodeled].concat())).await, with(told));
}

#[tokio::test]
async fn refusals_are_sorted() {
    let refusal = |status, kind: &'static str, message: &str| {
        Reply::refusal(status, &json!({"message": message}).to_string()).with_header("x-amzn-errortype", kind)
    };
    let refused = |code, text: &str, seconds: Option<u64>| {
        Err(ModelError { retry_after: seconds.map(Duration::from_secs), ..ModelError::new(code, text) })
    };
    for (status, kind, message, code) in [
        (400, "ValidationException", "The provided model identifier is invalid.", FailureCode::BadRequest),
        (400, "ValidationException", "Input is too long for requested model.", FailureCode::ContextTooLong),
        (400, "ValidationException", "prompt is too long: 210000 tokens > 200000 maximum", FailureCode::ContextTooLong),
        (400, "ValidationException", "This model's maximum context length is 8192 tokens.", FailureCode::ContextTooLong),
        (400, "ServiceQuotaExceededException", "Not today.", FailureCode::BadRequest),
        (403, "AccessDeniedException", "You don't have access to the model with the specified model ID.", FailureCode::Unauthorized),
        (403, "ExpiredTokenException", "The security token included in the request is expired", FailureCode::Unauthorized),
        (403, "UnrecognizedClientException", "The security token included in the request is invalid.", FailureCode::Unauthorized),
        (404, "ResourceNotFoundException", "Could not resolve the foundation model.", FailureCode::BadRequest),
        (408, "ModelTimeoutException", "It took too long.", FailureCode::Overloaded),
        (424, "ModelErrorException", "The model failed.", FailureCode::Overloaded),
        (424, "ModelStreamErrorException", "The stream failed.", FailureCode::BrokenStream),
        (429, "ModelNotReadyException", "Not yet.", FailureCode::Overloaded),
        (500, "InternalServerException", "Sorry.", FailureCode::Overloaded),
        (503, "ServiceUnavailableException", "Too many connections.", FailureCode::Overloaded),
        (418, "OfNextYear", "No.", FailureCode::BadRequest),
    ] {
        let expected = refused(code, &format!("the provider answered {status} {kind}: {message}"), None);
        assert_eq!(answer(refusal(status, kind, message)).await, expected, "{status}");
    }
    let rate = refusal(429, "ThrottlingException", "Too many tokens, please wait before trying again.").with_header("retry-after", "7");
    let text = "the provider answered 429 ThrottlingException: Too many tokens, please wait before trying again.";
    assert_eq!(answer(rate).await, refused(FailureCode::RateLimited, text, Some(7)));
    let signed = format!("It does not match.\n\nThe Canonical String should have been\n'POST\nx-amz-security-token:{TOKEN}'");
    let text = "the provider answered 403 InvalidSignatureException: It does not match.";
    assert_eq!(answer(refusal(403, "InvalidSignatureException", &signed)).await, refused(FailureCode::Unauthorized, text, None));
    for (status, code) in [(502, FailureCode::Overloaded), (429, FailureCode::RateLimited), (301, FailureCode::BadRequest)] {
        let expected = refused(code, &format!("the provider answered {status}"), None);
        assert_eq!(answer(Reply::refusal(status, "<html>Hello, this is a proxy.</html>")).await, expected);
    }
}

/// Has no credentials, for a reason.
#[derive(Debug)]
struct Without(fn() -> CredentialsError);

impl ProvideCredentials for Without {
    fn provide_credentials<'a>(&'a self) -> Provided<'a>
    where
        Self: 'a,
    {
        Provided::ready(Err(self.0()))
    }
}

#[tokio::test]
async fn what_is_missing_is_told_when_it_is_asked() {
    let missing = |text: &str| Err(ModelError::new(FailureCode::NotConfigured, text));
    assert_eq!(ask(&Bedrock::with(SdkConfig::builder().build())).await, missing(NO_REGION));
    let lacks = |lack| Bedrock::with(config("http://127.0.0.1:9", Without(lack)));
    let nothing = lacks(|| CredentialsError::not_loaded("no providers in chain provided credentials"));
    assert_eq!(
        ask(&nothing).await,
        missing(
            "the provider bedrock found no AWS credentials here: it looked for AWS_BEARER_TOKEN_BEDROCK, for AWS_ACCESS_KEY_ID with \
            AWS_SECRET_ACCESS_KEY, for the profile AWS_PROFILE in ~/.aws, for a web identity, and for the role of a container or an instance"
        )
    );
    let odd = ask(&lacks(|| CredentialsError::invalid_configuration("the profile is odd"))).await.unwrap_err();
    assert_eq!(odd.code, FailureCode::NotConfigured);
    assert!(odd.message.starts_with("the AWS credentials can't be had: ") && odd.message.ends_with("the profile is odd"), "{odd}");
    let late = ask(&lacks(|| CredentialsError::provider_timed_out(Duration::from_secs(5)))).await;
    assert_eq!(late, Err(ModelError::new(FailureCode::Overloaded, "the AWS credentials did not come in time")));
}

#[tokio::test]
async fn who_is_not_there_is_told_from_who_refuses() {
    let nobody = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let error = ask(&bedrock(&format!("http://{nobody}"))).await.unwrap_err();
    assert_eq!(error.code, FailureCode::Overloaded);
    assert!(error.message.starts_with("the provider can't be reached: ") && error.message.contains("refused"), "{error}");
    let nameless = Request { model: ModelConfig { name: String::new(), ..request().model }, ..request() };
    let Err(error) = bedrock("http://localhost").ask(&nameless).await else { panic!("it was asked") };
    assert_eq!(error.code, FailureCode::BadRequest);
    assert!(error.message.starts_with("the request could not be made: "), "{error}");
}
