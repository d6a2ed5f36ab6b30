//! Responses to refused requests: problem details.

use std::any::Any;

use axum::{
    Json,
    body::Body,
    http::{HeaderValue, Method, Response, StatusCode, Uri, header},
    response::IntoResponse,
};
use smartspace_domain::{Error, problems::Problem};

/// An error as a response.
#[derive(Debug)]
pub struct Refusal(pub Error);

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response<Body> {
        let problem = Problem::of(&self.0);
        if problem.status >= 500 {
            tracing::error!(event = "request_failed", error = %self.0, "a request failed");
        }
        let mut response = respond(&problem);
        let headers = response.headers_mut();
        match self.0 {
            Error::Unauthenticated(_) => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
            }
            // The rest of the body was not read, so the connection can't serve another request.
            Error::TooLarge(_) | Error::TooSlow(_) => {
                headers.insert(header::CONNECTION, HeaderValue::from_static("close"))
            }
            Error::Retry(_) => headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1")),
            Error::Unavailable(_) => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("60"))
            }
            error @ Error::TooMany { .. } => Problem::retry_after(&error).and_then(|seconds| {
                headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds))
            }),
            _ => None,
        };
        response
    }
}

/// A problem as a response.
pub fn respond(problem: &Problem) -> Response<Body> {
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, Json(problem)).into_response();
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    response
}

pub(crate) async fn no_such_route(method: Method, uri: Uri) -> Response<Body> {
    respond(&Problem::new(404, "Not Found", format!("there is no route {method} {}", uri.path())))
}

pub(crate) async fn no_such_method(method: Method, uri: Uri) -> Response<Body> {
    respond(&Problem::new(
        405,
        "Method Not Allowed",
        format!("{} does not support {method}; the Allow header lists what it does", uri.path()),
    ))
}

#[expect(clippy::needless_pass_by_value, reason = "the layer passes it by value")]
pub(crate) fn panicked(panic: Box<dyn Any + Send + 'static>) -> Response<Body> {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    Refusal(Error::Internal(format!("a handler panicked: {}", text.unwrap_or("without a message"))))
        .into_response()
}
