//! The answer of the fake provider.

use axum::{body::Body, response::Response};
use futures::{StreamExt, stream};

/// A part of a response body.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    Bytes(Vec<u8>),
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

    pub(super) fn response(self) -> Response {
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
