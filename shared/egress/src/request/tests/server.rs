//! A server that sends exactly the bytes that a test chooses.

use std::sync::{Mutex, PoisonError};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Notify,
    task::JoinHandle,
};

use crate::request::tests::{Arc, Url};

pub(super) enum Reply {
    /// Sends these bytes and waits until the client closes the connection.
    Bytes(Vec<u8>),
    /// Sends these bytes and closes the connection.
    ThenClose(Vec<u8>),
    /// Closes the connection at once.
    Close,
    /// Sends the first bytes once, then the second ones forever.
    Endless(Vec<u8>, Vec<u8>),
}

pub(super) struct Server {
    port: u16,
    received: Arc<Mutex<Vec<String>>>,
    disconnected: Arc<Notify>,
    task: JoinHandle<()>,
}

/// A response with a length. The client does not reuse its connection.
pub(super) fn response(status: u16, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

impl Server {
    /// `reply` gets the index of the request, from 0.
    pub(super) async fn start(reply: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let received = Arc::<Mutex<Vec<String>>>::default();
        let disconnected = Arc::new(Notify::new());
        let reply = Arc::new(reply);
        let all_received = Arc::clone(&received);
        let any_disconnected = Arc::clone(&disconnected);
        let task = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let received = Arc::clone(&all_received);
                let disconnected = Arc::clone(&any_disconnected);
                let reply = Arc::clone(&reply);
                tokio::spawn(async move {
                    let Some(request) = request(&mut stream).await else { return };
                    let index = {
                        let mut received = received.lock().unwrap_or_else(PoisonError::into_inner);
                        received.push(request);
                        received.len() - 1
                    };
                    send(&mut stream, reply(index)).await;
                    disconnected.notify_one();
                });
            }
        });
        Self { port, received, disconnected, task }
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn url(&self, host: &str, path: &str) -> Url {
        format!("http://{host}:{}{path}", self.port).parse().unwrap()
    }

    pub(super) fn received(&self) -> Vec<String> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns once a client has closed its connection.
    pub(super) async fn until_disconnected(&self) {
        self.disconnected.notified().await;
    }

    /// Stops listening.
    pub(super) async fn stop(self) {
        self.task.abort();
        assert!(self.task.await.unwrap_err().is_cancelled());
    }
}

/// Returns `None` if the client closes the connection before the end of its request.
async fn request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(0, |length| length.parse().unwrap());
        if body.len() >= length {
            return Some(text.into_owned());
        }
    }
}

async fn send(stream: &mut TcpStream, reply: Reply) {
    match reply {
        Reply::Bytes(bytes) => {
            // The client may close the connection before the end.
            if stream.write_all(&bytes).await.is_ok() {
                while stream.read(&mut [0; 64]).await.is_ok_and(|read| read > 0) {}
            }
        }
        Reply::ThenClose(bytes) => stream.write_all(&bytes).await.unwrap(),
        Reply::Close => {}
        Reply::Endless(head, piece) => {
            stream.write_all(&head).await.unwrap();
            while stream.write_all(&piece).await.is_ok() {}
        }
    }
}
