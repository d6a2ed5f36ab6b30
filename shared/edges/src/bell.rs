//! How a worker learns at once that its run was canceled, where api and worker share a process.
//! On AWS they do not: there the worker reads its run every two seconds, and nobody rings.

use async_trait::async_trait;
use smartspace_domain::ids::RunId;

/// Rings for a run that was canceled. Only a hint: who hears it reads the run.
#[async_trait]
pub trait Bell: Send + Sync {
    /// Tells whoever works on `run` to look at it.
    fn ring(&self, run: RunId);
    /// Waits until it rings for `run`; may wait for ever.
    async fn heard(&self, run: RunId);
}

/// Never rings.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoBell;

#[async_trait]
impl Bell for NoBell {
    fn ring(&self, _run: RunId) {}

    async fn heard(&self, _run: RunId) {
        std::future::pending::<()>().await;
    }
}
