use std::time::Duration;

use serde_json::json;
use smartspace_domain::{
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
    let input = |index, json: &str| Ok(Piece::CallInput { index, json: json.to_owned() });
    vec![
        Ok(Piece::Text("Grüße".to_owned())),
        started(0, "f"),
        started(1, "g"),
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
    OpenAi::new(http::client().no_proxy().build().unwrap(), key.map(str::to_owned), base)
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
async fn a_request_goes_to_the_configured_base_url() {
    let provider = Provider::start(Reply::events(&[END, DONE].concat())).await;
    let bases = ["/v1", "/v1/", "", "/", "/a/b?version=1"]
        .map(|path| format!("{}{path}", provider.address));
    for base in &bases {
        assert_eq!(
            ask_under(Limits::default(), &openai(Some(KEY), Some(base))).await,
            Ok(vec![Ok(finished())])
        );
    }
    assert_eq!(
        ask_under(Limits::default(), &openai(None, Some(&bases[0]))).await,
        Ok(vec![Ok(finished())])
    );
    let body = serde_json::to_value(RequestBody::new(&samples::request(), false)).unwrap();
    let request = |path: &str, key: Option<&str>| ReceivedRequest {
        path: path.to_owned(),
        headers: key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect(),
        body: body.clone(),
    };
    let expected = [
        request("/v1/chat/completions", Some(KEY)),
        request("/v1/chat/completions", Some(KEY)),
        request("/chat/completions", Some(KEY)),
        request("/chat/completions", Some(KEY)),
        request("/a/b/chat/completions?version=1", Some(KEY)),
        request("/v1/chat/completions", None),
    ];
    assert_eq!(provider.received(), expected);
}

#[tokio::test]
async fn a_missing_or_invalid_setting_fails_the_request() {
    let missing = |text: &str| Err(ModelError::new(FailureCode::NotConfigured, text));
    let no_key = "the provider openai has no API key: set OPENAI_API_KEY, \
        or set OPENAI_BASE_URL to a server that needs no key";
    let invalid_key = "OPENAI_API_KEY must contain only printable ASCII characters without spaces";
    for (key, base, text) in [
        (None, None, no_key),
        (Some(" "), Some(""), no_key),
        (Some("sk\nsecret"), None, invalid_key),
        (Some(KEY), Some("localhost"), "OPENAI_BASE_URL is not an http or https address"),
        (Some(KEY), Some("file:///v1"), "OPENAI_BASE_URL is not an http or https address"),
    ] {
        assert_eq!(ask_under(Limits::default(), &openai(key, base)).await, missing(text));
    }
}

#[test]
fn only_the_host_of_openai_is_native() {
    let native = |base| Endpoint::new(Some(KEY.to_owned()), base).unwrap();
    let own = [None, Some("https://api.openai.com/v1/")]
        .map(native)
        .map(|endpoint| (endpoint.address.to_string(), endpoint.native));
    assert_eq!(
        own,
        [(); 2].map(|()| ("https://api.openai.com/v1/chat/completions".to_owned(), true))
    );
    assert!(!native(Some("https://api.openai.com.example/v1")).native);
}

#[tokio::test]
async fn an_answer_that_breaks_off_ends_with_an_error() {
    let with = |last| Ok([pieces(), vec![last]].concat());
    assert_eq!(
        answer(Reply::events(EVENTS)).await,
        with(broken("the answer ended before it was complete"))
    );
    assert_eq!(
        answer(Reply::events(&[EVENTS, DONE].concat())).await,
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

#[tokio::test]
async fn an_error_in_the_stream_gets_the_same_code_as_a_refusal() {
    let error = r#"{"error":{"message":"Too much for sk-secret.","type":"server_error"}}"#;
    let expected = Err(ModelError::new(
        FailureCode::Overloaded,
        "the provider answered with an error: Too much for [key].",
    ));
    for line in [format!("data: {error}\n\n"), format!("event: error\ndata: {error}\n\n")] {
        assert_eq!(
            answer(Reply::events(&[EVENTS, &line].concat())).await,
            Ok([pieces(), vec![expected.clone()]].concat())
        );
    }
}

#[tokio::test]
async fn refusals_get_failure_codes() {
    let body = |message: &str| {
        json!({"error": {"message": message, "type": "x", "code": null}}).to_string()
    };
    let refused = |code, text: &str, seconds: Option<u64>| {
        Err(ModelError {
            retry_after: seconds.map(Duration::from_secs),
            ..ModelError::new(code, text)
        })
    };
    let key = Reply::refusal(401, &body("Incorrect API key provided: sk-secret."));
    assert_eq!(
        answer(key).await,
        refused(
            FailureCode::Unauthorized,
            "the provider answered 401: Incorrect API key provided: [key].",
            None
        )
    );
    let rate = Reply::refusal(429, &body("Slow down.")).with_header("retry-after", "7");
    assert_eq!(
        answer(rate).await,
        refused(FailureCode::RateLimited, "the provider answered 429: Slow down.", Some(7))
    );
    let down = Reply::refusal(500, "Internal Server Error");
    assert_eq!(
        answer(down).await,
        refused(FailureCode::Overloaded, "the provider answered 500: Internal Server Error", None)
    );
    let date = Reply::refusal(503, &body("Later."))
        .with_header("date", "Wed, 18 Feb 2026 15:07:00 GMT")
        .with_header("retry-after", "Wed, 18 Feb 2026 15:08:30 GMT");
    assert_eq!(
        answer(date).await,
        refused(FailureCode::Overloaded, "the provider answered 503: Later.", Some(90))
    );
    let long = Reply::refusal(400, &body("This model's maximum context length is 8 tokens."));
    let text = "the provider answered 400: This model's maximum context length is 8 tokens.";
    assert_eq!(answer(long).await, refused(FailureCode::ContextTooLong, text, None));
    let bad = Reply::refusal(404, &body("No such model.")).with_header("retry-after", "7");
    assert_eq!(
        answer(bad).await,
        refused(FailureCode::BadRequest, "the provider answered 404: No such model.", None)
    );
    let moved = Reply::refusal(302, "").with_header("location", "http://127.0.0.1:1/");
    assert_eq!(
        answer(moved).await,
        refused(
            FailureCode::BadRequest,
            "the provider answered 302, a redirect, which is not followed",
            None
        )
    );
    let cut = Reply::refusal(500, "Wrong key: sk-sec").then(Part::Break);
    assert_eq!(
        answer(cut).await,
        refused(FailureCode::Overloaded, "the provider answered 500", None)
    );
}

#[tokio::test]
async fn an_unreachable_provider_is_overloaded() {
    // The port is taken, but no server listens on it.
    let taken = tokio::net::TcpSocket::new_v4().unwrap();
    taken.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let base = format!("http://user:password@{}/v1", taken.local_addr().unwrap());
    let error = ask_under(Limits::default(), &openai(None, Some(&base))).await.unwrap_err();
    assert_eq!(error.code, FailureCode::Overloaded);
    assert!(error.message.starts_with("the provider can't be reached: "), "{error}");
    assert!(!error.message.contains("password"), "{error}");
}
