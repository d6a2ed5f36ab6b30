//! `/v1/mcp`: an MCP server of an entity's spaces, for clients such as Claude Code and Cursor.
//!
//! The server has no sessions: each request is complete and is answered with JSON. Clients do not
//! react to notifications yet, so tools wait for messages instead, for at most 20 seconds.

mod files;
mod resources;
mod server;
mod tool_inputs;
mod waiting;

use std::sync::Arc;

use axum::{
    Router,
    body::{Body, Bytes},
    extract::Request,
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use http::{Method, request::Parts};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};

use crate::{
    body::{MAX_BODY_BYTES, parse_json},
    mcp::server::SpacesServer,
    problems::ProblemResponse,
};

pub(crate) fn routes() -> Router {
    // `authenticate` checks origin and token. The host is not checked: DNS rebinding gains a page
    // nothing, because it has no token.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_BODY_BYTES)
        .disable_allowed_hosts();
    let service = StreamableHttpService::new(
        || Ok(SpacesServer::new()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    Router::new().route_service("/v1/mcp", service).layer(middleware::from_fn(check_json))
}

/// Refuses JSON that the API refuses. `rmcp` parses bodies itself, without our limits.
async fn check_json(parts: Parts, body: Bytes, next: Next) -> Response {
    if parts.method == Method::POST
        && let Err(refusal) = parse_json(&body)
    {
        return ProblemResponse::from(refusal).into_response();
    }
    next.run(Request::from_parts(parts, Body::from(body))).await
}
