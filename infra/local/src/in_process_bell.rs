//! The bell of one process: api and workers share it, so a cancellation is heard at once.

use async_trait::async_trait;
use smartspace_domain::ids::RunId;
use smartspace_edges::bell::Bell;
use tokio::sync::broadcast::{self, error::RecvError};

/// Rings that a worker may be behind before it looks in any case.
const BEHIND: usize = 1_024;

/// The bell of one process.
#[derive(Debug)]
pub struct InProcessBell(broadcast::Sender<RunId>);

impl Default for InProcessBell {
    fn default() -> Self {
        Self(broadcast::channel(BEHIND).0)
    }
}

#[async_trait]
impl Bell for InProcessBell {
    fn ring(&self, run: RunId) {
        // Nobody works on anything: nobody has to hear it.
        let _ = self.0.send(run);
    }

    async fn heard(&self, run: RunId) {
        let mut rings = self.0.subscribe();
        loop {
            match rings.recv().await {
                Ok(rung) if rung != run => {}
                // Ours, or too many to tell: looking once too often is harmless.
                Ok(_) | Err(RecvError::Lagged(_)) => return,
                Err(RecvError::Closed) => std::future::pending::<()>().await,
            }
        }
    }
}
