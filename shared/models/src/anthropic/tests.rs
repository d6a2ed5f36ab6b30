use std::time::Duration;

use serde_json::json;
use smartspace_domain::{runs::Usage, steps::FinishReason};

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

fn whole() -> Vec<Result<Piece, ModelError>> {
    let usage =
        Usage { input_tokens: 100, cached_tokens: 64, output_tokens: 20, ..Usage::default() };
    [pieces(), vec![Ok(Piece::Finished { reason: FinishReason::ToolCalls, usage })]].concat()
}

fn broken(text: &str) -> Result<Piece, ModelError> {
    Err(ModelError::new(FailureCode::BrokenStream, text))
}

fn anthropic(key: Option<&str>, base: Option<&str>) -> Anthropic {
    Anthropic::new(http::client().no_proxy().build().unwrap(), key.map(str::to_owned), base)
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
async fn a_request_goes_to_the_configured_base_url() {
    let provider = Provider::start(Reply::events(&[EVENTS, END, STOP].concat())).await;
    let bases = ["", "/", "/v1", "/v1/", "/a/b?version=1"]
        .map(|path| format!("{}{path}", provider.address));
    for base in &bases {
        assert_eq!(ask(&anthropic(Some(KEY), Some(base))).await, Ok(whole()));
    }
    assert_eq!(ask(&anthropic(None, Some(&bases[0]))).await, Ok(whole()));
    let body = serde_json::to_value(RequestBody::new(&samples::request())).unwrap();
    let request = |path: &str, key: Option<&str>| ReceivedRequest {
        path: path.to_owned(),
        headers: key
            .map(|key| ("x-api-key", key.to_owned()))
            .into_iter()
            .chain([("anthropic-version", VERSION.to_owned())])
            .collect(),
        body: body.clone(),
    };
    let plain = request("/v1/messages", Some(KEY));
    let expected = [
        plain.clone(),
        plain.clone(),
        plain.clone(),
        plain,
        request("/a/b/v1/messages?version=1", Some(KEY)),
        request("/v1/messages", None),
    ];
    assert_eq!(provider.received(), expected);
    let own = Endpoint::new(Some(KEY.to_owned()), None).unwrap();
    assert_eq!(own.address.as_str(), "https://api.anthropic.com/v1/messages");
}

#[tokio::test]
async fn a_missing_or_invalid_setting_fails_the_request() {
    let missing = |text: &str| Err(ModelError::new(FailureCode::NotConfigured, text));
    let no_key = "the provider anthropic has no API key: set ANTHROPIC_API_KEY, \
        or set ANTHROPIC_BASE_URL to a server that needs no key";
    let invalid_key =
        "ANTHROPIC_API_KEY must contain only printable ASCII characters without spaces";
    for (key, base, text) in [
        (None, None, no_key),
        (Some(" "), Some(""), no_key),
        (Some("sk\nsecret"), None, invalid_key),
        (Some(KEY), Some("localhost"), "ANTHROPIC_BASE_URL is not an http or https address"),
    ] {
        assert_eq!(ask(&anthropic(key, base)).await, missing(text));
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
    let foreign = [EVENTS, "data: {\"type\":\"content_block_delta\"}\n\n", END, STOP].concat();
    assert_eq!(
        answer(Reply::events(&foreign)).await,
        with(broken("the provider sent an event that is not part of an answer"))
    );
    assert_eq!(answer(Reply::refusal(200, "<html>Hello</html>")).await, Ok(vec![early()]));
}

#[tokio::test]
async fn an_answer_ends_at_message_stop() {
    assert_eq!(
        answer(Reply::events(&[EVENTS, END, STOP].concat()).then(Part::Silence)).await,
        Ok(whole())
    );
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

#[tokio::test]
async fn an_error_in_the_stream_gets_the_same_code_as_a_refusal() {
    let stream = |kind: &str| {
        let error = json!({"type": kind, "message": "Too much for sk-ant-secret."});
        let event = json!({"type": "error", "error": error, "request_id": "req_1"});
        [EVENTS, "event: error\ndata: ", &event.to_string(), "\n\n"].concat()
    };
    for (kind, code) in [
        ("overloaded_error", FailureCode::Overloaded),
        ("api_error", FailureCode::Overloaded),
        ("timeout_error", FailureCode::Overloaded),
        ("rate_limit_error", FailureCode::RateLimited),
        ("authentication_error", FailureCode::Unauthorized),
        ("permission_error", FailureCode::Unauthorized),
        ("invalid_request_error", FailureCode::BadRequest),
        ("not_found_error", FailureCode::BadRequest),
        ("billing_error", FailureCode::BadRequest),
        ("request_too_large", FailureCode::ContextTooLong),
        ("of_next_year", FailureCode::BrokenStream),
    ] {
        let error =
            Err(ModelError::new(code, "the provider answered with an error: Too much for [key]."));
        let expected = Ok([pieces(), vec![error]].concat());
        assert_eq!(answer(Reply::events(&stream(kind))).await, expected, "{kind}");
        // An error is recognized by its data, even without the type of the event.
        assert_eq!(
            answer(Reply::events(&stream(kind).replace("event: error\n", ""))).await,
            expected,
            "{kind}"
        );
    }
}

#[tokio::test]
async fn refusals_get_failure_codes() {
    let reply = |status, kind: &str, message: &str| {
        let error = json!({"type": kind, "message": message});
        let body = json!({"type": "error", "error": error, "request_id": "req_1"});
        Reply::refusal(status, &body.to_string())
    };
    let refused = |code, text: &str, seconds: Option<u64>| {
        Err(ModelError {
            retry_after: seconds.map(Duration::from_secs),
            ..ModelError::new(code, text)
        })
    };
    for (status, kind, message, code) in [
        (400, "invalid_request_error", "messages: at least one is needed", FailureCode::BadRequest),
        (
            400,
            "invalid_request_error",
            "prompt is too long: 210000 tokens > 200000 maximum",
            FailureCode::ContextTooLong,
        ),
        (
            400,
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 199000 + 4096 > 200000",
            FailureCode::ContextTooLong,
        ),
        (401, "authentication_error", "invalid x-api-key", FailureCode::Unauthorized),
        (402, "billing_error", "no credit", FailureCode::BadRequest),
        (403, "permission_error", "not with this key", FailureCode::Unauthorized),
        (404, "not_found_error", "model: claude-y", FailureCode::BadRequest),
        (413, "request_too_large", "Request exceeds the maximum size", FailureCode::ContextTooLong),
        (500, "api_error", "Internal server error", FailureCode::Overloaded),
        (504, "timeout_error", "It took too long", FailureCode::Overloaded),
        (529, "overloaded_error", "Overloaded", FailureCode::Overloaded),
    ] {
        let expected = refused(code, &format!("the provider answered {status}: {message}"), None);
        assert_eq!(answer(reply(status, kind, message)).await, expected, "{status}");
    }
    let rate =
        reply(429, "rate_limit_error", "Slow down, sk-ant-secret.").with_header("retry-after", "7");
    assert_eq!(
        answer(rate).await,
        refused(FailureCode::RateLimited, "the provider answered 429: Slow down, [key].", Some(7))
    );
}
