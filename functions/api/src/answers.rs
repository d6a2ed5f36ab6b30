//! Responses: the result of a request, or problem details.

use axum::{
    Json,
    body::Body,
    http::{Response, StatusCode, header},
    response::IntoResponse,
};
use serde::Serialize;
use smartspace_domain::Error;
pub(crate) use smartspace_web::Refusal;

/// The result of a route.
pub(crate) type ApiResult<T> = std::result::Result<T, Refusal>;

/// 201 with the new thing and its address.
pub(crate) struct Created<T> {
    pub(crate) location: String,
    pub(crate) made: T,
}

impl<T: Serialize> IntoResponse for Created<T> {
    fn into_response(self) -> Response<Body> {
        (StatusCode::CREATED, [(header::LOCATION, self.location)], Json(self.made)).into_response()
    }
}

/// Turns `NotFound` into the answer to a repeated `Idempotency-Key` whose first request created
/// something that no longer exists. Other errors pass unchanged.
pub(crate) fn gone(error: Error) -> Error {
    match error {
        Error::NotFound(_) => Error::Conflict(
            "what this Idempotency-Key created no longer exists; use a new key to create it again"
                .into(),
        ),
        error => error,
    }
}
