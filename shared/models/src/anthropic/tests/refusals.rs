//! Errors that the provider reports, before and during an answer.

use super::*;

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
            is_unavailable: text.contains(" 504"),
            window: text.contains("> 200000").then_some(200_000),
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
        (413, "request_too_large", "Request exceeds the maximum size", FailureCode::ContextTooLong),
        (500, "api_error", "Internal server error", FailureCode::Overloaded),
        (504, "timeout_error", "It took too long", FailureCode::Overloaded),
        (529, "overloaded_error", "Overloaded", FailureCode::Overloaded),
    ] {
        let expected = refused(code, &format!("the provider answered {status}: {message}"), None);
        assert_eq!(answer(reply(status, kind, message)).await, expected, "{status}");
    }
    let provider = Provider::start(reply(404, "not_found_error", "model: claude-y")).await;
    let text =
        format!("the provider answered 404 at {}/v1/messages: model: claude-y", provider.address);
    assert_eq!(
        ask(&anthropic(Some(KEY), Some(&provider.address))).await,
        refused(FailureCode::BadRequest, &text, None)
    );
    let rate =
        reply(429, "rate_limit_error", "Slow down, sk-ant-secret.").with_header("retry-after", "7");
    assert_eq!(
        answer(rate).await,
        refused(FailureCode::RateLimited, "the provider answered 429: Slow down, [key].", Some(7))
    );
}
