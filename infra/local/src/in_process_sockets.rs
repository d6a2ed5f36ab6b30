//! The connections of this process. Each has a writer with a bounded buffer: who does not read is let go, and holds up nobody.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use smartspace_domain::ids::ConnectionId;
use smartspace_edges::sockets::{PostError, Sockets};
use tokio::sync::mpsc::{self, error::SendTimeoutError};

/// Frames that wait for one connection.
const BUFFERED: usize = 256;
/// How long a full buffer is waited for.
const FULL_FOR: Duration = Duration::from_millis(500);

/// The connections of this process.
#[derive(Debug, Default)]
pub(crate) struct InProcessSockets(Mutex<HashMap<ConnectionId, mpsc::Sender<Arc<str>>>>);

impl InProcessSockets {
    /// Takes in a connection. Its frames come out here, until it is closed.
    pub(crate) fn open(&self, id: ConnectionId) -> mpsc::Receiver<Arc<str>> {
        let (sender, frames) = mpsc::channel(BUFFERED);
        self.lock().insert(id, sender);
        frames
    }

    /// Closes all of them.
    pub(crate) fn close_all(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ConnectionId, mpsc::Sender<Arc<str>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Sockets for InProcessSockets {
    async fn post(&self, connection: &ConnectionId, frame: Arc<str>) -> Result<(), PostError> {
        let sender = self.lock().get(connection).cloned().ok_or(PostError::Gone)?;
        match sender.send_timeout(frame, FULL_FOR).await {
            Ok(()) => Ok(()),
            Err(SendTimeoutError::Closed(_)) => Err(PostError::Gone),
            Err(SendTimeoutError::Timeout(_)) => {
                // It comes back with `afterSeq` and misses nothing.
                if self.lock().remove(connection).is_some() {
                    tracing::info!(%connection, "a connection that does not read was closed");
                }
                Err(PostError::Gone)
            }
        }
    }

    async fn close(&self, connection: &ConnectionId) {
        self.lock().remove(connection);
    }
}
