//! Names of hosts and the addresses behind them.

use std::{io, net::IpAddr};

use async_trait::async_trait;
use reqwest::Url;

/// A host as it stands in addresses, without a dot at its end; none where `written` is no host, or more than one.
pub fn host_of(written: &str) -> Option<String> {
    let host = written.trim().trim_end_matches('.');
    // A wildcard would pass as a name that nobody has.
    let is_bare = !host.is_empty() && !host.contains(['*', '/', '\\', '?', '#', '@']) && !host.contains(char::is_whitespace);
    // A host with a port of its own is no address any more with another one behind it.
    let url = Url::parse(&format!("http://{host}:1/")).ok().filter(|_| is_bare)?;
    url.host_str().map(str::to_owned)
}

/// Finds the addresses of a host.
#[async_trait]
pub trait Names: Send + Sync {
    /// All addresses that `host` has now. An error where there are none.
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The operating system's names.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemNames;

#[async_trait]
impl Names for SystemNames {
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect())
    }
}
