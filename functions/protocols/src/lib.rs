//! Adapters for MCP, A2A, AG-UI and the AI SDK.
//!
//! Each adapter is a client of the HTTP and WebSocket API, with the caller's token. So it has no
//! rules of its own: it refuses what the API refuses.
//!
//! - [`auth`] finds the entity of a token, [`call_limits`] limits the open calls of an entity,
//!   [`body`] reads bodies, and [`conversation`] finds new messages in them.
//! - [`following`] subscribes to spaces.
//! - [`json_rpc`] reads what decides about the admission of a call of MCP and A2A.
//! - [`turn`] follows a message with everything that it causes in its space, and produces one
//!   ordered sequence of events.
//! - [`agui`], [`ai_sdk`] and [`a2a`] encode these events for their clients; [`sse`] writes the
//!   responses. A task of A2A is a run of an agent.
//! - [`mcp`] serves an entity's spaces to MCP clients, which wait for messages instead.
//! - [`problems`] turns refusals into responses.
//!
//! `docs/internals/protocols.md` describes the turn and each adapter.

mod a2a;
mod agui;
mod ai_sdk;
mod auth;
mod body;
mod call_limits;
mod conversation;
mod following;
mod json_rpc;
mod mcp;
mod problems;
#[cfg(test)]
mod samples;
mod sse;
mod turn;

use std::sync::Arc;

use axum::{Router, extract::DefaultBodyLimit, middleware};
use smartspace_client::Client as ApiClient;
use smartspace_domain::limits::CallLimits;
use smartspace_web::PublicAddress;

use crate::{
    auth::{Authenticator, Metadata},
    call_limits::{CallProtocol, OpenCalls, limited},
};

/// The settings of the adapters.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The address of our own API, without a slash at the end.
    pub api_url: String,
    /// The address at which callers reach the adapters.
    pub public_address: PublicAddress,
    /// Origins whose pages may call the adapters, besides the API's own.
    pub origins: Vec<String>,
    /// The identity provider whose tokens the API accepts. `None` if people get their tokens in
    /// another way.
    pub issuer: Option<String>,
    /// How many calls an entity may have open at the same time.
    pub call_limits: CallLimits,
}

/// The routes of all protocols.
pub fn router(settings: Settings) -> Router {
    let authenticator = Authenticator {
        api: ApiClient::new(settings.api_url),
        origins: settings.origins.into(),
        tokens: Arc::default(),
        has_metadata: settings.issuer.is_some(),
        public_address: settings.public_address.clone(),
    };
    let open_calls = OpenCalls::new(settings.call_limits);
    let routes = limited(mcp::routes(), &open_calls, mcp::CALLS)
        .merge(limited(agui::routes(), &open_calls, CallProtocol::PLAIN))
        .merge(limited(ai_sdk::routes(), &open_calls, CallProtocol::PLAIN))
        .merge(limited(a2a::routes(), &open_calls, a2a::CALLS));
    let routes = routes
        .route_layer(middleware::from_fn_with_state(authenticator, auth::authenticate))
        // `call_limits` reads the bodies, with a limit of its own.
        .layer(DefaultBodyLimit::disable());
    match settings.issuer {
        Some(issuer) => {
            let metadata = Metadata { issuer, public_address: settings.public_address };
            routes.merge(auth::metadata_routes(metadata))
        }
        None => routes,
    }
}

#[cfg(test)]
mod tests {
    use axum::{
        body::{Body, to_bytes},
        http::{Request, StatusCode, header},
    };
    use serde_json::{Value, json};
    use tower::ServiceExt;

    use super::*;

    async fn call(issuer: Option<&str>, method: &str, path: &str) -> (StatusCode, String, Value) {
        let router = router(Settings {
            api_url: "http://127.0.0.1:1".into(),
            public_address: PublicAddress::Configured("https://team.example".into()),
            origins: Vec::new(),
            issuer: issuer.map(str::to_owned),
            call_limits: CallLimits::DEFAULT,
        });
        let request = Request::builder().method(method).uri(path).header("host", "evil.example");
        let request = request.header("x-forwarded-proto", "http").body(Body::empty()).unwrap();
        let response = router.oneshot(request).await.unwrap();
        let challenge = response.headers().get(header::WWW_AUTHENTICATE);
        let challenge = challenge.map(|value| value.to_str().unwrap().to_owned());
        let status = response.status();
        let body = to_bytes(response.into_body(), 10_000).await.unwrap();
        let body = serde_json::from_slice(&body).unwrap_or_default();
        (status, challenge.unwrap_or_default(), body)
    }

    #[tokio::test]
    async fn a_client_finds_the_issuer_of_tokens() {
        let issuer = Some("https://login.example");
        let path = "/.well-known/oauth-protected-resource/v1/mcp";
        let (status, challenge, _) = call(issuer, "POST", "/v1/mcp").await;
        assert_eq!(status, 401);
        assert_eq!(challenge, format!("Bearer resource_metadata=\"https://team.example{path}\""));
        let (status, _, metadata) = call(issuer, "GET", path).await;
        assert_eq!(status, 200);
        let expected = json!({
            "resource": "https://team.example/v1/mcp",
            "authorization_servers": ["https://login.example"],
            "bearer_methods_supported": ["header"],
        });
        assert_eq!(metadata, expected);
    }

    #[tokio::test]
    async fn without_an_identity_provider_there_is_no_metadata() {
        let (status, challenge, _) = call(None, "POST", "/v1/mcp").await;
        assert_eq!((status.as_u16(), challenge.as_str()), (401, "Bearer"));
        let path = "/.well-known/oauth-protected-resource/v1/mcp";
        assert_eq!(call(None, "GET", path).await.0, 404);
    }
}
