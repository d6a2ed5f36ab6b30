//! `/v1/mcp`: an MCP server of an entity's spaces, for clients such as Claude Code and Cursor.
//!
//! The server has no sessions: each request is complete and is answered with JSON. Few clients
//! react to notifications, so tools wait for messages, for at most 20 seconds. One that does asks
//! with `subscriptions/listen`, which is answered with a stream.

mod admission;
mod changes;
mod files;
mod page_calls;
mod resources;
mod schemas;
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
use http::{Method, header::CONTENT_LENGTH, request::Parts};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};
use smartspace_client::Session as ApiSession;

pub(crate) use self::admission::CALLS;
use crate::{
    body::{MAX_BODY_BYTES, parse_json},
    mcp::{admission::LISTEN, server::SpacesServer},
    problems::ProblemResponse,
};

pub(crate) fn routes() -> Router {
    // `authenticate` checks origin and token. The local host checks the host of every request, and
    // API Gateway answers only for the hosts of a deployment.
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

/// Refuses JSON that the API refuses. `rmcp` parses bodies itself, without our limits. It also
/// acknowledges a stream of changes before it can ask for the spaces, so this is done here.
async fn check_json(mut parts: Parts, mut body: Bytes, next: Next) -> Response {
    if parts.method == Method::POST {
        let mut request = match parse_json(&body) {
            Ok(request) => request,
            Err(refusal) => return ProblemResponse::from(refusal).into_response(),
        };
        let api = parts.extensions.get::<ApiSession>().cloned();
        if request["method"] == LISTEN
            && let Some(api) = api
        {
            if let Err(refusal) = changes::keep_existing(&api, &mut request).await {
                return (CALLS.refuse)(&body, refusal);
            }
            body = request.to_string().into();
            parts.headers.remove(CONTENT_LENGTH);
        }
    }
    next.run(Request::from_parts(parts, Body::from(body))).await
}
