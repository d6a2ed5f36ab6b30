//! Notifies a worker at once that its run was canceled, if the API and the worker share a process.
//! On AWS they do not: there the worker reads its run every two seconds, and no signal is sent.

use async_trait::async_trait;
use smartspace_domain::ids::RunId;

/// Signals that a run was canceled. The signal is a hint: a worker that hears it reads the run.
#[async_trait]
pub trait CancelSignal: Send + Sync {
    /// Notifies the worker of `run`.
    fn ring(&self, run: RunId);
    /// Waits for a signal for `run`, possibly forever.
    async fn heard(&self, run: RunId);
}

/// Never signals.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCancelSignal;

#[async_trait]
impl CancelSignal for NoCancelSignal {
    fn ring(&self, _run: RunId) {}

    async fn heard(&self, _run: RunId) {
        std::future::pending::<()>().await;
    }
}
