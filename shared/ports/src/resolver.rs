//! Resolves hosts to IP addresses.

use std::{io, net::IpAddr};

use async_trait::async_trait;
use reqwest::Url;

/// The host in its normal form, without a dot at its end. Returns `None` if `written` is not
/// exactly one host.
pub fn host_of(written: &str) -> Option<String> {
    let host = written.trim().trim_end_matches('.');
    // The URL parser would accept a wildcard as an ordinary name.
    let is_bare = !host.is_empty()
        && !host.contains(['*', '/', '\\', '?', '#', '@'])
        && !host.contains(char::is_whitespace);
    // With a second port appended, a host that has a port of its own is no longer a valid URL.
    let url = Url::parse(&format!("http://{host}:1/")).ok().filter(|_| is_bare)?;
    url.host_str().map(str::to_owned)
}

/// Finds the addresses of a host.
#[async_trait]
pub trait Resolver: Send + Sync {
    /// The current addresses of `host`. Fails if there are none.
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The resolver of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolver for SystemResolver {
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect())
    }
}
