//! An MCP server that is written by hand, so that a test decides about every byte.

use std::{
    collections::BTreeMap,
    future::pending,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::Request,
    response::Response,
};
use futures::{StreamExt, stream};
use http::HeaderMap;
use serde_json::{Value, json};
use smartspace_domain::{
    ids::{CallId, RunId},
    tools::McpServer,
};
use smartspace_edges::{
    names::SystemNames,
    secrets::{FixedSecrets, KnownSecrets, Secret},
};
use tokio::{
    net::TcpListener,
    sync::watch,
    task::JoinHandle,
    time::{sleep, timeout},
};

use crate::{Egress, SendError, Trail, mcp::*};

pub(super) const SECRET: &str = "s3cret-of-the-docs";
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// A request that came.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// The JSON-RPC method, or the HTTP method where there is none.
    pub(super) method: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
}

impl Seen {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The result of this request.
    pub(super) fn result(&self, result: Value) -> Value {
        json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result})
    }

    pub(super) fn progress(&self, message: &str) -> Value {
        let token = &self.body["params"]["_meta"]["progressToken"];
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": 1, "message": message}})
    }
}

/// What is answered.
pub(super) enum Reply {
    /// As a server would.
    Usual,
    /// As usual, in a session with this name.
    Session(&'static str),
    Json(Value),
    Text(u16, &'static str, Vec<u8>),
    /// The events, and then.
    Events(Vec<String>, Then),
    Never,
    /// The connection is closed.
    Close,
}

pub(super) enum Then {
    End,
    Hang,
    Break,
    /// The last event again and again.
    Repeat,
}

pub(super) fn event(message: &Value) -> String {
    format!("data: {message}\n\n")
}

/// Answers calls like this, and everything else as usual.
pub(super) fn calls(script: impl Fn(&Seen) -> Reply + Send + Sync) -> impl Fn(&Seen) -> Reply + Send + Sync {
    move |seen| if seen.method == "tools/call" { script(seen) } else { Reply::Usual }
}

/// The result of a tool that says this.
pub(super) fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// What a call comes to.
pub(super) type Called = Result<McpAnswer, SendError>;

type Script = Arc<dyn Fn(&Seen) -> Reply + Send + Sync>;

pub(super) struct Fake {
    pub(super) address: SocketAddr,
    all: watch::Sender<Vec<Seen>>,
    script: Arc<Mutex<Script>>,
    server: JoinHandle<()>,
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Fake {
    pub(super) async fn new(script: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0".parse().unwrap(), script).await
    }

    pub(super) async fn at(address: SocketAddr, script: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let all = watch::Sender::new(Vec::new());
        let script: Arc<Mutex<Script>> = Arc::new(Mutex::new(Arc::new(script)));
        let (seen, plays) = (all.clone(), Arc::clone(&script));
        let router = Router::new().fallback(move |request: Request| handle(request, seen.clone(), Arc::clone(&plays)));
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, all, script, server }
    }

    /// From now on it answers differently.
    pub(super) fn plays(&self, script: impl Fn(&Seen) -> Reply + Send + Sync + 'static) {
        *self.script.lock().unwrap() = Arc::new(script);
    }

    pub(super) fn server(&self) -> McpServer {
        let headers = json!({"authorization": "Bearer ${secret.DOCS}"});
        serde_json::from_value(json!({"name": "docs", "url": format!("http://{}/mcp", self.address), "headers": headers})).unwrap()
    }

    pub(super) fn session(&self) -> McpSession {
        servers().session(&self.server(), trail())
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.all.borrow().clone()
    }

    pub(super) fn methods(&self) -> Vec<String> {
        self.seen().into_iter().map(|seen| seen.method).collect()
    }

    pub(super) fn count(&self, method: &str) -> usize {
        self.seen().iter().filter(|seen| seen.method == method).count()
    }

    /// Waits until so many requests with this method came.
    pub(super) async fn until(&self, method: &str, count: usize) {
        let mut all = self.all.subscribe();
        let came = all.wait_for(|all| all.iter().filter(|seen| seen.method == method).count() >= count);
        timeout(PATIENCE, came).await.unwrap().unwrap();
    }
}

async fn handle(request: Request, all: watch::Sender<Vec<Seen>>, script: Arc<Mutex<Script>>) -> Response {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let method =
        body["method"].as_str().map_or_else(|| if body.is_null() { head.method.to_string() } else { "answer".into() }, str::to_owned);
    let seen = Seen { method, headers: head.headers, body };
    all.send_modify(|all| all.push(seen.clone()));
    let script = Arc::clone(&script.lock().unwrap());
    match script(&seen) {
        Reply::Usual => usual(&seen, "session-1"),
        Reply::Session(name) => usual(&seen, name),
        Reply::Json(message) => full(200, "application/json", message.to_string().into()),
        Reply::Text(status, media_type, body) => full(status, media_type, body),
        Reply::Events(events, then) => streamed(events, then),
        Reply::Never => pending().await,
        Reply::Close => std::panic::resume_unwind(Box::new("closed")),
    }
}

fn usual(seen: &Seen, session: &str) -> Response {
    let json = |result| full(200, "application/json", seen.result(result).to_string().into());
    match seen.method.as_str() {
        "initialize" => {
            let version = &seen.body["params"]["protocolVersion"];
            let mut response =
                json(json!({"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "fake", "version": "1"}}));
            response.headers_mut().insert("mcp-session-id", session.parse().unwrap());
            response
        }
        "tools/list" => json(json!({"tools": [tool("search")]})),
        "tools/call" => json(text("found")),
        "DELETE" => full(200, "text/plain", Vec::new()),
        "GET" => full(405, "text/plain", Vec::new()),
        _ => full(202, "text/plain", Vec::new()),
    }
}

fn full(status: u16, media_type: &str, body: Vec<u8>) -> Response {
    Response::builder().status(status).header("content-type", media_type).body(Body::from(body)).unwrap()
}

fn streamed(events: Vec<String>, then: Then) -> Response {
    let last = events.last().cloned().unwrap_or_default();
    let after: stream::BoxStream<'static, io::Result<Bytes>> = match then {
        Then::End => stream::empty().boxed(),
        Then::Hang => stream::pending().boxed(),
        // Later, so that what stands before it is not thrown away with it.
        Then::Break => stream::once(async {
            sleep(Duration::from_millis(50)).await;
            Err(io::Error::other("gone"))
        })
        .boxed(),
        Then::Repeat => stream::repeat_with(move || Ok(Bytes::from(last.clone()))).boxed(),
    };
    let body = Body::from_stream(stream::iter(events).map(|event| Ok(Bytes::from(event))).chain(after));
    Response::builder().header("content-type", "text/event-stream").body(body).unwrap()
}

/// A tool as a server lists it.
pub(super) fn tool(name: &str) -> Value {
    json!({"name": name, "description": format!("Does {name}."), "inputSchema": {"type": "object"}})
}

/// The same as it is listed here.
pub(super) fn listed(name: &str) -> ListedTool {
    let input_schema = json!({"type": "object"}).to_string().into();
    ListedTool { name: name.into(), description: format!("Does {name}."), input_schema, read_only: false, idempotent: false }
}

pub(super) fn servers() -> McpServers {
    let secret = |value: &str, hosts: Option<&str>| Secret::new(value.into(), hosts.map(|host| vec![host.to_owned()])).unwrap();
    let secrets =
        [("DOCS".to_owned(), secret(SECRET, Some("127.0.0.1"))), ("ELSEWHERE".to_owned(), secret("s3cret-of-others", Some("example.org")))];
    let secrets = FixedSecrets(Arc::new(KnownSecrets::new(BTreeMap::from(secrets))));
    McpServers::new(Egress::new(Arc::new(SystemNames), "127.0.0.1".parse().unwrap(), Arc::new(secrets)))
}

pub(super) fn trail() -> Trail {
    Trail { run: run(), depth: 3 }
}

fn run() -> RunId {
    "run_01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap()
}

pub(super) fn call_id() -> CallId {
    CallId::of(run(), 0, 0)
}

/// Calls `search`.
pub(super) async fn call(session: &McpSession) -> Called {
    call_within(session, PATIENCE).await
}

pub(super) async fn call_within(session: &McpSession, limit: Duration) -> Called {
    session.call("search", &json!({"q": "rust"}), call_id(), limit, &watch::Sender::default()).await
}

/// What a call of a tool that answers so comes to.
pub(super) async fn called(script: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> (Called, Fake) {
    let fake = Fake::new(calls(script)).await;
    (call(&fake.session()).await, fake)
}

#[expect(clippy::unnecessary_wraps, reason = "to be compared")]
pub(super) fn answer(output: Value) -> Called {
    Ok(McpAnswer { output, failed: false })
}

#[expect(clippy::unnecessary_wraps, reason = "to be compared")]
pub(super) fn failure(text: &str) -> Called {
    Ok(McpAnswer { output: json!({ "error": text }), failed: true })
}

pub(super) fn unknown(text: &str) -> Called {
    Err(SendError::Unknown(format!("the server docs {text}; whether the call took effect is not known")))
}

pub(super) fn not_sent(text: &str) -> Called {
    Err(SendError::NotSent(text.into()))
}
