//! A server that answers byte for byte what a test says.

use std::sync::{Mutex, PoisonError};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Notify,
    task::JoinHandle,
};

use super::{Arc, Url};

pub(super) enum Reply {
    /// Writes this, and waits until the client closes.
    Says(Vec<u8>),
    /// Writes this and closes.
    Breaks(Vec<u8>),
    /// Closes at once.
    Closes,
    /// Writes the first, then the second for ever.
    Endless(Vec<u8>, Vec<u8>),
}

pub(super) struct Server {
    port: u16,
    heard: Arc<Mutex<Vec<String>>>,
    hung_up: Arc<Notify>,
    task: JoinHandle<()>,
}

/// An answer with a length. Its connection is not used again.
pub(super) fn answer(status: u16, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
    [head.as_bytes(), body].concat()
}

impl Server {
    /// Replies to the n-th request, counted from 0.
    pub(super) async fn of(reply: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Arc::<Mutex<Vec<String>>>::default();
        let hung_up = Arc::new(Notify::new());
        let reply = Arc::new(reply);
        let task = tokio::spawn({
            let (heard, hung_up) = (Arc::clone(&heard), Arc::clone(&hung_up));
            async move {
                while let Ok((mut stream, _)) = listener.accept().await {
                    let (heard, hung_up, reply) = (Arc::clone(&heard), Arc::clone(&hung_up), Arc::clone(&reply));
                    tokio::spawn(async move {
                        let Some(request) = request(&mut stream).await else { return };
                        let index = {
                            let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
                            heard.push(request);
                            heard.len() - 1
                        };
                        give(&mut stream, reply(index)).await;
                        hung_up.notify_one();
                    });
                }
            }
        });
        Self { port, heard, hung_up, task }
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn url(&self, host: &str, path: &str) -> Url {
        format!("http://{host}:{}{path}", self.port).parse().unwrap()
    }

    /// All requests so far, as they came.
    pub(super) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns when a client has closed its connection.
    pub(super) async fn was_hung_up_on(&self) {
        self.hung_up.notified().await;
    }

    /// Nobody listens any more.
    pub(super) async fn stop(self) {
        self.task.abort();
        assert!(self.task.await.unwrap_err().is_cancelled());
    }
}

/// None where the client closes before it has said everything.
async fn request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |length| length.parse().unwrap());
        if body.len() >= length {
            return Some(text.into_owned());
        }
    }
}

async fn give(stream: &mut TcpStream, reply: Reply) {
    match reply {
        Reply::Says(bytes) => {
            // The client may have heard enough before the end.
            if stream.write_all(&bytes).await.is_ok() {
                while stream.read(&mut [0; 64]).await.is_ok_and(|read| read > 0) {}
            }
        }
        Reply::Breaks(bytes) => stream.write_all(&bytes).await.unwrap(),
        Reply::Closes => {}
        Reply::Endless(head, piece) => {
            stream.write_all(&head).await.unwrap();
            while stream.write_all(&piece).await.is_ok() {}
        }
    }
}
