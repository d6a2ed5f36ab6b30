use std::time::Duration;

use serde_json::json;
use smartspace_domain::{runs::Usage, steps::FinishReason};

use super::*;
use crate::{
    http,
    limits::Limits,
    port::Piece,
    provider::{Asked, Part, Provider, Reply},
    samples,
};

const KEY: &str = "sk-ant-secret";

/// One answer with text and two calls, the second without input.
const EVENTS: &str = concat!(
    "event: message_start\n",
    r#"data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":36,"cache_creation_input_tokens":0,"cache_read_input_tokens":64,"output_tokens":1}}}"#,
    "\n\n",
    "event: content_block_start\n",
    r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    "\n\n",
    "event: ping\n",
    r#"data: {"type": "ping"}"#,
    "\n\n",
    "event: content_block_delta\n",
    r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Grüße"}}"#,
    "\r\n\r\n",
    "event: content_block_stop\n",
    r#"data: {"type":"content_block_stop","index":0}"#,
    "\n\n",
    "event: content_block_start\n",
    r#"data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"f","input":{}}}"#,
    "\n\n",
    "event: content_block_delta\n",
    r#"data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":\"😀"}}"#,
    "\n\n",
    "event: content_block_delta\n",
    r#"data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\"}"}}"#,
    "\n\n",
    "event: content_block_stop\n",
    r#"data: {"type":"content_block_stop","index":1}"#,
    "\n\n",
    "event: content_block_start\n",
    r#"data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_2","name":"g","input":{}}}"#,
    "\n\n",
    "event: content_block_stop\n",
    r#"data: {"type":"content_block_stop","index":2}"#,
    "\n\n",
);
const END: &str = concat!(
    "event: message_delta\n",
    r#"data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":20}}"#,
    "\n\n",
);
const STOP: &str = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

fn pieces() -> Vec<Result<Piece, ModelError>> {
    let started = |index, name: &str| Ok(Piece::CallStarted { index, name: name.to_owned() });
    let input = |index, json: &str| Ok(Piece::CallInput { index, json: json.to_owned() });
    vec![Ok(Piece::Text("Grüße".to_owned())), started(0, "f"), input(0, "{\"a\":\"😀"), input(0, "\"}"), started(1, "g"), input(1, "{}")]
}

fn whole() -> Vec<Result<Piece, ModelError>> {
    let usage = Usage { input_tokens: 100, cached_tokens: 64, output_tokens: 20, ..Usage::default() };
    [pieces(), vec![Ok(Piece::Finished { reason: FinishReason::ToolCalls, usage })]].concat()
}

fn broken(text: &str) -> Result<Piece, ModelError> {
    Err(ModelError::new(FailureCode::BrokenStream, text))
}

fn anthropic(key: Option<&str>, base: Option<&str>) -> Anthropic {
    Anthropic::new(http::client().no_proxy().build().unwrap(), key.map(str::to_owned), base)
}

/// Asked through the limits, which take the signs of life out.
async fn ask(anthropic: &Anthropic) -> Result<Vec<Result<Piece, ModelError>>, ModelError> {
    Ok(Limits::default().ask(anthropic, &samples::request()).await?.collect().await)
}

async fn answer(reply: Reply) -> Result<Vec<Result<Piece, ModelError>>, ModelError> {
    let provider = Provider::start(reply).await;
    ask(&anthropic(Some(KEY), Some(&provider.address))).await
}

#[tokio::test]
async fn an_answer_may_be_cut_anywhere() {
    let all = [EVENTS, END, STOP].concat();
    for size in [1, 2, 3, 7, 64, all.len()] {
        assert_eq!(answer(Reply::events(&all).cut(size)).await, Ok(whole()), "{size}");
    }
}

#[tokio::test]
async fn the_question_goes_where_the_base_says() {
    let provider = Provider::start(Reply::events(&[EVENTS, END, STOP].concat())).await;
    let bases = ["", "/", "/v1", "/v1/", "/a/b?version=1"].map(|path| format!("{}{path}", provider.address));
    for base in &bases {
        assert_eq!(ask(&anthropic(Some(KEY), Some(base))).await, Ok(whole()));
    }
    assert_eq!(ask(&anthropic(None, Some(&bases[0]))).await, Ok(whole()));
    let body = serde_json::to_value(Question::new(&samples::request())).unwrap();
    let asked = |path: &str, key: Option<&str>| Asked {
        path: path.to_owned(),
        headers: key.map(|key| ("x-api-key", key.to_owned())).into_iter().chain([("anthropic-version", VERSION.to_owned())]).collect(),
        body: body.clone(),
    };
    let plain = asked("/v1/messages", Some(KEY));
    let expected =
        [plain.clone(), plain.clone(), plain.clone(), plain, asked("/a/b/v1/messages?version=1", Some(KEY)), asked("/v1/messages", None)];
    assert_eq!(provider.asked(), expected);
    let own = Endpoint::new(Some(KEY.to_owned()), None).unwrap();
    assert_eq!(own.address.as_str(), "https://api.anthropic.com/v1/messages");
}

#[tokio::test]
async fn what_is_missing_is_told_when_it_is_asked() {
    let missing = |text: &str| Err(ModelError::new(FailureCode::NotConfigured, text));
    let no_key = "the provider anthropic has no key here: set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL to a server that needs none";
    for (key, base, text) in [
        (None, None, no_key),
        (Some(" "), Some(""), no_key),
        (Some("sk\nsecret"), None, "ANTHROPIC_API_KEY holds characters that no key has"),
        (Some(KEY), Some("localhost"), "ANTHROPIC_BASE_URL is not an http or https address"),
    ] {
        assert_eq!(ask(&anthropic(key, base)).await, missing(text));
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_broken() {
    let with = |last| Ok([pieces(), vec![last]].concat());
    let early = || broken("the answer ended before it was complete");
    assert_eq!(answer(Reply::events(EVENTS)).await, with(early()));
    assert_eq!(answer(Reply::events(&[EVENTS, END].concat())).await, with(early()));
    assert_eq!(answer(Reply::events(&[EVENTS, STOP].concat())).await, with(early()));
    assert_eq!(answer(Reply::events(EVENTS).then(Part::Break)).await, with(broken("the connection broke")));
    assert_eq!(answer(Reply::events(&[EVENTS, END].concat()).then(Part::Break)).await, with(broken("the connection broke")));
    let no_json = [EVENTS, "data: {\"ty\n\n", END, STOP].concat();
    assert_eq!(answer(Reply::events(&no_json)).await, with(broken("the provider sent an event that is no JSON")));
    let no_part = [EVENTS, "data: {\"type\":\"content_block_delta\"}\n\n", END, STOP].concat();
    assert_eq!(answer(Reply::events(&no_part)).await, with(broken("the provider sent an event that is no part of an answer")));
    assert_eq!(answer(Reply::refusal(200, "<html>Hello</html>")).await, Ok(vec![early()]));
}

#[tokio::test]
async fn behind_its_end_nothing_is_waited_for() {
    assert_eq!(answer(Reply::events(&[EVENTS, END, STOP].concat()).then(Part::Silence)).await, Ok(whole()));
    assert_eq!(answer(Reply::events(&[EVENTS, END, STOP, "data: nonsense\n\n"].concat())).await, Ok(whole()));
}

#[tokio::test]
async fn a_silent_answer_is_broken_and_pings_are_no_silence() {
    let provider = Provider::start(Reply::events(EVENTS).then(Part::Silence)).await;
    let mut answer = Limits::default().ask(&anthropic(None, Some(&provider.address)), &samples::request()).await.unwrap();
    assert_eq!(answer.by_ref().take(pieces().len()).collect::<Vec<_>>().await, pieces());
    // From here on nothing happens but time, which need not be waited for.
    tokio::time::pause();
    assert_eq!(answer.collect::<Vec<_>>().await, [broken("the model sent nothing for 60s")]);
    tokio::time::resume();
    let provider = Provider::start(Reply::events("event: ping\ndata: {\"type\": \"ping\"}\n\n").then(Part::Silence)).await;
    let mut answer = anthropic(None, Some(&provider.address)).ask(&samples::request()).await.unwrap();
    assert_eq!(answer.next().await, Some(Ok(Piece::Text(String::new()))));
}

#[tokio::test]
async fn an_error_in_the_stream_is_sorted_like_a_refusal() {
    let told = |kind: &str| {
        let error = json!({"type": "error", "error": {"type": kind, "message": "Too much for sk-ant-secret."}, "request_id": "req_1"});
        [EVENTS, "event: error\ndata: ", &error.to_string(), "\n\n"].concat()
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
        let sorted = Err(ModelError::new(code, "the provider answered with an error: Too much for [key]."));
        let expected = Ok([pieces(), vec![sorted]].concat());
        assert_eq!(answer(Reply::events(&told(kind))).await, expected, "{kind}");
        // The type of the event is a hint, what it holds decides.
        assert_eq!(answer(Reply::events(&told(kind).replace("event: error\n", ""))).await, expected, "{kind}");
    }
}

#[tokio::test]
async fn refusals_are_sorted() {
    let reply = |status, kind: &str, message: &str| {
        Reply::refusal(status, &json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}).to_string())
    };
    let refused = |code, text: &str, seconds: Option<u64>| {
        Err(ModelError { retry_after: seconds.map(Duration::from_secs), ..ModelError::new(code, text) })
    };
    for (status, kind, message, code) in [
        (400, "invalid_request_error", "messages: at least one is needed", FailureCode::BadRequest),
        (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", FailureCode::ContextTooLong),
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
    let rate = reply(429, "rate_limit_error", "Slow down, sk-ant-secret.").with_header("retry-after", "7");
    assert_eq!(answer(rate).await, refused(FailureCode::RateLimited, "the provider answered 429: Slow down, [key].", Some(7)));
}
