//! Refusals, missing credentials and unreachable servers.

use aws_credential_types::provider::{
    error::CredentialsError, future::ProvideCredentials as Provided,
};

use super::*;

/// Status, exception, message and failure code of refusals.
const REFUSALS: [(u16, &str, &str, FailureCode); 16] = [
    (
        400,
        "ValidationException",
        "The provided model identifier is invalid.",
        FailureCode::BadRequest,
    ),
    (
        400,
        "ValidationException",
        "Input is too long for requested model.",
        FailureCode::ContextTooLong,
    ),
    (
        400,
        "ValidationException",
        "prompt is too long: 210000 tokens > 200000 maximum",
        FailureCode::ContextTooLong,
    ),
    (
        400,
        "ValidationException",
        "This model's maximum context length is 8192 tokens.",
        FailureCode::ContextTooLong,
    ),
    (400, "ServiceQuotaExceededException", "Not today.", FailureCode::BadRequest),
    (
        403,
        "AccessDeniedException",
        "You don't have access to the model with the specified model ID.",
        FailureCode::Unauthorized,
    ),
    (
        403,
        "ExpiredTokenException",
        "The security token included in the request is expired",
        FailureCode::Unauthorized,
    ),
    (
        403,
        "UnrecognizedClientException",
        "The security token included in the request is invalid.",
        FailureCode::Unauthorized,
    ),
    (
        404,
        "ResourceNotFoundException",
        "Could not resolve the foundation model.",
        FailureCode::BadRequest,
    ),
    (408, "ModelTimeoutException", "It took too long.", FailureCode::Overloaded),
    (424, "ModelErrorException", "The model failed.", FailureCode::Overloaded),
    (424, "ModelStreamErrorException", "The stream failed.", FailureCode::BrokenStream),
    (429, "ModelNotReadyException", "Not yet.", FailureCode::Overloaded),
    (500, "InternalServerException", "Sorry.", FailureCode::Overloaded),
    (503, "ServiceUnavailableException", "Too many connections.", FailureCode::Overloaded),
    (418, "OfNextYear", "No.", FailureCode::BadRequest),
];

fn refusal(status: u16, kind: &'static str, message: &str) -> Reply {
    Reply::refusal(status, &json!({"message": message}).to_string())
        .with_header("x-amzn-errortype", kind)
}

fn refused<T>(code: FailureCode, text: &str, seconds: Option<u64>) -> Result<T, ModelError> {
    Err(ModelError { retry_after: seconds.map(Duration::from_secs), ..ModelError::new(code, text) })
}

#[tokio::test]
async fn refusals_get_failure_codes() {
    for (status, kind, message, code) in REFUSALS {
        let expected =
            refused(code, &format!("the provider answered {status} {kind}: {message}"), None);
        assert_eq!(answer(refusal(status, kind, message)).await, expected, "{status}");
    }
}

#[tokio::test]
async fn a_refusal_has_the_retry_after_of_its_response() {
    let rate =
        refusal(429, "ThrottlingException", "Too many tokens.").with_header("retry-after", "7");
    let text = "the provider answered 429 ThrottlingException: Too many tokens.";
    assert_eq!(answer(rate).await, refused(FailureCode::RateLimited, text, Some(7)));
}

#[tokio::test]
async fn a_refused_signature_does_not_reveal_the_session_token() {
    let signed = format!(
        "It does not match.\n\nThe Canonical String should have been\n\
         'POST\nx-amz-security-token:{TOKEN}'"
    );
    let text = "the provider answered 403 InvalidSignatureException: It does not match.";
    assert_eq!(
        answer(refusal(403, "InvalidSignatureException", &signed)).await,
        refused(FailureCode::Unauthorized, text, None)
    );
}

#[tokio::test]
async fn a_refusal_without_an_exception_is_classified_by_its_status() {
    for (status, code) in [
        (502, FailureCode::Overloaded),
        (429, FailureCode::RateLimited),
        (301, FailureCode::BadRequest),
    ] {
        let expected = refused(code, &format!("the provider answered {status}"), None);
        assert_eq!(
            answer(Reply::refusal(status, "<html>Hello, this is a proxy.</html>")).await,
            expected
        );
    }
}

/// Fails with this error instead of providing credentials.
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
async fn a_missing_region_or_missing_credentials_fail_the_request() {
    let missing = |text: &str| Err(ModelError::new(FailureCode::NotConfigured, text));
    assert_eq!(ask(&Bedrock::with(SdkConfig::builder().build())).await, missing(NO_REGION));
    let without = |error| Bedrock::with(config("http://127.0.0.1:9", Without(error)));
    let nothing =
        without(|| CredentialsError::not_loaded("no providers in chain provided credentials"));
    assert_eq!(
        ask(&nothing).await,
        missing(
            "the provider bedrock found no AWS credentials: it looked for \
             AWS_BEARER_TOKEN_BEDROCK, for AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY, for the \
             profile AWS_PROFILE in ~/.aws, for a web identity, and for the role of a container \
             or an instance"
        )
    );
    let invalid = || CredentialsError::invalid_configuration("the profile is invalid");
    let error = ask(&without(invalid)).await.unwrap_err();
    assert_eq!(error.code, FailureCode::NotConfigured);
    assert!(
        error.message.starts_with("the AWS credentials could not be loaded: ")
            && error.message.ends_with("the profile is invalid"),
        "{error}"
    );
    let late = ask(&without(|| CredentialsError::provider_timed_out(Duration::from_secs(5)))).await;
    let text = "the AWS credentials could not be loaded in time";
    assert_eq!(late, Err(ModelError::new(FailureCode::Overloaded, text)));
}

#[tokio::test]
async fn an_unreachable_server_is_overloaded_and_an_invalid_request_is_not_sent() {
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let error = ask(&bedrock(&format!("http://{closed}"))).await.unwrap_err();
    assert_eq!(error.code, FailureCode::Overloaded);
    assert!(
        error.message.starts_with("the provider can't be reached: ")
            && error.message.contains("refused"),
        "{error}"
    );
    let nameless =
        Request { model: ModelConfig { name: String::new(), ..request().model }, ..request() };
    let Err(error) = bedrock("http://localhost").ask(&nameless).await else {
        panic!("the request was sent")
    };
    assert_eq!(error.code, FailureCode::BadRequest);
    assert!(error.message.starts_with("the request could not be made: "), "{error}");
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
