//! Sorts what goes wrong by what can be done about it.

use std::error::Error;

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_bedrockruntime::{
    config::http::HttpResponse,
    error::{ProvideErrorMetadata, SdkError},
    operation::converse_stream::ConverseStreamError,
    primitives::event_stream::Message,
    types::error::ConverseStreamOutputError,
};
use aws_smithy_types::event_stream::RawMessage;
use http_body_util::LengthLimitError;
use smartspace_domain::{durations, json, runs::FailureCode};

use crate::{
    port::ModelError,
    refusals::{Refusals, is_too_long},
};

const NO_CREDENTIALS: &str = "the provider bedrock found no AWS credentials here: it looked for AWS_BEARER_TOKEN_BEDROCK, for AWS_ACCESS_KEY_ID \
    with AWS_SECRET_ACCESS_KEY, for the profile AWS_PROFILE in ~/.aws, for a web identity, and for the role of a container or an instance";

/// An answer that is not whole.
pub(super) fn broken(text: &str) -> ModelError {
    error(FailureCode::BrokenStream, text)
}

/// A question that was not answered at all.
pub(super) fn unanswered(failure: &SdkError<ConverseStreamError, HttpResponse>) -> ModelError {
    if let SdkError::ServiceError(refused) = failure {
        let (told, response) = (refused.err(), refused.raw());
        let status = response.status().as_u16();
        let error = sorted(Some(status), told.code().unwrap_or_default(), told.message().unwrap_or_default());
        let header = |name: &str| response.headers().get(name);
        let retry_after = header("retry-after").and_then(|wish| durations::retry_after(wish, header("date")));
        return ModelError { retry_after: retry_after.filter(|_| error.is_passing()), ..error };
    }
    if let Some(lack) = find::<CredentialsError>(failure) {
        return without_credentials(lack);
    }
    match failure {
        SdkError::ConstructionFailure(_) => error(FailureCode::BadRequest, &format!("the request could not be made: {}", causes(failure))),
        SdkError::ResponseError(_) => broken("the provider sent what is no answer"),
        // It is never waited for an answer here, only for a connection.
        _ => error(FailureCode::Overloaded, &format!("the provider can't be reached: {}", causes(failure))),
    }
}

/// An answer that broke off.
pub(super) fn in_stream(failure: &SdkError<ConverseStreamOutputError, RawMessage>) -> ModelError {
    let raw = match failure {
        SdkError::ServiceError(told) => Some(told.raw()),
        SdkError::ResponseError(odd) => Some(odd.raw()),
        _ => None,
    };
    match (raw, failure) {
        (Some(RawMessage::Decoded(message)), _) => {
            told(message).unwrap_or_else(|| broken("the provider sent an event that is no part of an answer"))
        }
        // What is left over of an event that never came whole.
        (Some(RawMessage::Invalid(Some(_))), _) => broken("the answer ended before it was complete"),
        (Some(RawMessage::Invalid(None)), _) => broken("the provider sent no events"),
        _ if find::<LengthLimitError>(failure).is_some() => broken("the answer is too long"),
        _ => broken("the connection broke"),
    }
}

/// What an event tells that is an error.
fn told(message: &Message) -> Option<ModelError> {
    let header = |name| {
        let header = message.headers().iter().find(|header| header.name().as_str() == name)?;
        Some(header.value().as_string().ok()?.as_str())
    };
    let name = header(":exception-type").or_else(|| header(":error-code"))?;
    let body = std::str::from_utf8(message.payload()).ok().and_then(|body| json::parse(body).ok());
    let text = body.as_ref().and_then(|body| body.get("message")?.as_str()).or_else(|| header(":error-message"));
    Some(sorted(None, name, text.unwrap_or_default()))
}

fn without_credentials(lack: &CredentialsError) -> ModelError {
    match lack {
        CredentialsError::CredentialsNotLoaded(_) => error(FailureCode::NotConfigured, NO_CREDENTIALS),
        CredentialsError::ProviderTimedOut(_) => error(FailureCode::Overloaded, "the AWS credentials did not come in time"),
        _ => error(FailureCode::NotConfigured, &format!("the AWS credentials can't be had: {}", causes(lack))),
    }
}

/// `name` is the exception's, as it comes: with a small or a capital letter.
fn sorted(status: Option<u16>, name: &str, message: &str) -> ModelError {
    let code = match name.to_ascii_lowercase().trim_end_matches("exception") {
        "validation" if is_too_long(message) => FailureCode::ContextTooLong,
        "validation" | "resourcenotfound" => FailureCode::BadRequest,
        "throttling" | "toomanyrequests" => FailureCode::RateLimited,
        "serviceunavailable" | "internalserver" | "modelnotready" | "modeltimeout" | "modelerror" => FailureCode::Overloaded,
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
    // Behind the first line of a refused signature stands all that was signed, with the session's token.
    let message = message.trim().lines().next().unwrap_or_default();
    let colon = if message.is_empty() { "" } else { ": " };
    error(code, &format!("the provider answered {}{colon}{message}", what.trim_end()))
}

fn error(code: FailureCode, text: &str) -> ModelError {
    Refusals::new(None, "").error(code, text)
}

fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    chain(error).find_map(|error| error.downcast_ref())
}

/// What a person needs stands below the SDK's own words.
fn causes(error: &(dyn Error + 'static)) -> String {
    let mut causes: Vec<String> = chain(error).map(ToString::to_string).collect();
    causes.dedup();
    causes.join(": ")
}
