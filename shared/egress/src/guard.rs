//! The client that goes nowhere but to public addresses and to the hosts that the deployment allows.
//!
//! - [`hosts`]: what the deployment allows
//! - [`resolver`]: names, and that all that is behind them is public
//! - [`thread`]: where connections are driven

use std::{
    fmt,
    net::IpAddr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use async_trait::async_trait;
use reqwest::{Client, ClientBuilder, RequestBuilder, Response, Url, redirect::Policy, retry};
use smartspace_edges::{
    names::Names,
    secrets::{KnownSecrets, Secrets},
};

use crate::{Answer, Outgoing, SendError, addresses, request::failures};

mod hosts;
mod resolver;
mod thread;

pub use hosts::ToolHosts;
pub(crate) use resolver::Refused;
use resolver::{Anywhere, PublicOnly};
use thread::OwnThread;

/// How long a connection may take to open, name and TLS included.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// How many connections to a host are kept for the next request.
const IDLE_CONNECTIONS: usize = 4;
/// How long they are kept. Also for so long a name that now leads elsewhere is still where it was.
const IDLE_TIME: Duration = Duration::from_secs(30);
/// As which program we ask.
const USER_AGENT: &str = concat!("smartspace/", env!("CARGO_PKG_VERSION"));

/// The way out. Cheap to clone: all clones share their connections.
#[derive(Clone)]
pub struct Egress(Arc<Shared>);

struct Shared {
    way: Way,
    secrets: Arc<dyn Secrets>,
    thread: OwnThread,
}

enum Way {
    Network(Box<Network>),
    Wire(Arc<dyn Wire>),
}

struct Network {
    names: Arc<dyn Names>,
    hosts: ToolHosts,
    /// Made when they are first used: most processes need none of them, and each reads the certificates of authorities. Never one for both, so that a connection to
    /// an allowed host is not found in the pool for another request.
    guarded: Clients,
    open: Clients,
}

#[derive(Default)]
struct Clients {
    /// Keeps connections for the next request.
    keeping: OnceLock<Result<Client, String>>,
    /// Opens a connection for each: for what can't be repeated where a kept one turns out to be closed.
    fresh: OnceLock<Result<Client, String>>,
}

impl Network {
    fn client(&self, is_open: bool, is_fresh: bool) -> Result<&Client, SendError> {
        let clients = if is_open { &self.open } else { &self.guarded };
        let client = if is_fresh { &clients.fresh } else { &clients.keeping };
        let made = client.get_or_init(|| {
            let settings = if is_fresh { settings().pool_max_idle_per_host(0) } else { settings() };
            let names = Arc::clone(&self.names);
            let settings = if is_open { settings.dns_resolver(Anywhere(names)) } else { settings.dns_resolver(PublicOnly(names)) };
            settings.build().map_err(|error| failures::cause(&error))
        });
        made.as_ref().map_err(|error| SendError::NotSent(format!("TLS can't be set up here: {error}")))
    }
}

/// What stands in for the network where there is none, as in a simulation.
#[async_trait]
pub trait Wire: Send + Sync {
    /// Answers a request as the servers out there would.
    async fn send(&self, request: Outgoing) -> Result<Answer, SendError>;
}

impl Egress {
    /// A way out that goes to public addresses and to `hosts`, and finds both by `names`.
    pub fn new(names: Arc<dyn Names>, hosts: ToolHosts, secrets: Arc<dyn Secrets>) -> Self {
        let network = Network { names, hosts, guarded: Clients::default(), open: Clients::default() };
        Self(Arc::new(Shared { way: Way::Network(Box::new(network)), secrets, thread: OwnThread::default() }))
    }

    /// A way out that leads to `wire` and nowhere else.
    pub fn over(wire: Arc<dyn Wire>, secrets: Arc<dyn Secrets>) -> Self {
        Self(Arc::new(Shared { way: Way::Wire(wire), secrets, thread: OwnThread::default() }))
    }

    /// What stands in for the network, if anything does.
    pub(crate) fn wire(&self) -> Option<&Arc<dyn Wire>> {
        if let Way::Wire(wire) = &self.0.way { Some(wire) } else { None }
    }

    /// The secrets of this deployment, as they are now.
    ///
    /// # Errors
    /// [`SendError::NotSent`] where they can't be read; the log says why.
    pub async fn secrets(&self) -> Result<Arc<KnownSecrets>, SendError> {
        self.0.secrets.known().await.map_err(|error| {
            tracing::error!(%error, "a tool's secrets could not be read");
            SendError::NotSent("the secrets of this deployment could not be read".into())
        })
    }

    /// Sends a request of one of the clients. The head of its answer is there then; its body comes as it is read.
    pub(crate) async fn go(&self, request: RequestBuilder) -> Result<Response, reqwest::Error> {
        self.0.thread.run(request.send()).await
    }

    /// Whether the deployment allows the host of an address, wherever it is.
    pub(crate) fn is_allowed_by_name(&self, url: &Url) -> bool {
        matches!(&self.0.way, Way::Network(network) if network.hosts.allow(url))
    }

    /// The client for one hop to this address, after the address was checked: its scheme, that no password is in it, and its host where
    /// that is written as a number. What a name leads to is checked when the client connects. A `fresh` one takes no connection that was used before.
    pub(crate) fn client_for(&self, url: &Url, is_fresh: bool) -> Result<&Client, SendError> {
        let refuse = |text: String| Err(SendError::NotSent(text));
        let Way::Network(network) = &self.0.way else {
            return refuse("there is no network here".into());
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
        // The client asks no resolver about these. `Url` has brought every spelling of them into one form.
        let literal = host.trim_matches(['[', ']']).parse::<IpAddr>().ok();
        match literal.and_then(addresses::special) {
            Some(special) => refuse(format!("{host} is {special}, where tools may not go unless it is allowed by name")),
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
        // A proxy would resolve names where nobody checks them.
        .no_proxy()
        // Each hop must be checked: `send` follows them itself.
        .redirect(Policy::none())
        .referer(false)
        // What may be repeated is known to who sends.
        .retry(retry::never())
        .connect_timeout(CONNECT_LIMIT)
        .pool_max_idle_per_host(IDLE_CONNECTIONS)
        .pool_idle_timeout(IDLE_TIME)
        // Its head is bounded by hyper: 100 fields and some 400 KiB.
        .http1_only()
}

#[cfg(test)]
mod tests;
