//! Errors that the provider reports, before and during an answer, and an unreachable provider.

use super::*;

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
            is_unavailable: text.contains(" 503"),
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
    let error = ModelError::new(FailureCode::ContextTooLong, text);
    assert_eq!(answer(long).await, Err(ModelError { window: Some(8), ..error }));
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
async fn a_404_names_the_address_without_credentials_and_query() {
    let body = json!({"error": {"message": "No such model.", "type": "x", "code": null}});
    let reply = Reply::refusal(404, &body.to_string()).with_header("retry-after", "7");
    let provider = Provider::start(reply).await;
    let base = provider.address.replace("http://", "http://user:password@");
    let base = format!("{base}/{KEY}?token=query");
    let refused = ask_under(Limits::default(), &openai(Some(KEY), Some(&base))).await;
    let text = format!(
        "the provider answered 404 at {}/[key]/chat/completions: No such model.",
        provider.address
    );
    assert_eq!(refused, Err(ModelError::new(FailureCode::BadRequest, text)));
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
    assert!(error.is_unavailable);
}

/// A port may be open before the server behind it is.
#[tokio::test]
async fn a_connection_that_ends_before_the_answer_is_that_of_an_unavailable_server() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move { while listener.accept().await.is_ok() {} });
    let error = ask_under(Limits::default(), &openai(None, Some(&base))).await.unwrap_err();
    assert_eq!((error.code, error.is_unavailable), (FailureCode::BrokenStream, true), "{error}");
}

#[tokio::test]
async fn a_refusal_that_names_a_field_is_obeyed_within_the_same_try_and_remembered() {
    let provider = Provider::answering(|body| {
        let refusal = |param: &str, message: &str| {
            let error = json!({"message": message, "type": "invalid_request_error",
                "param": param, "code": "unsupported_parameter"});
            Reply::refusal(400, &json!({ "error": error }).to_string())
        };
        if body.get("max_tokens").is_some() {
            let text = "Unsupported parameter: 'max_tokens' is not supported with this model. \
                Use 'max_completion_tokens' instead.";
            return refusal("max_tokens", text);
        }
        if body.get("stream_options").is_some() {
            return refusal("stream_options", "Unrecognized request argument: stream_options");
        }
        Reply::events(&[EVENTS, END, DONE].concat())
    })
    .await;
    let openai = openai(Some(KEY), Some(&provider.address));
    for requests in [3, 4] {
        let answer = ask_under(Limits::default(), &openai).await;
        assert_eq!(answer, Ok(whole()));
        assert_eq!(provider.received().len(), requests);
    }
    let received = provider.received();
    let sent = received.iter().map(|request| {
        let has = |field| request.body.get(field).is_some();
        [has("max_tokens"), has("max_completion_tokens"), has("stream_options")]
    });
    let last = [false, true, false];
    assert_eq!(sent.collect::<Vec<_>>(), [[true, false, true], [false, true, true], last, last]);
}

#[tokio::test]
async fn a_refused_field_of_a_server_that_checks_by_a_model_is_found_in_its_list() {
    let provider = Provider::answering(|body| {
        if body.get("stream_options").is_none() {
            return Reply::events(&[EVENTS, END, DONE].concat());
        }
        let error = json!({"type": "extra_forbidden", "loc": ["body", "stream_options"],
            "msg": "Extra inputs are not permitted", "input": {"include_usage": true}});
        Reply::refusal(422, &json!({"detail": [error]}).to_string())
    })
    .await;
    let openai = openai(Some(KEY), Some(&provider.address));
    assert_eq!(ask_under(Limits::default(), &openai).await, Ok(whole()));
    assert_eq!(provider.received().len(), 2);
}
