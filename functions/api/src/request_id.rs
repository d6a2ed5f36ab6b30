//! `x-request-id`: a caller's own, or a new one; on every answer and every line of the log.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::HeaderValue,
    middleware::Next,
    response::Response,
};
use smartspace_edges::ids::Ids;
use tracing::Instrument;

const HEADER: &str = "x-request-id";

pub(crate) async fn name_request(State(ids): State<Arc<dyn Ids>>, request: Request, next: Next) -> Response {
    let sane = |value: &&HeaderValue| {
        (1..=128).contains(&value.len()) && value.to_str().is_ok_and(|text| text.chars().all(|char| char.is_ascii_graphic()))
    };
    let id = request.headers().get(HEADER).filter(sane).cloned();
    let id = id.or_else(|| HeaderValue::from_str(&format!("{:032x}", ids.random())).ok());
    let Some(id) = id else { return next.run(request).await };
    let span = tracing::info_span!("request", request_id = id.to_str().unwrap_or_default(), method = %request.method(), path = request.uri().path());
    let mut response = next.run(request).instrument(span).await;
    response.headers_mut().insert(HEADER, id);
    response
}
