//! Problem details (RFC 9457): how an error is told to a caller, over HTTP and over a socket.
//!
//! This is the one place where the kinds of [`Error`] become numbers. What is for the operator only is left out.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Error, Fault};

/// A problem, as a caller is told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// What kind; `about:blank` says that the status does.
    #[serde(rename = "type")]
    pub kind: String,
    /// The status in words.
    pub title: String,
    /// The status.
    pub status: u16,
    /// What is wrong, and what was expected.
    pub detail: String,
    /// The request that it was: `urn:request:` and its `x-request-id`. Not over sockets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// Each fault of an input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<Vec<Fault>>,
}

impl Problem {
    /// A problem of this status.
    pub fn new(status: u16, title: &str, detail: impl Into<String>) -> Self {
        Self { kind: "about:blank".into(), title: title.into(), status, detail: detail.into(), instance: None, errors: None }
    }

    /// How an error is told.
    pub fn of(error: &Error) -> Self {
        let detail = error.to_string();
        match error {
            Error::Malformed(_) => Self::new(400, "Bad Request", detail),
            Error::Unauthenticated(_) => Self::new(401, "Unauthorized", detail),
            Error::Forbidden(_) => Self::new(403, "Forbidden", detail),
            Error::NotFound(_) => Self::new(404, "Not Found", detail),
            Error::TooSlow(_) => Self::new(408, "Request Timeout", detail),
            Error::Conflict(_) | Error::LeaseLost => Self::new(409, "Conflict", detail),
            Error::TooLarge(_) => Self::new(413, "Content Too Large", detail),
            Error::Invalid(faults) => Self { errors: Some(faults.clone()), ..Self::new(422, "Unprocessable Content", detail) },
            Error::TooMany { .. } => Self::new(429, "Too Many Requests", detail),
            Error::Unavailable(_) => Self::new(503, "Service Unavailable", detail),
            Error::Retry(_) => Self::new(503, "Service Unavailable", "it is not known whether this was kept; repeat it with the same key"),
            Error::Internal(_) => Self::new(500, "Internal Server Error", "something went wrong in Smartspace; the log says what"),
        }
    }
}
