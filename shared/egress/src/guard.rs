//! The HTTP client. It connects only to public addresses and to the hosts that the deployment
//! allows.
//!
//! - [`hosts`]: the hosts that the deployment allows
//! - [`resolver`]: resolves names and refuses addresses that are not public
//! - [`thread`]: the thread that drives the connections

use std::{
    fmt,
    net::IpAddr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use reqwest::{Client, ClientBuilder, RequestBuilder, Response, Url, redirect::Policy, retry};
use smartspace_ports::{
    resolver::Resolver,
    secrets::{KnownSecrets, Secrets},
};

use crate::{SendError, Transport, addresses, causes::cause};

mod hosts;
mod resolver;
mod thread;

pub use hosts::ToolHosts;
pub(crate) use resolver::Refused;
use resolver::{Anywhere, NOT_LISTED, PublicOnly};
use thread::OwnThread;

/// How long a connection may take to open, including name resolution and TLS.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// How many idle connections to a host stay open for the next request.
const IDLE_CONNECTIONS: usize = 4;
/// How long an idle connection stays open. A change of a name's address may take effect this late.
const IDLE_TIME: Duration = Duration::from_secs(30);
const USER_AGENT: &str = concat!("smartspace/", env!("CARGO_PKG_VERSION"));

/// Sends the requests of agents out of the deployment. Clones are cheap and share connections.
#[derive(Clone)]
pub struct Egress(Arc<Shared>);

struct Shared {
    route: Route,
    secrets: Arc<dyn Secrets>,
    thread: OwnThread,
}

enum Route {
    Network(Box<Network>),
    Transport(Arc<dyn Transport>),
}

struct Network {
    resolver: Arc<dyn Resolver>,
    hosts: ToolHosts,
    /// Clients for all hosts that are not allowed by name. Separate clients keep connections to
    /// allowed hosts out of the pool for other requests.
    guarded: Clients,
    /// Clients for the allowed hosts.
    open: Clients,
}

/// Created at their first use, because most processes need none of them, and each one loads the
/// root certificates.
#[derive(Default)]
struct Clients {
    /// Reuses connections.
    pooled: OnceLock<Result<Client, String>>,
    /// Opens a new connection for each request. Needed for requests that can't be repeated: a
    /// reused connection may turn out to be closed.
    fresh: OnceLock<Result<Client, String>>,
}

impl Network {
    fn client(&self, is_open: bool, is_fresh: bool) -> Result<&Client, SendError> {
        let clients = if is_open { &self.open } else { &self.guarded };
        let client = if is_fresh { &clients.fresh } else { &clients.pooled };
        let created = client.get_or_init(|| {
            let settings = if is_fresh { settings().pool_max_idle_per_host(0) } else { settings() };
            let resolver = Arc::clone(&self.resolver);
            let settings = if is_open {
                settings.dns_resolver(Anywhere(resolver))
            } else {
                settings.dns_resolver(PublicOnly(resolver))
            };
            settings.build().map_err(|error| cause(&error))
        });
        created
            .as_ref()
            .map_err(|error| SendError::NotSent(format!("TLS could not be set up: {error}")))
    }
}

impl Egress {
    /// Sends requests to public addresses and to `hosts`. `resolver` resolves all names.
    pub fn new(resolver: Arc<dyn Resolver>, hosts: ToolHosts, secrets: Arc<dyn Secrets>) -> Self {
        let guarded = Clients::default();
        let open = Clients::default();
        let network = Network { resolver, hosts, guarded, open };
        Self::with_route(Route::Network(Box::new(network)), secrets)
    }

    /// Sends every request to `transport` instead of the network.
    pub fn over(transport: Arc<dyn Transport>, secrets: Arc<dyn Secrets>) -> Self {
        Self::with_route(Route::Transport(transport), secrets)
    }

    fn with_route(route: Route, secrets: Arc<dyn Secrets>) -> Self {
        Self(Arc::new(Shared { route, secrets, thread: OwnThread::default() }))
    }

    /// The replacement of the network, if there is one.
    pub(crate) fn transport(&self) -> Option<&Arc<dyn Transport>> {
        match &self.0.route {
            Route::Network(_) => None,
            Route::Transport(transport) => Some(transport),
        }
    }

    /// The current secrets of this deployment.
    ///
    /// # Errors
    /// [`SendError::NotSent`] if they can't be read. The reason is only in the log.
    pub async fn secrets(&self) -> Result<Arc<KnownSecrets>, SendError> {
        self.0.secrets.known().await.map_err(|error| {
            tracing::error!(%error, "a tool's secrets could not be read");
            SendError::NotSent("the secrets of this deployment could not be read".into())
        })
    }

    /// Sends a request of one of the clients. Returns after the head of the response. The caller
    /// reads the body.
    pub(crate) async fn go(&self, request: RequestBuilder) -> Result<Response, reqwest::Error> {
        self.0.thread.run(request.send()).await
    }

    /// Whether `SMARTSPACE_TOOL_HOSTS` lists the host of this URL.
    pub(crate) fn is_allowed_by_name(&self, url: &Url) -> bool {
        matches!(&self.0.route, Route::Network(network) if network.hosts.allow(url))
    }

    /// The client for one hop to this URL. A fresh client doesn't reuse connections.
    ///
    /// Checks the scheme, refuses URLs with a password, and checks a host that is an IP address.
    /// The client itself checks the addresses of a name when it connects.
    pub(crate) fn client_for(&self, url: &Url, is_fresh: bool) -> Result<&Client, SendError> {
        let refuse = |text: String| Err(SendError::Refused(text));
        let Route::Network(network) = &self.0.route else {
            return refuse("this process has no network".into());
        };
        if !matches!(url.scheme(), "http" | "https") {
            return refuse("expected an address that begins with https:// or http://".into());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return refuse("expected an address without a user or a password in it".into());
        }
        let Some(host) = url.host_str() else {
            return refuse("expected an address with a host".into());
        };
        if network.hosts.allow(url) {
            return network.client(true, is_fresh);
        }
        // The client does not resolve IP addresses. `Url` has normalized every spelling of them.
        let literal = host.trim_matches(['[', ']']).parse::<IpAddr>().ok();
        match literal.and_then(addresses::special) {
            Some(special) => {
                let port = url.port_or_known_default().unwrap_or_default();
                refuse(format!("{host}:{port} is {special}, {NOT_LISTED}"))
            }
            None => network.client(false, is_fresh),
        }
    }
}

impl fmt::Debug for Egress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Egress").finish_non_exhaustive()
    }
}

fn settings() -> ClientBuilder {
    Client::builder()
        .user_agent(USER_AGENT)
        // A proxy would resolve names itself, without a check of their addresses.
        .no_proxy()
        // Each target must be checked, so `send` follows redirects itself.
        .redirect(Policy::none())
        .referer(false)
        // Only the caller knows which requests may be repeated.
        .retry(retry::never())
        .connect_timeout(CONNECT_LIMIT)
        .pool_max_idle_per_host(IDLE_CONNECTIONS)
        .pool_idle_timeout(IDLE_TIME)
        // For HTTP/1.1, hyper limits the head of a response: 100 fields and about 400 KiB.
        .http1_only()
}

#[cfg(test)]
mod tests;
