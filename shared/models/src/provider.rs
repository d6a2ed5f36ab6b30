//! A fake provider on a free port. It sends the answer that a test gives it, and records the
//! requests.

use std::sync::{Arc, Mutex, PoisonError};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, Uri},
    response::Response,
};
use futures::{StreamExt, stream};
use serde_json::Value;
use tokio::net::TcpListener;

/// A part of a response body.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    Bytes(Vec<u8>),
    /// The connection breaks.
    Break,
    /// The connection stays open without further bytes.
    Silence,
}

#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    pub(crate) parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReceivedRequest {
    pub(crate) path: String,
    /// The headers for authentication and for the API version.
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Value,
}

/// The running provider. It stops with the test's runtime.
pub(crate) struct Provider {
    pub(crate) address: String,
    received: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl Reply {
    /// A response with server-sent events, in one part.
    pub(crate) fn events(events: &str) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type", "text/event-stream")],
            parts: vec![Part::Bytes(events.into())],
        }
    }

    pub(crate) fn refusal(status: u16, body: &str) -> Self {
        Self { status, headers: vec![], parts: vec![Part::Bytes(body.into())] }
    }

    pub(crate) fn with_header(mut self, name: &'static str, value: &'static str) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Appends a part to the body.
    pub(crate) fn then(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Splits the body into parts of `size` bytes.
    pub(crate) fn cut(mut self, size: usize) -> Self {
        let cut = |part| match part {
            Part::Bytes(bytes) => {
                bytes.chunks(size).map(|piece| Part::Bytes(piece.to_vec())).collect()
            }
            other => vec![other],
        };
        self.parts = self.parts.into_iter().flat_map(cut).collect();
        self
    }

    fn response(self) -> Response {
        let parts = stream::iter(self.parts).then(|part| async move {
            // Without this the server would join all parts into one write.
            tokio::task::yield_now().await;
            match part {
                Part::Bytes(bytes) => Ok(bytes),
                Part::Break => Err(std::io::Error::other("broken on purpose")),
                Part::Silence => std::future::pending().await,
            }
        });
        let response = self
            .headers
            .iter()
            .fold(Response::builder().status(self.status), |response, (name, value)| {
                response.header(*name, *value)
            });
        response.body(Body::from_stream(parts)).unwrap()
    }
}

impl Provider {
    /// Starts a provider that sends the same answer to every request.
    pub(crate) async fn start(reply: Reply) -> Self {
        let received = Arc::new(Mutex::new(Vec::new()));
        let record = Arc::clone(&received);
        let answer =
            async move |State(reply): State<Reply>, uri: Uri, headers: HeaderMap, body: Bytes| {
                let header = |name: &'static str| {
                    headers.get(name).map(|value| (name, value.to_str().unwrap().to_owned()))
                };
                let headers = ["authorization", "x-api-key", "anthropic-version"]
                    .into_iter()
                    .filter_map(header)
                    .collect();
                let body = serde_json::from_slice(&body).unwrap();
                let request = ReceivedRequest { path: uri.to_string(), headers, body };
                record.lock().unwrap().push(request);
                reply.response()
            };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let routes = Router::new().fallback(answer).with_state(reply);
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Self { address, received }
    }

    pub(crate) fn received(&self) -> Vec<ReceivedRequest> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
