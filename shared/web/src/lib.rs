//! What the functions that answer HTTP share, on Lambda and on the local host.
//!
//! A function builds its routes, lets [`with_fallbacks`] answer requests that no route serves, and
//! wraps all of it with [`with_middleware`]. Errors are [`Refusal`]s.

mod answers;
mod decoded_path;
mod headers;
mod privacy;
mod request_id;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    http::{HeaderName, HeaderValue, Method, header},
    middleware,
    response::{IntoResponse, Response},
};
use smartspace_domain::Error;
use smartspace_ports::ids::IdSource;
use tower_http::{catch_panic::CatchPanicLayer, cors::CorsLayer};

pub use self::{
    answers::{Refusal, respond},
    decoded_path::encoded,
    headers::{PREFIX, PublicAddress, may_come_from},
    privacy::with_privacy,
};

/// How long a browser may remember which requests of a page are allowed.
const CORS_AGE: Duration = Duration::from_mins(10);

/// Answers requests that no route serves.
pub fn with_fallbacks(routes: Router) -> Router {
    routes.fallback(answers::no_such_route).method_not_allowed_fallback(answers::no_such_method)
}

/// The middleware around all routes: it names each request, lets pages of these `origins` call,
/// turns panics into problems, and keeps answers out of caches.
pub fn with_middleware(router: Router, ids: Arc<dyn IdSource>, origins: &[String]) -> Router {
    router
        .layer(CatchPanicLayer::custom(answers::panicked))
        .layer(cors(origins))
        .layer(middleware::from_fn_with_state(ids, request_id::name_request))
        .layer(middleware::map_response(async |response| with_privacy(with_one_vary(response))))
}

/// Joins several `Vary` headers into one: an answer of a Lambda function has each header once.
fn with_one_vary(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let all: Vec<_> = headers.get_all(header::VARY).iter().map(HeaderValue::as_bytes).collect();
    if all.len() > 1
        && let Ok(joined) = HeaderValue::from_bytes(&all.join(&b", "[..]))
    {
        headers.insert(header::VARY, joined);
    }
    response
}

/// A router that answers every request with 503, for a host that is not configured. `why` goes to
/// the log only.
pub fn refusing(why: String) -> Router {
    Router::new().fallback(async move || {
        tracing::error!(event = "not_configured", error = why, "every request is refused");
        let text = "this deployment is not configured yet; its log says what is missing";
        with_privacy(Refusal(Error::Unavailable(text.into())).into_response())
    })
}

fn cors(origins: &[String]) -> CorsLayer {
    let origins: Vec<HeaderValue> =
        origins.iter().filter_map(|origin| origin.parse().ok()).collect();
    CorsLayer::new()
        .allow_origin(origins)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            HeaderName::from_static("idempotency-key"),
            // Uploads to the local host have it, as they do to S3.
            header::IF_NONE_MATCH,
            // Clients of A2A and MCP send the versions that they speak.
            HeaderName::from_static("a2a-version"),
            HeaderName::from_static("mcp-protocol-version"),
        ])
        .expose_headers([
            header::ETAG,
            header::LOCATION,
            header::RETRY_AFTER,
            HeaderName::from_static("x-request-id"),
        ])
        .max_age(CORS_AGE)
        // The other headers of a request do not change the answer.
        .vary([header::ORIGIN])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_one_vary_header() {
        for (given, expected) in [
            (&[][..], &[][..]),
            (&["origin"], &["origin"]),
            (&["accept-encoding", "origin"], &["accept-encoding, origin"]),
        ] {
            let mut response = Response::default();
            for name in given {
                response.headers_mut().append(header::VARY, HeaderValue::from_static(name));
            }
            let joined = with_one_vary(response);
            let found: Vec<_> = joined.headers().get_all(header::VARY).iter().collect();
            assert_eq!(found, expected);
        }
    }
}
