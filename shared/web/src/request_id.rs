//! `x-request-id`: the caller's id for a request, or a new one. It is on every response, in every
//! problem, and on every log line.

use std::sync::Arc;

use axum::{
    body::to_bytes,
    extract::{Request, State},
    http::{HeaderValue, header},
    middleware::Next,
    response::Response,
};
use smartspace_domain::problems::Problem;
use smartspace_ports::{
    ids::IdSource,
    trace::{self, TraceParent},
};
use tracing::Instrument;

const HEADER: &str = "x-request-id";
/// <https://www.w3.org/TR/trace-context/>: a caller that sends it can follow the request through
/// functions and queues by its trace.
const TRACE: &str = "traceparent";
const PROBLEM: &str = "application/problem+json";

pub(crate) async fn name_request(
    State(ids): State<Arc<dyn IdSource>>,
    request: Request,
    next: Next,
) -> Response {
    let is_usable = |value: &&HeaderValue| {
        (1..=128).contains(&value.len())
            && value.to_str().is_ok_and(|text| text.chars().all(|char| char.is_ascii_graphic()))
    };
    let id = request.headers().get(HEADER).filter(is_usable).cloned();
    let id = id.or_else(|| HeaderValue::from_str(&format!("{:032x}", ids.random())).ok());
    let Some(id) = id else { return next.run(request).await };
    let trace =
        TraceParent::following(request.headers().get(TRACE).and_then(|value| value.to_str().ok()));
    let span = tracing::info_span!(
        "request",
        request_id = id.to_str().unwrap_or_default(),
        trace_id = trace.trace_id(),
        method = %request.method(),
        path = request.uri().path()
    );
    let mut response = trace::within(trace, next.run(request)).instrument(span).await;
    if response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == PROBLEM) {
        response = with_instance(response, &id).await;
    }
    response.headers_mut().insert(HEADER, id);
    response
}

/// Adds the request id to a problem, so that a forwarded problem can be found in the log.
async fn with_instance(response: Response, id: &HeaderValue) -> Response {
    let (mut parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let Ok(mut problem) = serde_json::from_slice::<Problem>(&body) else {
        return Response::from_parts(parts, body.into());
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let id: String = id
        .as_bytes()
        .iter()
        .map(
            |byte| {
                if plain(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") }
            },
        )
        .collect();
    problem.instance = Some(format!("urn:request:{id}"));
    parts.headers.remove(header::CONTENT_LENGTH);
    let body = serde_json::to_vec(&problem).map_or(body, Into::into);
    Response::from_parts(parts, body.into())
}
