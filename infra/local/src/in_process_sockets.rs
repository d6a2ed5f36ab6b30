//! The WebSocket connections of this process. Each has a bounded buffer. A client that does not
//! read is disconnected and does not delay others.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use smartspace_domain::ids::ConnectionId;
use smartspace_pipeline::frames::Goodbye;
use smartspace_ports::sockets::{CloseCode, PostError, PostPermits, Sockets};
use tokio::sync::{
    mpsc::{self, error::SendTimeoutError},
    watch,
};

/// The greatest number of frames that wait for one connection.
const BUFFERED: usize = 256;
/// How long a post waits for room in a full buffer.
const FULL_FOR: Duration = Duration::from_millis(500);

#[derive(Debug, Default)]
pub(crate) struct InProcessSockets {
    open: Mutex<HashMap<ConnectionId, Open>>,
    post_permits: PostPermits,
    /// Each connection has a receiver until its last frame is written.
    written: watch::Sender<()>,
}

/// The product's end of a connection.
#[derive(Debug)]
struct Open {
    frames: mpsc::Sender<Arc<str>>,
    code: Arc<OnceLock<CloseCode>>,
}

/// The frames to be written to a connection, and then the code that closes it.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) frames: mpsc::Receiver<Arc<str>>,
    code: Arc<OnceLock<CloseCode>>,
    _writing: watch::Receiver<()>,
}

impl Outgoing {
    /// Says that the client does not read, unless the connection has a code already.
    pub(crate) fn reads_too_slowly(&self, connection: &ConnectionId) {
        set_unread(&self.code, connection);
    }

    /// The code of the closing, after the last frame.
    pub(crate) fn code(&self) -> CloseCode {
        self.code.get().copied().unwrap_or(CloseCode::Normal)
    }
}

fn set_unread(code: &OnceLock<CloseCode>, connection: &ConnectionId) {
    let _ = code.set(CloseCode::TooMany);
    tracing::info!(%connection, "a connection that does not read was closed");
}

impl InProcessSockets {
    /// Registers a connection. The receiver gets its frames until it is closed.
    pub(crate) fn open(&self, id: ConnectionId) -> Outgoing {
        let (sender, frames) = mpsc::channel(BUFFERED);
        let code = Arc::<OnceLock<CloseCode>>::default();
        self.lock().insert(id, Open { frames: sender, code: Arc::clone(&code) });
        Outgoing { frames, code, _writing: self.written.subscribe() }
    }

    /// Says goodbye to all connections and closes them, because the process ends.
    pub(crate) fn close_all(&self) {
        let goodbye: Arc<str> = Goodbye::RESTARTING.to_frame().into();
        for (_, open) in self.lock().drain() {
            // A connection whose buffer is full gets the code only.
            let _ = open.frames.try_send(Arc::clone(&goodbye));
            let _ = open.code.set(Goodbye::RESTARTING.code);
        }
    }

    /// Waits until the last frame of each connection is written.
    pub(crate) async fn all_written(&self) {
        self.written.closed().await;
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ConnectionId, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Sockets for InProcessSockets {
    fn post_permits(&self) -> &PostPermits {
        &self.post_permits
    }

    async fn post(&self, connection: &ConnectionId, frame: Arc<str>) -> Result<(), PostError> {
        let frames = self.lock().get(connection).map(|open| open.frames.clone());
        match frames.ok_or(PostError::Gone)?.send_timeout(frame, FULL_FOR).await {
            Ok(()) => Ok(()),
            Err(SendTimeoutError::Closed(_)) => Err(PostError::Gone),
            Err(SendTimeoutError::Timeout(_)) => {
                // When the client reconnects, `afterSeq` gives it the frames that it missed.
                if let Some(open) = self.lock().remove(connection) {
                    set_unread(&open.code, connection);
                }
                Err(PostError::Gone)
            }
        }
    }

    async fn close(&self, connection: &ConnectionId, code: CloseCode) {
        if let Some(open) = self.lock().remove(connection) {
            // A connection has one code only: nobody else can remove it.
            let _ = open.code.set(code);
        }
    }

    async fn is_open(&self, connection: &ConnectionId) -> bool {
        self.lock().contains_key(connection)
    }
}
