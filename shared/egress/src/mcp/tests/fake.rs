//! A handwritten MCP server, so that a test controls every byte of its responses.

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
use smartspace_ports::{
    resolver::SystemResolver,
    secrets::{FixedSecrets, KnownSecrets, Secret},
};
use tokio::{
    net::TcpListener,
    sync::watch,
    task::JoinHandle,
    time::{sleep, timeout},
};

use crate::{Egress, SendError, TraceContext, mcp::*};

pub(super) const SECRET: &str = "s3cret-of-the-docs";
pub(super) const LIMIT: Duration = Duration::from_secs(20);

/// A request that the server received.
#[derive(Clone, Debug)]
pub(super) struct Received {
    /// The JSON-RPC method, `answer` for an answer to a request of the server, or the HTTP method
    /// if there is no body.
    pub(super) method: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
}

impl Received {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The answer to this request, with this result.
    pub(super) fn result(&self, result: Value) -> Value {
        json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result})
    }

    pub(super) fn progress(&self, message: &str) -> Value {
        let token = &self.body["params"]["_meta"]["progressToken"];
        let params = json!({"progressToken": token, "progress": 1, "message": message});
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
    }
}

pub(super) enum Reply {
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

pub(super) enum Then {
    End,
    Hang,
    Break,
    /// Repeats the last event forever.
    Repeat,
}

pub(super) fn event(message: &Value) -> String {
    format!("data: {message}\n\n")
}

/// Answers calls with `script` and everything else as usual.
pub(super) fn calls(
    script: impl Fn(&Received) -> Reply + Send + Sync,
) -> impl Fn(&Received) -> Reply + Send + Sync {
    move |request| if request.method == "tools/call" { script(request) } else { Reply::Usual }
}

/// The result of a tool with this text.
pub(super) fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// The outcome of a call.
pub(super) type Called = Result<McpAnswer, SendError>;

type Script = Arc<dyn Fn(&Received) -> Reply + Send + Sync>;

pub(super) struct Fake {
    pub(super) address: SocketAddr,
    all: watch::Sender<Vec<Received>>,
    script: Arc<Mutex<Script>>,
    server: JoinHandle<()>,
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Fake {
    pub(super) async fn new(script: impl Fn(&Received) -> Reply + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0".parse().unwrap(), script).await
    }

    pub(super) async fn at(
        address: SocketAddr,
        script: impl Fn(&Received) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let all = watch::Sender::new(Vec::new());
        let script: Arc<Mutex<Script>> = Arc::new(Mutex::new(Arc::new(script)));
        let all_received = all.clone();
        let current_script = Arc::clone(&script);
        let router = Router::new().fallback(move |request: Request| {
            handle(request, all_received.clone(), Arc::clone(&current_script))
        });
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, all, script, server }
    }

    /// From now on the server answers with another script.
    pub(super) fn replace_script(
        &self,
        script: impl Fn(&Received) -> Reply + Send + Sync + 'static,
    ) {
        *self.script.lock().unwrap() = Arc::new(script);
    }

    pub(super) fn server(&self) -> McpServer {
        let headers = json!({"authorization": "Bearer ${secret.DOCS}"});
        let url = format!("http://{}/mcp", self.address);
        serde_json::from_value(json!({"name": "docs", "url": url, "headers": headers})).unwrap()
    }

    pub(super) fn session(&self) -> McpSession {
        servers().session(&self.server(), trace())
    }

    pub(super) fn received(&self) -> Vec<Received> {
        self.all.borrow().clone()
    }

    pub(super) fn methods(&self) -> Vec<String> {
        self.received().into_iter().map(|request| request.method).collect()
    }

    pub(super) fn count(&self, method: &str) -> usize {
        self.received().iter().filter(|request| request.method == method).count()
    }

    /// Waits for this number of requests with the method.
    pub(super) async fn until(&self, method: &str, count: usize) {
        let mut all = self.all.subscribe();
        let enough = all
            .wait_for(|all| all.iter().filter(|request| request.method == method).count() >= count);
        timeout(LIMIT, enough).await.unwrap().unwrap();
    }
}

async fn handle(
    request: Request,
    all: watch::Sender<Vec<Received>>,
    script: Arc<Mutex<Script>>,
) -> Response {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let method = body["method"].as_str().map_or_else(
        || if body.is_null() { head.method.to_string() } else { "answer".into() },
        str::to_owned,
    );
    let received = Received { method, headers: head.headers, body };
    all.send_modify(|all| all.push(received.clone()));
    let script = Arc::clone(&script.lock().unwrap());
    match script(&received) {
        Reply::Usual => usual(&received, "session-1"),
        Reply::Session(id) => usual(&received, id),
        Reply::Json(message) => full(200, "application/json", message.to_string().into()),
        Reply::Text(status, media_type, body) => full(status, media_type, body),
        Reply::Events(events, then) => streamed(events, then),
        Reply::Never => pending().await,
        Reply::Close => std::panic::resume_unwind(Box::new("closed")),
    }
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

/// A tool as a server lists it.
pub(super) fn tool(name: &str) -> Value {
    json!({"name": name, "description": format!("Does {name}."), "inputSchema": {"type": "object"}})
}

/// The same tool in the form of [`Listed`].
pub(super) fn listed(name: &str) -> ListedTool {
    let input_schema = json!({"type": "object"}).to_string().into();
    ListedTool {
        name: name.into(),
        description: format!("Does {name}."),
        input_schema,
        read_only: false,
        idempotent: false,
    }
}

pub(super) fn servers() -> McpServers {
    let secret = |value: &str, hosts: Option<&str>| {
        Secret::new(value.into(), hosts.map(|host| vec![host.to_owned()])).unwrap()
    };
    let secrets = [
        ("DOCS".to_owned(), secret(SECRET, Some("127.0.0.1"))),
        ("ELSEWHERE".to_owned(), secret("s3cret-of-others", Some("example.org"))),
    ];
    let secrets = FixedSecrets(Arc::new(KnownSecrets::new(BTreeMap::from(secrets))));
    McpServers::new(Egress::new(
        Arc::new(SystemResolver),
        "127.0.0.1".parse().unwrap(),
        Arc::new(secrets),
    ))
}

pub(super) fn trace() -> TraceContext {
    TraceContext { run: run(), depth: 3 }
}

fn run() -> RunId {
    "run_01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap()
}

pub(super) fn call_id() -> CallId {
    CallId::of(run(), 0, 0)
}

/// Calls `search`.
pub(super) async fn call(session: &McpSession) -> Called {
    call_within(session, LIMIT).await
}

pub(super) async fn call_within(session: &McpSession, limit: Duration) -> Called {
    session.call("search", &json!({"q": "rust"}), call_id(), limit, &watch::Sender::default()).await
}

/// The outcome of a call that the server answers with `script`.
pub(super) async fn called(
    script: impl Fn(&Received) -> Reply + Send + Sync + 'static,
) -> (Called, Fake) {
    let fake = Fake::new(calls(script)).await;
    (call(&fake.session()).await, fake)
}

#[expect(clippy::unnecessary_wraps, reason = "tests compare it with the outcome of a call")]
pub(super) fn answer(output: Value) -> Called {
    Ok(McpAnswer { output, failed: false })
}

#[expect(clippy::unnecessary_wraps, reason = "tests compare it with the outcome of a call")]
pub(super) fn failure(text: &str) -> Called {
    Ok(McpAnswer { output: json!({ "error": text }), failed: true })
}

pub(super) fn unknown(text: &str) -> Called {
    Err(SendError::Unknown(format!(
        "the server docs {text}; whether the call took effect is not known"
    )))
}

pub(super) fn not_sent(text: &str) -> Called {
    Err(SendError::NotSent(text.into()))
}
