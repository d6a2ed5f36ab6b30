use serde_json::json;

use super::*;

fn of(status: u16, body: &str) -> ModelError {
    let refusals = Refusals::new(Hidden::of(Some("sk-secret".to_owned())), "choices");
    refusals.of_complaint(&Complaint { status: Some(status), ..Complaint::of_body(body) })
}

fn in_stream(error: &Value) -> ModelError {
    Refusals::new(Hidden::of(None), "choices").of_foreign(&json!({"error": error}).to_string())
}

#[test]
fn a_status_maps_to_a_failure_code() {
    let codes = [
        (FailureCode::Unauthorized, vec![401, 403]),
        (FailureCode::RateLimited, vec![429]),
        (FailureCode::Overloaded, vec![408, 409, 500, 502, 503, 504, 520, 529]),
        (FailureCode::BadRequest, vec![301, 400, 402, 404, 405, 413, 415, 422]),
    ];
    for (code, statuses) in codes {
        for status in statuses {
            let redirect = if status == 301 { ", a redirect, which is not followed" } else { "" };
            let expected =
                ModelError::new(code, format!("the provider answered {status}{redirect}: no"));
            // A server that loads or restarts says so.
            let is_unavailable = matches!(status, 502..=504);
            let expected = ModelError { is_unavailable, ..expected };
            assert_eq!(
                of(status, r#"{"error": {"message": "no", "type": "x", "code": null}}"#),
                expected
            );
        }
    }
}

#[test]
fn every_known_form_of_an_error_body_is_read() {
    let bodies = [
        r#"{"error": "no"}"#,
        r#"{"message": "no"}"#,
        r#"{"detail": "no"}"#,
        r#"[{"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT"}}]"#,
        r#"{"error": null, "message": "no"}"#,
        "no",
        " no\n",
    ];
    let expected = ModelError::new(FailureCode::BadRequest, "the provider answered 400: no");
    assert_eq!(bodies.map(|body| of(400, body)), bodies.map(|_| expected.clone()));
    let unavailable = ModelError::new(FailureCode::Overloaded, "the provider answered 503");
    assert_eq!(of(503, ""), ModelError { is_unavailable: true, ..unavailable });
}

#[test]
fn a_prompt_that_is_too_long_has_its_own_failure_code() {
    let by_code =
        json!({"error": {"message": "Too long.", "code": "context_length_exceeded"}}).to_string();
    let texts = [
        "This model's maximum context length is 8192 tokens.",
        "the request exceeds the available context size",
        "The input token count (9) exceeds the maximum number of tokens allowed (8).",
        "Input Tokens Exceeded: Number of input tokens exceeds maximum length.",
        "Too many input tokens. Max input tokens: 8, request input token count: 9",
    ];
    for body in texts
        .map(|text| json!({"error": {"message": text}}).to_string())
        .into_iter()
        .chain([by_code])
    {
        assert_eq!(
            [400, 413, 422].map(|status| of(status, &body).code),
            [FailureCode::ContextTooLong; 3]
        );
        assert_eq!(
            [401, 429, 500].map(|status| of(status, &body).code),
            [FailureCode::Unauthorized, FailureCode::RateLimited, FailureCode::Overloaded]
        );
    }
}

#[test]
fn an_exhausted_quota_is_not_retried() {
    let error = json!({
        "message": "You exceeded it.",
        "type": "insufficient_quota",
        "code": "insufficient_quota",
    });
    let body = json!({ "error": error }).to_string();
    let text = "the provider answered 429, the quota of this key is exhausted: You exceeded it.";
    assert_eq!(of(429, &body), ModelError::new(FailureCode::BadRequest, text));
}

#[test]
fn an_error_in_a_stream_is_classified_by_its_words() {
    let codes = [
        (json!({"message": "no", "type": "server_error"}), FailureCode::Overloaded),
        (json!({"message": "no", "code": "rate_limit_exceeded"}), FailureCode::RateLimited),
        (json!({"message": "no", "code": "invalid_api_key"}), FailureCode::Unauthorized),
        (json!({"message": "no", "type": "invalid_request_error"}), FailureCode::BadRequest),
        (json!({"message": "no", "code": "context_length_exceeded"}), FailureCode::ContextTooLong),
        (json!("no"), FailureCode::BrokenStream),
    ];
    for (error, code) in codes {
        assert_eq!(
            in_stream(&error),
            ModelError::new(code, "the provider answered with an error: no")
        );
    }
    let numbered = ModelError::new(FailureCode::RateLimited, "the provider answered 429: no");
    assert_eq!(in_stream(&json!({"message": "no", "code": 429})), numbered);
}

#[test]
fn an_event_that_is_not_a_chunk_breaks_the_answer() {
    let broken = |text: &str| ModelError::new(FailureCode::BrokenStream, text);
    let refusals = Refusals::new(Hidden::of(None), "choices");
    assert_eq!(
        refusals.of_foreign("{\"cho"),
        broken("the provider sent an event that is not JSON")
    );
    let foreign = broken("the provider sent an event that is not part of an answer");
    assert_eq!(
        [refusals.of_foreign("5"), refusals.of_foreign("{\"choices\": 5}")],
        [foreign.clone(), foreign]
    );
}

#[test]
fn error_texts_never_contain_the_key() {
    let echo = |text: &str| of(401, &json!({"error": {"message": text}}).to_string()).message;
    assert_eq!(
        echo("Wrong key sk-secret, yes: sk-secret."),
        "the provider answered 401: Wrong key [key], yes: [key]."
    );
    // Truncating first would cut the key in the middle, and its first half would stay in the text.
    let long = format!("{}sk-secret", "x".repeat(LONGEST_TEXT - 4));
    assert_eq!(
        echo(&long),
        format!("the provider answered 401: {}[key", "x".repeat(LONGEST_TEXT - 4))
    );
    let refusals = Refusals::new(Hidden::of(Some("sk-secret".to_owned())), "choices");
    assert_eq!(refusals.broken("sk-secret").message, "[key]");
    // A server may change the case. A part of a hidden text may be hidden, too.
    let hidden = ["sk-secret", "Bearer sk-secret", "c2stc2VjcmV0"].map(str::to_owned);
    let refusals = Refusals::new(Hidden::of(hidden), "choices");
    let text = "SK-SECRET, bearer sk-secret, \u{130}C2stc2VjcmV0!";
    assert_eq!(refusals.broken(text).message, "[key], [key], \u{130}[key]!");
}

#[test]
fn error_texts_are_truncated_and_on_one_line() {
    let expected = format!("the provider answered 400: a b{}", "é".repeat(LONGEST_TEXT - 3));
    assert_eq!(of(400, &format!("a\nb{}", "é".repeat(600))).message, expected);
}

#[test]
fn retry_after_is_seconds_or_a_date() {
    let wait = |text: &str, date: Option<&str>| {
        let headers = date
            .map(|date| (DATE, date.parse().unwrap()))
            .into_iter()
            .chain([(RETRY_AFTER, text.parse().unwrap())]);
        retry_after(&headers.collect())
    };
    let date = Some("Wed, 18 Feb 2026 15:07:00 GMT");
    assert_eq!(wait("7", None), Some(Duration::from_secs(7)));
    assert_eq!(wait("0.5", None), Some(Duration::from_millis(500)));
    assert_eq!(wait("Wed, 18 Feb 2026 15:08:30 GMT", date), Some(Duration::from_secs(90)));
    assert_eq!(wait("Wed, 18 Feb 2026 15:00:00 GMT", date), Some(Duration::ZERO));
    assert_eq!(wait("Wed, 18 Feb 2026 15:08:30 GMT", None), None);
    assert_eq!(
        [wait("soon", date), wait("-1", date), wait("NaN", date), wait("1e99", date)],
        [None; 4]
    );
}
