//! The replies of the fake server.

use std::{future::pending, io, time::Duration};

use axum::{
    body::{Body, Bytes},
    response::Response,
};
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::mcp::tests::fake::{DISCOVER, Received};

pub(in crate::mcp::tests) enum Reply {
    /// The answer of a well-behaved server.
    Usual,
    /// The usual answer, with this session id.
    Session(&'static str),
    Json(Value),
    Text(u16, &'static str, Vec<u8>),
    /// Events, and what follows them.
    Events(Vec<String>, Then),
    Never,
    /// Closes the connection.
    Close,
}

pub(in crate::mcp::tests) enum Then {
    End,
    Hang,
    Break,
    /// Repeats the last event forever.
    Repeat,
}

impl Reply {
    pub(super) async fn into_response(self, request: &Received) -> Response {
        match self {
            Self::Usual => usual(request, "session-1"),
            Self::Session(id) => usual(request, id),
            Self::Json(message) => full(200, "application/json", message.to_string().into()),
            Self::Text(status, media_type, body) => full(status, media_type, body),
            Self::Events(events, then) => streamed(events, then),
            Self::Never => pending().await,
            Self::Close => std::panic::resume_unwind(Box::new("closed")),
        }
    }
}

pub(in crate::mcp::tests) fn event(message: &Value) -> String {
    format!("data: {message}\n\n")
}

/// The result of a tool with this text.
pub(in crate::mcp::tests) fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// A tool as a server lists it.
pub(in crate::mcp::tests) fn tool(name: &str) -> Value {
    json!({"name": name, "description": format!("Does {name}."), "inputSchema": {"type": "object"}})
}

/// Answers calls with `script` and everything else as usual.
pub(in crate::mcp::tests) fn calls(
    script: impl Fn(&Received) -> Reply + Send + Sync,
) -> impl Fn(&Received) -> Reply + Send + Sync {
    move |request| if request.method == "tools/call" { script(request) } else { Reply::Usual }
}

fn usual(request: &Received, session: &str) -> Response {
    let json = |result| full(200, "application/json", request.result(result).to_string().into());
    match request.method.as_str() {
        "initialize" => {
            let version = &request.body["params"]["protocolVersion"];
            let info = json!({"name": "fake", "version": "1"});
            let capabilities = json!({"tools": {}});
            let mut response = json(json!({
                "protocolVersion": version,
                "capabilities": capabilities,
                "serverInfo": info,
            }));
            response.headers_mut().insert("mcp-session-id", session.parse().unwrap());
            response
        }
        DISCOVER => {
            let capabilities = json!({"tools": {}});
            json(json!({
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": capabilities,
                "ttlMs": 60_000,
                "cacheScope": "private",
            }))
        }
        "tools/list" => json(json!({"tools": [tool("search")]})),
        "tools/call" => json(text("found")),
        "DELETE" => full(200, "text/plain", Vec::new()),
        "GET" => full(405, "text/plain", Vec::new()),
        _ => full(202, "text/plain", Vec::new()),
    }
}

fn full(status: u16, media_type: &str, body: Vec<u8>) -> Response {
    Response::builder()
        .status(status)
        .header("content-type", media_type)
        .body(Body::from(body))
        .unwrap()
}

fn streamed(events: Vec<String>, then: Then) -> Response {
    let last = events.last().cloned().unwrap_or_default();
    let after: stream::BoxStream<'static, io::Result<Bytes>> = match then {
        Then::End => stream::empty().boxed(),
        Then::Hang => stream::pending().boxed(),
        // The delay keeps the error from discarding the events before it.
        Then::Break => stream::once(async {
            sleep(Duration::from_millis(50)).await;
            Err(io::Error::other("gone"))
        })
        .boxed(),
        Then::Repeat => stream::repeat_with(move || Ok(Bytes::from(last.clone()))).boxed(),
    };
    let body =
        Body::from_stream(stream::iter(events).map(|event| Ok(Bytes::from(event))).chain(after));
    Response::builder().header("content-type", "text/event-stream").body(body).unwrap()
}
