//! The cancel signal within one process. The API and the workers share it, so a worker learns of a
//! cancellation at once.

use async_trait::async_trait;
use smartspace_domain::ids::RunId;
use smartspace_ports::cancel_signal::CancelSignal;
use tokio::sync::broadcast::{self, error::RecvError};

/// The number of signals that wait for a slow worker. If it misses more, it reads its run anyway.
const BUFFERED: usize = 1_024;

/// The cancel signal within one process.
#[derive(Debug)]
pub struct InProcessCancelSignal(broadcast::Sender<RunId>);

impl Default for InProcessCancelSignal {
    fn default() -> Self {
        Self(broadcast::channel(BUFFERED).0)
    }
}

#[async_trait]
impl CancelSignal for InProcessCancelSignal {
    fn ring(&self, run: RunId) {
        // Fails only if no worker listens, and then none needs the signal.
        let _ = self.0.send(run);
    }

    async fn heard(&self, run: RunId) {
        let mut signals = self.0.subscribe();
        loop {
            match signals.recv().await {
                Ok(canceled) if canceled != run => {}
                // Our run, or signals were skipped. Reading the run once too often is harmless.
                Ok(_) | Err(RecvError::Lagged(_)) => return,
                Err(RecvError::Closed) => std::future::pending::<()>().await,
            }
        }
    }
}
