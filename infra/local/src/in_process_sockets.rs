//! The WebSocket connections of this process. Each has a buffer with a limit of frames and of
//! bytes. A client that does not read is disconnected and does not delay others.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use smartspace_domain::ids::ConnectionId;
use smartspace_pipeline::frames::Goodbye;
use smartspace_ports::sockets::{CloseCode, PostError, PostPermits, Sockets};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch},
    time::timeout,
};

/// The greatest number of frames that wait for one connection.
const BUFFERED: usize = 256;
/// The greatest number of bytes that wait for one connection.
const BUFFERED_BYTES: usize = 1024 * 1024;
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
    frames: mpsc::Sender<Queued>,
    /// The bytes that may still be queued.
    bytes: Arc<Semaphore>,
    code: Arc<OnceLock<CloseCode>>,
}

/// A frame that waits for its connection, with its share of the buffer.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) frame: Arc<str>,
    /// The last frame of a connection has none.
    _bytes: Option<OwnedSemaphorePermit>,
}

/// The frames to be written to a connection, and then the code that closes it.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) frames: mpsc::Receiver<Queued>,
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
        let bytes = Arc::new(Semaphore::new(BUFFERED_BYTES));
        self.lock().insert(id, Open { frames: sender, bytes, code: Arc::clone(&code) });
        Outgoing { frames, code, _writing: self.written.subscribe() }
    }

    /// Says goodbye to all connections and closes them, because the process ends.
    pub(crate) fn close_all(&self) {
        let goodbye: Arc<str> = Goodbye::RESTARTING.to_frame().into();
        for (_, open) in self.lock().drain() {
            // A connection whose buffer is full gets the code only.
            let _ = open.frames.try_send(Queued { frame: Arc::clone(&goodbye), _bytes: None });
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
        let open = self.lock().get(connection).map(|it| (it.frames.clone(), it.bytes.clone()));
        let (frames, bytes) = open.ok_or(PostError::Gone)?;
        let length = frame.len().min(BUFFERED_BYTES) as u32;
        let queued = async {
            let permit = bytes.acquire_many_owned(length).await.ok();
            frames.send(Queued { frame, _bytes: permit }).await
        };
        match timeout(FULL_FOR, queued).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(PostError::Gone),
            Err(_) => {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_read_has_a_mebibyte_and_256_frames() {
        for (length, most) in [(32 * 1024, 32), (10, BUFFERED)] {
            let sockets = InProcessSockets::default();
            let id = ConnectionId("slow".into());
            let mut outgoing = sockets.open(id.clone());
            let frame: Arc<str> = "x".repeat(length).into();
            for _ in 0..most {
                assert_eq!(sockets.post(&id, Arc::clone(&frame)).await, Ok(()), "{length}");
            }
            // Reading makes room.
            drop(outgoing.frames.recv().await);
            assert_eq!(sockets.post(&id, Arc::clone(&frame)).await, Ok(()), "{length}");
            assert_eq!(sockets.post(&id, frame).await, Err(PostError::Gone), "{length}");
            assert_eq!(outgoing.code(), CloseCode::TooMany);
            assert!(!sockets.is_open(&id).await);
        }
    }

    #[tokio::test]
    async fn a_frame_longer_than_the_buffer_is_sent_alone() {
        let sockets = InProcessSockets::default();
        let id = ConnectionId("one".into());
        let mut outgoing = sockets.open(id.clone());
        let frame: Arc<str> = "x".repeat(2 * BUFFERED_BYTES).into();
        assert_eq!(sockets.post(&id, Arc::clone(&frame)).await, Ok(()));
        assert_eq!(outgoing.frames.recv().await.map(|queued| queued.frame), Some(frame));
    }
}
