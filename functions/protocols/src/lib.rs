//! The doors: protocols that other people's clients already speak.
//!
//! Each door is a client of our own API, with the caller's token: it reads and posts over HTTP
//! ([`api_client`]), and follows a space over the WebSocket ([`following`]). So there is no second
//! set of rules: what the API refuses, a door refuses.
//!
//! - [`caller`] identifies whoever comes through a door, and [`open_calls`] counts its calls.
//! - [`turn`] knows when everything has ended that a message caused; [`narration`] puts what
//!   happens in it in an order, and [`conversation`] reads, posts and follows for both.
//! - [`agui`] and [`chat`] tell a turn as it happens, to AG-UI clients and to the AI SDK's
//!   `useChat`; [`event_stream`] writes their responses.
//! - [`files`] reads files that a client sends inside its request, and finds addresses for
//!   downloads; [`posting`] uploads them and posts.
//! - [`a2a`] makes an open agent one of A2A's, whose tasks are the agent's runs.
//! - [`mcp`] serves an entity's spaces to MCP clients; [`oauth`] tells them where to get a token.

mod a2a;
mod agui;
mod api_client;
mod caller;
mod chat;
mod conversation;
mod event_stream;
mod files;
mod following;
mod input;
mod live_text;
mod mcp;
mod narration;
mod oauth;
mod open_calls;
mod posting;
mod problem_codes;
#[cfg(test)]
mod samples;
mod turn;

use std::sync::Arc;

use axum::{Router, extract::DefaultBodyLimit, middleware};

use crate::{api_client::OurApi, caller::Admission, open_calls::OpenCalls};

/// The settings of the doors.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where our own API answers, without a slash at the end.
    pub api_url: String,
    /// Origins whose pages may come in, besides the API's own.
    pub origins: Vec<String>,
    /// The identity provider whose tokens the API accepts. `None` if people get their tokens in
    /// another way.
    pub issuer: Option<String>,
}

/// The routes of all doors.
pub fn router(settings: Settings) -> Router {
    let admission = Admission {
        api: OurApi::new(settings.api_url),
        origins: settings.origins.into(),
        admitted: Arc::default(),
        open: OpenCalls::default(),
        has_metadata: settings.issuer.is_some(),
    };
    let doors = mcp::routes().merge(agui::routes()).merge(chat::routes()).merge(a2a::routes());
    let doors = doors
        .route_layer(middleware::from_fn_with_state(admission, caller::admit))
        // `admit` reads bodies, with a limit of its own.
        .layer(DefaultBodyLimit::disable());
    match settings.issuer {
        Some(issuer) => doors.merge(oauth::routes(issuer.into())),
        None => doors,
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

    async fn ask(issuer: Option<&str>, method: &str, path: &str) -> (StatusCode, String, Value) {
        let router = router(Settings {
            api_url: "http://127.0.0.1:1".into(),
            origins: Vec::new(),
            issuer: issuer.map(str::to_owned),
        });
        let request = Request::builder().method(method).uri(path).header("host", "team.example");
        let request = request.header("x-forwarded-proto", "https").body(Body::empty()).unwrap();
        let response = router.oneshot(request).await.unwrap();
        let challenge = response.headers().get(header::WWW_AUTHENTICATE);
        let challenge = challenge.map(|value| value.to_str().unwrap().to_owned());
        let status = response.status();
        let body = to_bytes(response.into_body(), 10_000).await.unwrap();
        let body = serde_json::from_slice(&body).unwrap_or_default();
        (status, challenge.unwrap_or_default(), body)
    }

    #[tokio::test]
    async fn a_client_learns_where_to_get_a_token() {
        let issuer = Some("https://login.example");
        let path = "/.well-known/oauth-protected-resource/v1/mcp";
        let (status, challenge, _) = ask(issuer, "POST", "/v1/mcp").await;
        assert_eq!(status, 401);
        assert_eq!(challenge, format!("Bearer resource_metadata=\"https://team.example{path}\""));
        let (status, _, metadata) = ask(issuer, "GET", path).await;
        assert_eq!(status, 200);
        let expected = json!({
            "resource": "https://team.example/v1/mcp",
            "authorization_servers": ["https://login.example"],
            "bearer_methods_supported": ["header"],
        });
        assert_eq!(metadata, expected);
    }

    #[tokio::test]
    async fn without_an_identity_provider_there_is_no_such_place() {
        let (status, challenge, _) = ask(None, "POST", "/v1/mcp").await;
        assert_eq!((status.as_u16(), challenge.as_str()), (401, "Bearer"));
        let path = "/.well-known/oauth-protected-resource/v1/mcp";
        assert_eq!(ask(None, "GET", path).await.0, 404);
    }
}
