//! What servers of models tell of themselves.

use async_trait::async_trait;
use smartspace_domain::providers::ProviderEntry;

#[async_trait]
pub trait ModelServers: Send + Sync {
    /// The most tokens of a request and its answer, if the server tells it. Of several models the
    /// smallest figure.
    async fn context_window(&self, provider: &ProviderEntry) -> Option<u32>;
}

/// For hosts that ask no servers.
pub struct NoServers;

#[async_trait]
impl ModelServers for NoServers {
    async fn context_window(&self, _: &ProviderEntry) -> Option<u32> {
        None
    }
}
