//! The description of an error by a provider, and the failure code that it gets.

use serde_json::Value;
use smartspace_domain::{json, runs::FailureCode};

use crate::port::text::as_text;

/// Fields that the provider leaves out are empty.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Complaint {
    pub(super) status: Option<u16>,
    /// The error's code, type and status text, in lower case.
    pub(super) words: String,
    pub(super) message: String,
    /// The fields of the request that it blames.
    pub(super) fields: Vec<String>,
    /// The model's context window in tokens, if the error names it.
    pub(super) window: Option<u32>,
    /// The address that was called, if it may be the wrong one. It has no credentials.
    pub(super) address: Option<String>,
}

impl Complaint {
    pub(super) fn of_body(body: &str) -> Self {
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

    pub(super) fn of_error(error: &Value) -> Self {
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
        let fields = fields_of(error);
        let window = window_of(error, &message);
        Self { status, words: words.to_lowercase(), message, fields, window, address: None }
    }

    pub(super) fn code(&self) -> FailureCode {
        match self.status {
            None | Some(400) if self.is_filtered() => FailureCode::Refused,
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

    /// Whether the provider's filter has refused the prompt or the answer.
    fn is_filtered(&self) -> bool {
        let words = ["content_filter", "content_policy_violation", "invalid_prompt"];
        let text = self.message.to_lowercase();
        words.iter().any(|word| self.words.contains(word))
            || ["content filtering policy", "content management policy"]
                .iter()
                .any(|phrase| text.contains(phrase))
    }

    fn is_too_long(&self) -> bool {
        is_too_long(&format!("{} {}", self.words, self.message))
    }

    /// Waiting does not help against an exhausted quota, although its status is 429.
    pub(super) fn quota_is_exhausted(&self) -> bool {
        matches!(self.status, None | Some(402 | 403 | 429))
            && ["insufficient_quota", "billing_hard_limit"]
                .iter()
                .any(|word| self.words.contains(word))
    }
}

/// The fields in `param`, and at the end of each `loc` of Pydantic's list of errors.
fn fields_of(error: &Value) -> Vec<String> {
    let param = error.get("param").and_then(Value::as_str);
    let errors = error.get("detail").and_then(Value::as_array).into_iter().flatten();
    let blamed = errors.filter_map(|error| error.get("loc")?.as_array()?.get(1)?.as_str());
    param.into_iter().chain(blamed).map(str::to_owned).collect()
}

/// The context window that an error names: llama.cpp has a field, other servers a sentence.
fn window_of(error: &Value, message: &str) -> Option<u32> {
    let field = error.get("n_ctx").and_then(Value::as_u64);
    let named = || {
        let text = message.to_lowercase();
        let after = [
            "maximum context length is ",
            "maximum context length of ",
            "context length of only ",
            "context length of ",
            "context window of ",
            "context size (",
            " > ",
        ];
        after.iter().find_map(|phrase| number_after(&text, phrase))
    };
    field.or_else(named).and_then(|tokens| u32::try_from(tokens).ok()).filter(|tokens| *tokens > 0)
}

/// The number right after a phrase, which may have commas.
fn number_after(text: &str, phrase: &str) -> Option<u64> {
    let digits: String = text[text.find(phrase)? + phrase.len()..]
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == ',')
        .filter(char::is_ascii_digit)
        .collect();
    digits.parse().ok()
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
