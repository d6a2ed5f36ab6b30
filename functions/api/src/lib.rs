//! The HTTP API.
//!
//! [`router`] builds all of it. A request first gets an id (`shared/web`). [`auth`] then
//! identifies the caller: [`tokens`] verifies its token with the keys that [`token_keys`] caches.
//! [`input`] reads path, query and body, a handler in [`routes`] does the work, and [`answers`]
//! turns errors into problem details.

mod annotated_routes;
mod answers;
mod auth;
mod compression;
mod console;
mod decoded_path;
mod description;
mod input;
mod metering;
mod routes;
mod socket_url;
mod static_files;
mod token_keys;
mod tokens;

use std::{net::IpAddr, sync::Arc};

use axum::{Router, middleware};
use smartspace_domain::{
    callbacks::CallbackKey, invites::InvitePolicy, providers::Providers, spaces::RouterModel,
};
use smartspace_pipeline::Pipeline;
use smartspace_ports::{model_servers::ModelServers, secrets::Secrets};
use smartspace_web::{with_fallbacks, with_middleware};

pub use auth::AdminKey;
pub use decoded_path::as_sent;
pub use smartspace_egress::{Egress, ToolHosts};
pub use smartspace_web::PublicAddress;
pub use socket_url::SocketUrl;
pub use tokens::Tokens;

/// The dependencies and settings of the HTTP API.
#[derive(Clone)]
pub struct Api {
    /// The table and the queues.
    pub pipeline: Pipeline,
    pub admin_key: AdminKey,
    /// The key of the tokens of remote agents.
    pub callback_key: CallbackKey,
    /// Which tokens are accepted. `None` accepts the admin key only.
    pub tokens: Option<Tokens>,
    /// The secrets that webhook signatures are verified with.
    pub secrets: Arc<dyn Secrets>,
    /// The address at which callers reach the API.
    pub public_address: PublicAddress,
    /// The address at which browsers open WebSockets.
    pub socket_url: SocketUrl,
    /// Origins whose pages may call the API from a browser. The console needs no entry.
    pub cors_origins: Vec<String>,
    /// The model of routers in spaces without one of their own.
    pub router_model: Option<RouterModel>,
    /// The providers that agents may name, with their secrets filled in.
    pub providers: Arc<Providers>,
    /// Asks the deployment's own servers for what they tell.
    pub model_servers: Arc<dyn ModelServers>,
    /// Sends the requests of tested tools.
    pub egress: Egress,
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

/// Builds the router: the product's routes, the host's own `host_routes`, and the middleware around
/// both.
pub fn router(api: Api, host_routes: Router) -> Router {
    let ids = Arc::clone(&api.pipeline.ids);
    let origins = api.cors_origins.clone();
    let api = Arc::new(api);
    let routes = routes::all()
        .with_state(Arc::clone(&api))
        // Callers are charged for what was read, not for what is sent.
        .layer(middleware::from_fn_with_state(api, metering::charge))
        .layer(middleware::from_fn(compression::compress))
        .merge(host_routes);
    with_middleware(with_fallbacks(routes), ids, &origins)
}
