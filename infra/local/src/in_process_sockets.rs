//! The WebSocket connections of this process. Each has a bounded buffer. A client that does not
//! read is disconnected and does not delay others.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use smartspace_domain::ids::ConnectionId;
use smartspace_ports::sockets::{PostError, Sockets};
use tokio::sync::mpsc::{self, error::SendTimeoutError};

/// The greatest number of frames that wait for one connection.
const BUFFERED: usize = 256;
/// How long a post waits for room in a full buffer.
const FULL_FOR: Duration = Duration::from_millis(500);

#[derive(Debug, Default)]
pub(crate) struct InProcessSockets(Mutex<HashMap<ConnectionId, mpsc::Sender<Arc<str>>>>);

impl InProcessSockets {
    /// Registers a connection. The receiver gets its frames until it is closed.
    pub(crate) fn open(&self, id: ConnectionId) -> mpsc::Receiver<Arc<str>> {
        let (sender, frames) = mpsc::channel(BUFFERED);
        self.lock().insert(id, sender);
        frames
    }

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
                // When the client reconnects, `afterSeq` gives it the frames that it missed.
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
