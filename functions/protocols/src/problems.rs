//! Turns refusals of the API into responses, and statuses into the error codes of protocols.

use axum::{
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use smartspace_client::Refusal;
use smartspace_domain::problems::Problem;
use smartspace_web::respond;

/// A refusal as the response of a route: problem details (RFC 9457).
#[derive(Debug)]
pub(crate) struct ProblemResponse(Refusal);

impl From<Refusal> for ProblemResponse {
    fn from(refusal: Refusal) -> Self {
        Self(refusal)
    }
}

impl IntoResponse for ProblemResponse {
    fn into_response(self) -> Response {
        let Refusal { status, detail, retry_after, .. } = self.0;
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let title = status.canonical_reason().unwrap_or_default();
        let mut response = respond(&Problem::new(status.as_u16(), title, detail));
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

/// The error code for an HTTP status.
pub(crate) fn code_of(status: u16) -> &'static str {
    match status {
        400 | 422 => "invalid",
        401 => "unauthorized",
        403 => "forbidden",
        404 => "not_found",
        409 => "conflict",
        413 => "too_large",
        429 => "too_many",
        _ => "unavailable",
    }
}
