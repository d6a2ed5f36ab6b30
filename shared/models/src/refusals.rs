//! Maps errors of providers over HTTP to failure codes. Every text of a provider passes through
//! this file, so that no error contains the API key.

mod complaint;

use std::{error::Error, sync::Arc, time::Duration};

use futures::StreamExt;
use reqwest::{
    Response, Url,
    header::{DATE, HeaderMap, HeaderName, RETRY_AFTER},
};
use serde_json::Value;
use smartspace_domain::{durations, json, runs::FailureCode};
use smartspace_ports::secrets::Watch;

use self::complaint::Complaint;
#[cfg(feature = "bedrock")]
pub(crate) use self::complaint::is_too_long;
use crate::port::ModelError;

/// Limit for the provider's own text, in characters.
const LONGEST_TEXT: usize = 500;
const LONGEST_BODY: usize = 64 * 1024;

/// Keys and other secrets, which no error shows in any encoding.
#[derive(Clone)]
pub(crate) struct Hidden(Option<Arc<Watch>>);

impl Hidden {
    pub(crate) fn of(texts: impl IntoIterator<Item = String>) -> Self {
        let texts: Vec<_> = texts.into_iter().collect();
        Self(Watch::new(texts.iter().map(|text| ("key", text.as_str()))).map(Arc::new))
    }
}

/// Turns refusals of one provider into errors.
pub(crate) struct Refusals {
    /// Removed from every error text.
    hidden: Hidden,
    /// A field that every event of an answer has. An event without it may be an error.
    mark: &'static str,
}

/// Why a request was refused, with what may name a field that the provider does not take.
pub(crate) struct Refusal {
    pub(crate) error: ModelError,
    /// The text of the provider, of which `error` has only the beginning.
    pub(crate) words: String,
    /// The fields of the request that the provider blames apart from its words.
    pub(crate) fields: Vec<String>,
}

impl From<ModelError> for Refusal {
    fn from(error: ModelError) -> Self {
        Self { error, words: String::new(), fields: Vec::new() }
    }
}

impl From<Refusal> for ModelError {
    fn from(refusal: Refusal) -> Self {
        refusal.error
    }
}

impl Refusals {
    pub(crate) fn new(hidden: Hidden, mark: &'static str) -> Self {
        Self { hidden, mark }
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
        let is_unavailable = !error.is_builder();
        let causes: Vec<String> = std::iter::once(error.to_string()).chain(causes).collect();
        let error = self.error(code, &format!("{text}: {}", causes.join(": ")));
        ModelError { is_unavailable, ..error }
    }

    /// For a response with an error status.
    pub(crate) async fn of_response(&self, response: Response) -> Refusal {
        let status = response.status().as_u16();
        let retry_after = retry_after(response.headers());
        // Often the base URL lacks a part such as `/v1`. The answer itself seldom says so.
        let address = (status == 404).then(|| without_credentials(response.url()));
        let complaint = Complaint {
            status: Some(status),
            address,
            ..Complaint::of_body(&body(response).await)
        };
        let error = self.of_complaint(&complaint);
        let error =
            ModelError { retry_after: retry_after.filter(|_| error.is_transient()), ..error };
        let Complaint { words, message, fields, .. } = complaint;
        Refusal { error, words: format!("{words} {message}"), fields }
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
        let address = complaint.address.as_ref();
        let at = address.map(|address| format!(" at {}", self.without_key(address)));
        let at = at.unwrap_or_default();
        let message = self.without_key(&complaint.message);
        let colon = if message.is_empty() { "" } else { ": " };
        let error = ModelError::new(
            code,
            format!(
                "the provider answered{}{at}{about}{colon}{message}",
                if status.is_empty() { " with an error" } else { &status }
            ),
        );
        let window = complaint.window.filter(|_| code == FailureCode::ContextTooLong);
        let is_unavailable = complaint.status.is_some_and(|status| (502..=504).contains(&status));
        ModelError { window, is_unavailable, ..error }
    }

    pub(crate) fn error(&self, code: FailureCode, text: &str) -> ModelError {
        ModelError::new(code, self.without_key(text))
    }

    /// Removes the key, then puts the text on one line and truncates it. Truncating first could
    /// leave a part of the key, which would not be found.
    fn without_key(&self, text: &str) -> String {
        let text = match &self.hidden.0 {
            Some(hidden) => hidden.redact(text, |name| format!("[{name}]")),
            None => text.into(),
        };
        text.trim()
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .take(LONGEST_TEXT)
            .collect()
    }
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

/// An address without user, password, query and fragment.
fn without_credentials(url: &Url) -> String {
    format!("{}{}", url.origin().ascii_serialization(), url.path())
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: HeaderName| headers.get(name)?.to_str().ok();
    durations::retry_after(text(RETRY_AFTER)?, text(DATE))
}

#[cfg(test)]
mod tests;
