//! A server that tools call. It records each request.
//!
//! - `/echo/…`: answers with the request.
//! - `/status/{code}`: answers with this status and a JSON body.
//! - `/next`: answers with the next status of [`ToolServer::queue_statuses`], or 200.
//! - `/text`: answers with plain text.
//! - `/slow`: answers when [`ToolServer::gate`] is open.
//! - `/count`: counts requests by `idempotency-key`. `/count/held` counts, then waits at the gate.
//! - `/big`, `/endless`, `/bomb`: answer with far too much data.
//! - `/redirect?to=…&status=…`: redirects. `/again/{n}` redirects `n` times to itself, then to
//!   `/text`.
//! - `/close`: closes the connection without an answer.
//! - `/leak/{status}/{json|text|redirect}`: answers with all values of the request, in each
//!   spelling.

mod leaking;

use std::{
    collections::BTreeMap,
    io::Write,
    net::{Ipv4Addr, Ipv6Addr},
    panic,
    sync::{Arc, LazyLock, Mutex, MutexGuard},
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, OriginalUri, State},
    http::{HeaderMap, Method, header},
    response::{IntoResponse, Response},
    serve::ListenerExt,
};
use flate2::{Compression, write::GzEncoder};
use futures::stream;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

use crate::support::model::Gate;

/// A value that `/leak` adds to its answers and that occurs nowhere else. A secret would show up
/// wherever this value does.
pub(crate) const SERVER_MARKER: &str = "said-by-the-server-alone-4711";

/// The decompressed size of `/bomb`, in MiB.
const BOMB_MIB: usize = 160;

/// The server, on loopback. It ends when it is dropped, so it outlives a killed product.
pub(crate) struct ToolServer {
    /// The base URL, without a slash at the end.
    pub(crate) url: String,
    /// The port on 127.0.0.1 and, if the machine has it, on `::1`.
    pub(crate) port: u16,
    /// The gate of `/slow` and `/count/held`.
    pub(crate) gate: Gate,
    shared: Arc<Shared>,
    serving: Vec<JoinHandle<()>>,
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    pub(crate) method: Method,
    /// The raw path and query.
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

struct Shared {
    gate: Gate,
    connections: Mutex<usize>,
    requests: Mutex<Vec<ReceivedRequest>>,
    next: Mutex<Vec<u16>>,
    effects: Mutex<BTreeMap<String, usize>>,
}

impl Shared {
    fn next_status(&self) -> u16 {
        let mut next = lock(&self.next);
        if next.is_empty() { 200 } else { next.remove(0) }
    }

    /// Counts a request. Returns the number of requests with this key.
    fn count(&self, key: &str) -> usize {
        let mut effects = lock(&self.effects);
        let count = effects.entry(key.to_owned()).or_default();
        *count += 1;
        *count
    }
}

impl ReceivedRequest {
    /// A header's text, or an empty text if the header is absent.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map(|value| str::from_utf8(value.as_bytes()).unwrap())
            .unwrap_or_default()
    }

    /// The body as JSON, or null if it is not JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The raw query.
    pub(crate) fn query(&self) -> &str {
        self.target.split_once('?').map_or("", |(_, query)| query)
    }

    /// A parameter of the query, decoded.
    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        let value =
            self.query().split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))?;
        Some(percent_decode_str(value).decode_utf8().unwrap().into_owned())
    }
}

impl ToolServer {
    /// Starts the server on a free port.
    pub(crate) async fn start() -> Self {
        let (listeners, port) = listen().await;
        let gate = Gate::closed();
        let shared = Arc::new(Shared {
            gate: gate.clone(),
            connections: Mutex::default(),
            requests: Mutex::default(),
            next: Mutex::default(),
            effects: Mutex::default(),
        });
        let router = Router::new()
            .fallback(answer)
            .layer(DefaultBodyLimit::disable())
            .with_state(Arc::clone(&shared));
        let serving = listeners.into_iter().map(|listener| {
            let router = router.clone();
            let shared = Arc::clone(&shared);
            let listener = listener.tap_io(move |connection| {
                *lock(&shared.connections) += 1;
                let _ = connection.set_nodelay(true);
            });
            tokio::spawn(async move { axum::serve(listener, router).await.unwrap() })
        });
        Self {
            url: format!("http://127.0.0.1:{port}"),
            port,
            gate,
            serving: serving.collect(),
            shared,
        }
    }

    /// The server's entry for `SMARTSPACE_TOOL_HOSTS`.
    pub(crate) fn allowed(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// All requests so far, in order of arrival.
    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        lock(&self.shared.requests).clone()
    }

    /// The requests of a tool call, found by their idempotency key.
    pub(crate) fn of_call(&self, call: &Value) -> Vec<ReceivedRequest> {
        let key = call["callId"].as_str().unwrap_or_else(|| panic!("not a call: {call}"));
        let is_its = |request: &ReceivedRequest| request.header("idempotency-key") == key;
        self.requests().into_iter().filter(is_its).collect()
    }

    /// The number of connections so far.
    pub(crate) fn connections(&self) -> usize {
        *lock(&self.shared.connections)
    }

    /// Adds statuses to the queue of `/next`.
    pub(crate) fn queue_statuses(&self, statuses: &[u16]) {
        lock(&self.shared.next).extend(statuses);
    }

    /// The number of requests to `/count` by idempotency key.
    pub(crate) fn effects(&self) -> BTreeMap<String, usize> {
        lock(&self.shared.effects).clone()
    }
}

impl Drop for ToolServer {
    fn drop(&mut self) {
        self.serving.iter().for_each(JoinHandle::abort);
    }
}

/// Listens on the same port of both loopback addresses, or only on IPv4 if there is no IPv6.
async fn listen() -> (Vec<TcpListener>, u16) {
    for _ in 0..20 {
        let first = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = first.local_addr().unwrap().port();
        match TcpListener::bind((Ipv6Addr::LOCALHOST, port)).await {
            Ok(second) => return (vec![first, second], port),
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {}
            Err(_) => return (vec![first], port),
        }
    }
    panic!("no port is free on both loopback addresses")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    method: Method,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let target = uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    let request = ReceivedRequest { method, target, headers, body };
    lock(&shared.requests).push(request.clone());
    let path: Vec<&str> = uri.path().split('/').skip(1).collect();
    match path.as_slice() {
        ["echo", ..] => echo(&request),
        ["status", code] => status(code.parse().unwrap(), json!({ "detail": "as you like it" })),
        ["next"] => {
            let code = shared.next_status();
            status(code, json!({ "code": code }))
        }
        ["text"] => "plain text".into_response(),
        ["slow"] => {
            shared.gate.pass().await;
            echo(&request)
        }
        ["count", held @ ..] => {
            let count = shared.count(request.header("idempotency-key"));
            if held == ["held"] {
                shared.gate.pass().await;
            }
            status(200, json!({ "count": count }))
        }
        ["big"] => "b".repeat(10 * 1024 * 1024).into_response(),
        ["endless"] => Body::from_stream(stream::repeat_with(|| {
            Ok::<_, std::io::Error>(vec![b'e'; 64 * 1024])
        }))
        .into_response(),
        ["bomb"] => (
            [(header::CONTENT_ENCODING, "gzip"), (header::CONTENT_TYPE, "text/plain")],
            BOMB.clone(),
        )
            .into_response(),
        ["redirect"] => {
            let code: u16 = request.parameter("status").map_or(302, |code| code.parse().unwrap());
            let to = request.parameter("to").unwrap();
            ([(header::LOCATION, to)], status(code, Value::Null)).into_response()
        }
        ["again", "0"] => ([(header::LOCATION, "/text")], status(302, Value::Null)).into_response(),
        ["again", times] => {
            let next = format!("/again/{}", times.parse::<u32>().unwrap() - 1);
            ([(header::LOCATION, next)], status(302, Value::Null)).into_response()
        }
        // Ends the connection by ending its task, without a message in the output of the test.
        ["close"] => panic::resume_unwind(Box::new("closed")),
        ["leak", code, how] => leaking::answer(code.parse().unwrap(), how, &request),
        _ => status(404, json!({ "detail": "no such route" })),
    }
}

fn status(code: u16, body: Value) -> Response {
    Response::builder()
        .status(code)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(body.to_string()))
        .unwrap()
}

fn echo(request: &ReceivedRequest) -> Response {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let headers: BTreeMap<&str, String> = request
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), text(value.as_bytes())))
        .collect();
    let body = json!({
        "method": request.method.as_str(),
        "target": request.target,
        "headers": headers,
        "body": text(&request.body),
    });
    status(200, body)
}

/// About 160 KB that decompress to a thousand times as much.
static BOMB: LazyLock<Bytes> = LazyLock::new(|| {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let zeros = vec![b'0'; 1024 * 1024];
    for _ in 0..BOMB_MIB {
        encoder.write_all(&zeros).unwrap();
    }
    encoder.finish().unwrap().into()
});
