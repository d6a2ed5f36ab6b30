//! Maps errors of Bedrock and of the AWS SDK to failure codes.

use std::error::Error;

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_bedrockruntime::{
    config::http::HttpResponse,
    error::{ProvideErrorMetadata, SdkError},
    primitives::event_stream::Message,
    types::error::ConverseStreamOutputError,
};
use aws_smithy_types::event_stream::RawMessage;
use http_body_util::LengthLimitError;
use smartspace_domain::{durations, json, runs::FailureCode};

use crate::{
    port::ModelError,
    refusals::{Hidden, Refusal, Refusals, is_too_long},
};

const NO_CREDENTIALS: &str = "the provider bedrock found no AWS credentials: \
    it looked for AWS_BEARER_TOKEN_BEDROCK, for AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY, \
    for the profile AWS_PROFILE in ~/.aws, for a web identity, \
    and for the role of a container or an instance";

/// For an answer that is not complete.
pub(super) fn broken(text: &str) -> ModelError {
    error(FailureCode::BrokenStream, text)
}

/// For a request without an answer, with the words in which a field may be named.
pub(super) fn refusal<E>(failure: &SdkError<E, HttpResponse>) -> Refusal
where
    E: Error + ProvideErrorMetadata + 'static,
{
    let error = unanswered(failure);
    Refusal { words: error.message.clone(), ..error.into() }
}

/// For a request without an answer.
pub(super) fn unanswered<E>(failure: &SdkError<E, HttpResponse>) -> ModelError
where
    E: Error + ProvideErrorMetadata + 'static,
{
    if let SdkError::ServiceError(refusal) = failure {
        return refused(refusal.err(), refusal.raw());
    }
    if let Some(missing) = find::<CredentialsError>(failure) {
        return without_credentials(missing);
    }
    match failure {
        SdkError::ConstructionFailure(_) => error(
            FailureCode::BadRequest,
            &format!("the request could not be made: {}", causes(failure)),
        ),
        SdkError::ResponseError(_) => broken("the provider's response could not be parsed"),
        // The SDK has only a connect timeout, so a timeout also means that it could not connect.
        _ => error(
            FailureCode::Overloaded,
            &format!("the provider can't be reached: {}", causes(failure)),
        ),
    }
}

fn refused(refusal: &impl ProvideErrorMetadata, response: &HttpResponse) -> ModelError {
    let error = described(
        Some(response.status().as_u16()),
        refusal.code().unwrap_or_default(),
        refusal.message().unwrap_or_default(),
    );
    let header = |name: &str| response.headers().get(name);
    let retry_after =
        header("retry-after").and_then(|wait| durations::retry_after(wait, header("date")));
    ModelError { retry_after: retry_after.filter(|_| error.is_transient()), ..error }
}

/// For an answer that broke off.
pub(super) fn in_stream(failure: &SdkError<ConverseStreamOutputError, RawMessage>) -> ModelError {
    let raw = match failure {
        SdkError::ServiceError(reported) => Some(reported.raw()),
        SdkError::ResponseError(invalid) => Some(invalid.raw()),
        _ => None,
    };
    match (raw, failure) {
        (Some(RawMessage::Decoded(message)), _) => reported(message)
            .unwrap_or_else(|| broken("the provider sent an event that is not part of an answer")),
        // The rest of an incomplete event.
        (Some(RawMessage::Invalid(Some(_))), _) => {
            broken("the answer ended before it was complete")
        }
        (Some(RawMessage::Invalid(None)), _) => broken("the provider sent an invalid event stream"),
        _ if find::<LengthLimitError>(failure).is_some() => broken("the answer is too long"),
        _ => broken("the connection broke"),
    }
}

/// The error that an event reports, if it reports one.
fn reported(message: &Message) -> Option<ModelError> {
    let header = |name| {
        let header = message.headers().iter().find(|header| header.name().as_str() == name)?;
        Some(header.value().as_string().ok()?.as_str())
    };
    let name = header(":exception-type").or_else(|| header(":error-code"))?;
    let body = std::str::from_utf8(message.payload()).ok().and_then(|body| json::parse(body).ok());
    let text = body
        .as_ref()
        .and_then(|body| body.get("message")?.as_str())
        .or_else(|| header(":error-message"));
    Some(described(None, name, text.unwrap_or_default()))
}

fn without_credentials(missing: &CredentialsError) -> ModelError {
    match missing {
        CredentialsError::CredentialsNotLoaded(_) => {
            error(FailureCode::NotConfigured, NO_CREDENTIALS)
        }
        CredentialsError::ProviderTimedOut(_) => {
            error(FailureCode::Overloaded, "the AWS credentials could not be loaded in time")
        }
        _ => error(
            FailureCode::NotConfigured,
            &format!("the AWS credentials could not be loaded: {}", causes(missing)),
        ),
    }
}

/// `name` is the exception's name. Its first letter is lower case in some responses.
fn described(status: Option<u16>, name: &str, message: &str) -> ModelError {
    let code = match name.to_ascii_lowercase().trim_end_matches("exception") {
        "validation" if is_too_long(message) => FailureCode::ContextTooLong,
        "validation" | "resourcenotfound" => FailureCode::BadRequest,
        "throttling" | "toomanyrequests" => FailureCode::RateLimited,
        "serviceunavailable" | "internalserver" | "modelnotready" | "modeltimeout"
        | "modelerror" => FailureCode::Overloaded,
        "modelstreamerror" => FailureCode::BrokenStream,
        "accessdenied" | "expiredtoken" | "unrecognizedclient" => FailureCode::Unauthorized,
        _ => match status {
            Some(401 | 403) => FailureCode::Unauthorized,
            Some(429) => FailureCode::RateLimited,
            Some(408 | 409 | 424 | 500..) => FailureCode::Overloaded,
            Some(_) => FailureCode::BadRequest,
            None => FailureCode::BrokenStream,
        },
    };
    let what = match status {
        Some(status) => format!("{status} {name}"),
        None => format!("with {name}"),
    };
    // If a signature is refused, the lines after the first one repeat everything that was signed,
    // including the session token.
    let message = message.trim().lines().next().unwrap_or_default();
    let colon = if message.is_empty() { "" } else { ": " };
    error(code, &format!("the provider answered {}{colon}{message}", what.trim_end()))
}

fn error(code: FailureCode, text: &str) -> ModelError {
    Refusals::new(Hidden::of(None), "").error(code, text)
}

fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    chain(error).find_map(|error| error.downcast_ref())
}

/// The outermost texts are the SDK's own and say little, so the text includes all causes.
fn causes(error: &(dyn Error + 'static)) -> String {
    let mut causes: Vec<String> = chain(error).map(ToString::to_string).collect();
    causes.dedup();
    causes.join(": ")
}
