//! Problem details (RFC 9457): an error as a caller gets it, over HTTP and over a WebSocket.
//!
//! This is the only place that maps the variants of [`Error`] to statuses. It leaves out what only
//! the operator may see.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Error, Fault, projects::ObjectResult};

/// An error as problem details (RFC 9457).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// Always `about:blank`: the status says what kind of problem it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// The name of the status.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What is wrong and what was expected.
    pub detail: String,
    /// `urn:request:` followed by the request's `x-request-id`. Not over a WebSocket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// All faults of the input, with 422 only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<Vec<Fault>>,
    /// What became of each object, if an apply is refused with 409.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<Vec<ObjectResult>>,
}

impl Problem {
    /// A problem with this status.
    pub fn new(status: u16, title: &str, detail: impl Into<String>) -> Self {
        Self {
            kind: "about:blank".into(),
            title: title.into(),
            status,
            detail: detail.into(),
            instance: None,
            errors: None,
            results: None,
        }
    }

    /// After how many seconds a caller that was refused with 429 may repeat its call: at least one.
    pub fn retry_after(error: &Error) -> Option<u64> {
        let Error::TooMany { wait, .. } = error else { return None };
        Some(wait.as_millis().div_ceil(1_000).max(1) as u64)
    }

    /// The problem that a caller gets for an error.
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
            Error::Invalid(_) | Error::NotAMember => {
                Self { errors: error.faults(), ..Self::new(422, "Unprocessable Content", detail) }
            }
            Error::TooMany { .. } => Self::new(429, "Too Many Requests", detail),
            Error::NoRoom(_) => Self::new(507, "Insufficient Storage", detail),
            Error::Unavailable(_) => Self::new(503, "Service Unavailable", detail),
            Error::Retry(_) => Self::new(
                503,
                "Service Unavailable",
                "it is unknown whether this took effect; repeat it with the same idempotency key",
            ),
            Error::Internal(_) => Self::new(
                500,
                "Internal Server Error",
                "an error occurred in Smartspace; the log says more",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_that_is_not_a_member_is_a_fault_of_the_input() {
        let expected = Problem {
            errors: Some(vec![Fault::new("/senderId", "expected a member of the space")]),
            ..Problem::new(
                422,
                "Unprocessable Content",
                "/senderId: expected a member of the space",
            )
        };
        assert_eq!(Problem::of(&Error::NotAMember), expected);
    }
}
