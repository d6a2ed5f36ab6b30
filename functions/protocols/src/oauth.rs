//! Where a client gets a token, if people sign in with an identity provider: the metadata of a
//! protected resource (RFC 9728), which MCP clients look for after a 401.

use std::sync::Arc;

use axum::{Json, Router, extract::State, http::HeaderMap, routing::get};
use serde_json::{Value, json};
use smartspace_web::host_address;

/// The path of the door that the metadata describes.
const DOOR: &str = "/v1/mcp";
/// The path of its metadata.
const PATH: &str = "/.well-known/oauth-protected-resource/v1/mcp";

/// The route of the metadata, which needs no token.
pub(crate) fn routes(issuer: Arc<str>) -> Router {
    Router::new().route(PATH, get(metadata)).with_state(issuer)
}

async fn metadata(State(issuer): State<Arc<str>>, headers: HeaderMap) -> Json<Value> {
    Json(json!({
        "resource": format!("{}{DOOR}", host_address("http", &headers)),
        "authorization_servers": [&*issuer],
        "bearer_methods_supported": ["header"],
    }))
}

/// What `WWW-Authenticate` says to a request without a token.
pub(crate) fn challenge(headers: &HeaderMap) -> String {
    format!("Bearer resource_metadata=\"{}{PATH}\"", host_address("http", headers))
}
