//! Maps errors of providers over HTTP to failure codes. Every text of a provider passes through
//! this file, so that no error contains the API key.

use std::{error::Error, time::Duration};

use futures::StreamExt;
use reqwest::{
    Response,
    header::{DATE, HeaderMap, HeaderName, RETRY_AFTER},
};
use serde_json::Value;
use smartspace_domain::{durations, json, runs::FailureCode};

use crate::{estimate::as_text, port::ModelError};

/// Limit for the provider's own text, in characters.
const LONGEST_TEXT: usize = 500;
const LONGEST_BODY: usize = 64 * 1024;

/// Turns refusals of one provider into errors.
pub(crate) struct Refusals {
    /// Removed from every error text.
    key: Option<String>,
    /// A field that every event of an answer has. An event without it may be an error.
    mark: &'static str,
}

/// The description of an error by a provider. Fields that the provider leaves out are empty.
#[derive(Debug, Default, PartialEq, Eq)]
struct Complaint {
    status: Option<u16>,
    /// The error's code, type and status text, in lower case.
    words: String,
    message: String,
}

impl Refusals {
    pub(crate) fn new(key: Option<String>, mark: &'static str) -> Self {
        Self { key, mark }
    }

    /// For an answer that broke off.
    pub(crate) fn broken(&self, text: &str) -> ModelError {
        self.error(FailureCode::BrokenStream, text)
    }

    /// For a request without any response.
    pub(crate) fn unsent(&self, error: reqwest::Error) -> ModelError {
        let (code, text) = match () {
            () if error.is_builder() => (FailureCode::BadRequest, "the request could not be made"),
            () if error.is_connect() => (FailureCode::Overloaded, "the provider can't be reached"),
            () => (FailureCode::BrokenStream, "the connection broke before the answer came"),
        };
        // The URL may contain a password, so the text has only the causes.
        let error = error.without_url();
        let causes =
            std::iter::successors(error.source(), |&cause| cause.source()).map(ToString::to_string);
        let causes: Vec<String> = std::iter::once(error.to_string()).chain(causes).collect();
        self.error(code, &format!("{text}: {}", causes.join(": ")))
    }

    /// For a response with an error status.
    pub(crate) async fn of_response(&self, response: Response) -> ModelError {
        let status = response.status().as_u16();
        let retry_after = retry_after(response.headers());
        let complaint =
            Complaint { status: Some(status), ..Complaint::of_body(&body(response).await) };
        let error = self.of_complaint(&complaint);
        ModelError { retry_after: retry_after.filter(|_| error.is_transient()), ..error }
    }

    /// For an event of the type `error`.
    pub(crate) fn of_error_event(&self, data: &str) -> ModelError {
        match json::parse(data) {
            Ok(Value::Object(_)) => self.of_complaint(&Complaint::of_body(data)),
            _ => self.of_foreign(data),
        }
    }

    /// For an event that is not part of an answer: an error in an unknown form, or nonsense.
    pub(crate) fn of_foreign(&self, data: &str) -> ModelError {
        match json::parse(data) {
            Ok(Value::Object(fields)) if fields.get(self.mark).is_none_or(Value::is_null) => {
                self.of_complaint(&Complaint::of_body(data))
            }
            Ok(_) => self.broken("the provider sent an event that is not part of an answer"),
            Err(_) => self.broken("the provider sent an event that is not JSON"),
        }
    }

    /// For an error in the middle of an answer.
    pub(crate) fn of_error(&self, error: &Value) -> ModelError {
        self.of_complaint(&Complaint::of_error(error))
    }

    fn of_complaint(&self, complaint: &Complaint) -> ModelError {
        let code = complaint.code();
        let status = complaint.status.map(|status| format!(" {status}")).unwrap_or_default();
        let about = match complaint.status {
            _ if complaint.quota_is_exhausted() => ", the quota of this key is exhausted",
            Some(300..400) => ", a redirect, which is not followed",
            _ => "",
        };
        let message = self.without_key(&complaint.message);
        let colon = if message.is_empty() { "" } else { ": " };
        ModelError::new(
            code,
            format!(
                "the provider answered{}{about}{colon}{message}",
                if status.is_empty() { " with an error" } else { &status }
            ),
        )
    }

    pub(crate) fn error(&self, code: FailureCode, text: &str) -> ModelError {
        ModelError::new(code, self.without_key(text))
    }

    /// Removes the key, then puts the text on one line and truncates it. Truncating first could
    /// leave a part of the key, which would not be found.
    fn without_key(&self, text: &str) -> String {
        let text =
            self.key.as_ref().map_or_else(|| text.to_owned(), |key| text.replace(key, "[key]"));
        text.trim()
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .take(LONGEST_TEXT)
            .collect()
    }
}

impl Complaint {
    fn of_body(body: &str) -> Self {
        match json::parse(body) {
            // Google's servers put the error in a list.
            Ok(Value::Array(items)) if items.len() == 1 => {
                Self::of_error(items[0].get("error").unwrap_or(&items[0]))
            }
            Ok(json) => {
                Self::of_error(json.get("error").filter(|error| !error.is_null()).unwrap_or(&json))
            }
            Err(_) => Self { message: body.to_owned(), ..Self::default() },
        }
    }

    fn of_error(error: &Value) -> Self {
        let field = |name| error.get(name).filter(|field| !field.is_null());
        let status = ["code", "status"]
            .into_iter()
            .find_map(|name| field(name)?.as_u64())
            .and_then(|status| u16::try_from(status).ok());
        let words = ["code", "type", "status"]
            .into_iter()
            .filter_map(|name| field(name)?.as_str())
            .collect::<Vec<_>>()
            .join(" ");
        let message = field("message").or(field("detail")).map_or_else(|| as_text(error), as_text);
        Self { status, words: words.to_lowercase(), message }
    }

    fn code(&self) -> FailureCode {
        match self.status {
            None | Some(400 | 413 | 422) if self.is_too_long() => FailureCode::ContextTooLong,
            _ if self.quota_is_exhausted() => FailureCode::BadRequest,
            Some(401 | 403) => FailureCode::Unauthorized,
            Some(429) => FailureCode::RateLimited,
            Some(408 | 409 | 500..) => FailureCode::Overloaded,
            Some(_) => FailureCode::BadRequest,
            None => self.code_of_words(),
        }
    }

    /// For errors inside a stream, which have no status.
    fn code_of_words(&self) -> FailureCode {
        let says = |parts: &[&str]| parts.iter().any(|part| self.words.contains(part));
        if says(&["rate_limit", "too_many_requests"]) {
            FailureCode::RateLimited
        } else if says(&["authentication", "invalid_api_key", "permission"]) {
            FailureCode::Unauthorized
        } else if says(&["invalid_request", "bad_request", "not_found", "billing"]) {
            FailureCode::BadRequest
        } else if says(&["server_error", "api_error", "overloaded", "unavailable", "timeout"]) {
            FailureCode::Overloaded
        } else {
            FailureCode::BrokenStream
        }
    }

    fn is_too_long(&self) -> bool {
        is_too_long(&format!("{} {}", self.words, self.message))
    }

    /// Waiting does not help against an exhausted quota, although its status is 429.
    fn quota_is_exhausted(&self) -> bool {
        matches!(self.status, None | Some(402 | 403 | 429))
            && ["insufficient_quota", "billing_hard_limit"]
                .iter()
                .any(|word| self.words.contains(word))
    }
}

/// Whether a provider's error text means that the prompt is too long.
pub(crate) fn is_too_long(text: &str) -> bool {
    let text = text.to_lowercase();
    let phrases = [
        "context_length",
        "context length",
        "context window",
        "context size",
        "context limit",
        "maximum context",
        "maximum number of tokens",
        "prompt is too long",
        "input is too long",
        "input tokens exceeded",
        "too many input tokens",
        "request_too_large",
    ];
    phrases.iter().any(|phrase| text.contains(phrase))
}

/// Returns an empty text if the body did not arrive completely: it could end in the middle of the
/// key, which would not be found.
async fn body(response: Response) -> String {
    let mut body = Vec::new();
    let mut pieces = response.bytes_stream();
    while let Some(piece) = pieces.next().await {
        match piece {
            Ok(piece) if body.len() + piece.len() <= LONGEST_BODY => body.extend_from_slice(&piece),
            _ => return String::new(),
        }
    }
    String::from_utf8_lossy(&body).into_owned()
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: HeaderName| headers.get(name)?.to_str().ok();
    durations::retry_after(text(RETRY_AFTER)?, text(DATE))
}

#[cfg(test)]
mod tests;
