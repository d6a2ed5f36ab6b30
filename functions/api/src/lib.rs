//! The HTTP API.
//!
//! [`router`] builds all of it. A request first gets an id ([`request_id`]). [`auth`] then
//! identifies the caller: [`tokens`] verifies its token with the keys that [`token_keys`] caches.
//! [`input`] reads path, query and body, a handler in [`routes`] does the work, and [`answers`]
//! turns errors into problem details.

mod annotated_routes;
mod answers;
mod auth;
mod console;
mod decoded_path;
mod description;
mod input;
mod metering;
mod request_id;
mod routes;
mod token_keys;
mod tokens;

use std::{net::IpAddr, sync::Arc};

use axum::{Router, http::HeaderValue, middleware};
use smartspace_domain::{Error, invites::InvitePolicy, prices::Prices};
use smartspace_pipeline::Pipeline;
use smartspace_ports::secrets::Secrets;
use tower_http::{catch_panic::CatchPanicLayer, cors::CorsLayer};

pub use auth::AdminKey;
pub use decoded_path::as_sent;
pub use tokens::Tokens;

/// The dependencies and settings of the HTTP API.
#[derive(Clone)]
pub struct Api {
    /// The table and the queues.
    pub pipeline: Pipeline,
    /// The operator's key.
    pub admin_key: AdminKey,
    /// Which tokens are accepted. `None` accepts the admin key only.
    pub tokens: Option<Tokens>,
    /// The secrets that webhook signatures are verified with.
    pub secrets: Arc<dyn Secrets>,
    /// The address at which browsers open WebSockets.
    pub socket_url: SocketUrl,
    /// Origins whose pages may call the API from a browser. The console needs no entry.
    pub cors_origins: Vec<String>,
    /// The models' prices, which budgets in dollars need.
    pub prices: Arc<Prices>,
    /// Who may accept invites.
    pub invites: InvitePolicy,
}

/// The address that a request came from, as far as the host knows it: an extension of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceAddress(pub IpAddr);

impl SourceAddress {
    /// What is limited together: an address, or in IPv6 its /64 network, since everyone there has
    /// many addresses.
    pub(crate) fn network(self) -> String {
        match self.0.to_canonical() {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
            }
        }
    }
}

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Api").finish_non_exhaustive()
    }
}

/// The address at which browsers open WebSockets.
#[derive(Clone, Debug)]
pub enum SocketUrl {
    /// This address.
    Fixed(String),
    /// This path on the host that the request was sent to.
    OfHost(&'static str),
}

/// Builds the router: the product's routes, the host's own `host_routes`, and the middleware around
/// both.
pub fn router(api: Api, host_routes: Router) -> Router {
    let cors = cors(&api.cors_origins);
    let ids = Arc::clone(&api.pipeline.ids);
    let api = Arc::new(api);
    routes::all()
        .with_state(Arc::clone(&api))
        .merge(host_routes)
        .fallback(answers::no_such_route)
        .method_not_allowed_fallback(answers::no_such_method)
        .layer(middleware::from_fn_with_state(api, metering::charge))
        .layer(CatchPanicLayer::custom(answers::panicked))
        .layer(cors)
        .layer(middleware::from_fn_with_state(ids, request_id::name_request))
}

/// A router that answers every request with 503, for a host that is not configured. `why` goes to
/// the log only.
pub fn refusing(why: String) -> Router {
    Router::new().fallback(async move || {
        tracing::error!(event = "not_configured", error = why, "every request is refused");
        answers::Refusal(Error::Unavailable(
            "this deployment is not configured yet; its log says what is missing".into(),
        ))
    })
}

fn cors(origins: &[String]) -> CorsLayer {
    use axum::http::{HeaderName, Method, header};
    let origins: Vec<HeaderValue> =
        origins.iter().filter_map(|origin| origin.parse().ok()).collect();
    CorsLayer::new()
        .allow_origin(origins)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            HeaderName::from_static("idempotency-key"),
            // Clients of A2A and MCP send the versions that they speak.
            HeaderName::from_static("a2a-version"),
            HeaderName::from_static("mcp-protocol-version"),
        ])
        .expose_headers([
            header::LOCATION,
            header::RETRY_AFTER,
            HeaderName::from_static("x-request-id"),
        ])
        .max_age(std::time::Duration::from_mins(10))
}
