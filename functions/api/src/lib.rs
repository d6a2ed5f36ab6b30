//! The HTTP door.
//!
//! [`router`] is the whole of it. A request passes [`request_id`], then [`auth`] says who asks (by [`tokens`], signed with
//! [`token_keys`]), [`input`] reads what was sent, a file of
//! [`routes`] does it, and [`answers`] turns what went wrong into problem details.

mod annotated_routes;
mod answers;
mod auth;
mod console;
mod decoded_path;
mod description;
mod input;
mod request_id;
mod routes;
mod token_keys;
mod tokens;

use std::sync::Arc;

use axum::{Router, http::HeaderValue, middleware};
use smartspace_domain::Error;
use smartspace_edges::secrets::Secrets;
use smartspace_pipeline::Pipeline;
use tower_http::{catch_panic::CatchPanicLayer, cors::CorsLayer};

pub use auth::AdminKey;
pub use decoded_path::as_sent;
pub use tokens::Tokens;

/// What this function needs.
#[derive(Clone)]
pub struct Api {
    /// The table and the queues.
    pub pipeline: Pipeline,
    /// The operator's key.
    pub admin_key: AdminKey,
    /// Which tokens are believed; none where there is nothing to believe them by.
    pub tokens: Option<Tokens>,
    /// What services sign with.
    pub secrets: Arc<dyn Secrets>,
    /// Where browsers open sockets.
    pub socket_url: SocketUrl,
    /// Origins of pages that may call from browsers; the console's own needs none.
    pub cors_origins: Vec<String>,
}

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Api").finish_non_exhaustive()
    }
}

/// Where browsers open sockets.
#[derive(Clone, Debug)]
pub enum SocketUrl {
    /// At this address.
    Fixed(String),
    /// At this path of the host that was called.
    OfHost(&'static str),
}

/// The routes of the product and a host's own, with everything around them.
pub fn router(api: Api, hosts: Router) -> Router {
    let cors = cors(&api.cors_origins);
    let ids = Arc::clone(&api.pipeline.ids);
    routes::all()
        .with_state(Arc::new(api))
        .merge(hosts)
        .fallback(answers::no_such_route)
        .method_not_allowed_fallback(answers::no_such_method)
        .layer(CatchPanicLayer::custom(answers::panicked))
        .layer(cors)
        .layer(middleware::from_fn_with_state(ids, request_id::name_request))
}

/// Answers every request that the product can't serve now, for a host that is not configured. `why` is for the log.
pub fn refusing(why: String) -> Router {
    Router::new().fallback(async move || {
        tracing::error!(event = "not_configured", error = why, "nothing can be answered");
        answers::Refusal(Error::Unavailable("this deployment is not configured yet; its log says what is missing".into()))
    })
}

fn cors(origins: &[String]) -> CorsLayer {
    use axum::http::{HeaderName, Method, header};
    let origins: Vec<HeaderValue> = origins.iter().filter_map(|origin| origin.parse().ok()).collect();
    CorsLayer::new()
        .allow_origin(origins)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers([header::AUTHORIZATION, header::CONTENT_TYPE, HeaderName::from_static("idempotency-key")])
        .expose_headers([header::LOCATION, header::RETRY_AFTER, HeaderName::from_static("x-request-id")])
        .max_age(std::time::Duration::from_mins(10))
}
