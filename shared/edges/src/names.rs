//! Names of hosts and the addresses behind them.

use std::{io, net::IpAddr};

use async_trait::async_trait;

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
