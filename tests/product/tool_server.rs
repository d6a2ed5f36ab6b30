//! A server that tools call: it records every request, and does what its route says.
//!
//! - `/echo/…`: answers what it was sent
//! - `/status/{code}`: answers with this status, and JSON; `/next` with the statuses that a test lined up, one after the other
//! - `/text`: plain text
//! - `/slow`: answers when the [`ToolServer::gate`] is open; `/count` counts by `idempotency-key`, `/count/held` before it waits there
//! - `/big`, `/endless`, `/bomb`: more than anybody wants to read
//! - `/redirect?to=…&status=…`: leads elsewhere; `/again/{n}` to itself so many times, then to `/text`
//! - `/close`: closes the connection instead of an answer
//! - `/leak/{status}/{json|text|redirect}`: says back all that it was told, in every spelling

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

use super::model::Gate;

/// What `/leak` says besides, and nobody else: where this is found a secret would be, too.
pub(crate) const PLANTED: &str = "said-by-the-server-alone-4711";

/// What `/bomb` becomes, in MiB.
const BOMB_MIB: usize = 160;

/// The server, on loopback. It ends with its handle, and outlives the product's process.
pub(crate) struct ToolServer {
    /// Where it is, without a slash at the end.
    pub(crate) url: String,
    /// Its port: that of 127.0.0.1 and, if the machine has it, of `::1`.
    pub(crate) port: u16,
    /// At it waits who asks for `/slow` or `/count/held`.
    pub(crate) gate: Gate,
    shared: Arc<Shared>,
    serving: Vec<JoinHandle<()>>,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Its method.
    pub(crate) method: Method,
    /// Its path and query, as they were written.
    pub(crate) target: String,
    /// Its headers, as bytes.
    pub(crate) headers: HeaderMap,
    /// Its body.
    pub(crate) body: Bytes,
}

struct Shared {
    gate: Gate,
    connections: Mutex<usize>,
    seen: Mutex<Vec<Seen>>,
    next: Mutex<Vec<u16>>,
    effects: Mutex<BTreeMap<String, usize>>,
}

impl Seen {
    /// A header as it came; empty where there is none.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| str::from_utf8(value.as_bytes()).unwrap()).unwrap_or_default()
    }

    /// The body as JSON; null where it is none.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// What stands behind `?`.
    pub(crate) fn query(&self) -> &str {
        self.target.split_once('?').map_or("", |(_, query)| query)
    }

    /// A parameter of the query, decoded.
    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        let value = self.query().split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))?;
        Some(percent_decode_str(value).decode_utf8().unwrap().into_owned())
    }
}

impl ToolServer {
    /// Starts it on a free port.
    pub(crate) async fn start() -> Self {
        let (listeners, port) = listen().await;
        let gate = Gate::closed();
        let shared = Arc::new(Shared {
            gate: gate.clone(),
            connections: Mutex::default(),
            seen: Mutex::default(),
            next: Mutex::default(),
            effects: Mutex::default(),
        });
        let router = Router::new().fallback(answer).layer(DefaultBodyLimit::disable()).with_state(Arc::clone(&shared));
        let serving = listeners.into_iter().map(|listener| {
            let (router, shared) = (router.clone(), Arc::clone(&shared));
            let listener = listener.tap_io(move |connection| {
                *lock(&shared.connections) += 1;
                let _ = connection.set_nodelay(true);
            });
            tokio::spawn(async move { axum::serve(listener, router).await.unwrap() })
        });
        Self { url: format!("http://127.0.0.1:{port}"), port, gate, serving: serving.collect(), shared }
    }

    /// What the product is told so that its tools may reach it.
    pub(crate) fn allowed(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// All requests so far, in the order in which they came.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        lock(&self.shared.seen).clone()
    }

    /// The requests of a call, by its key.
    pub(crate) fn of_call(&self, call: &Value) -> Vec<Seen> {
        let key = call["callId"].as_str().unwrap_or_else(|| panic!("not a call: {call}"));
        self.seen().into_iter().filter(|seen| seen.header("idempotency-key") == key).collect()
    }

    /// How often anybody connected.
    pub(crate) fn connections(&self) -> usize {
        *lock(&self.shared.connections)
    }

    /// What `/next` answers next.
    pub(crate) fn lines_up(&self, statuses: &[u16]) {
        lock(&self.shared.next).extend(statuses);
    }

    /// How often each key took effect.
    pub(crate) fn effects(&self) -> BTreeMap<String, usize> {
        lock(&self.shared.effects).clone()
    }
}

impl Drop for ToolServer {
    fn drop(&mut self) {
        self.serving.iter().for_each(JoinHandle::abort);
    }
}

/// One port on both loopback addresses, or on that of IPv4 where there is no other.
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
    let seen = Seen { method, target, headers, body };
    lock(&shared.seen).push(seen.clone());
    let path: Vec<&str> = uri.path().split('/').skip(1).collect();
    match path.as_slice() {
        ["echo", ..] => echo(&seen),
        ["status", code] => status(code.parse().unwrap(), json!({ "detail": "as you like it" })),
        ["next"] => {
            let code = if lock(&shared.next).is_empty() { 200 } else { lock(&shared.next).remove(0) };
            status(code, json!({ "code": code }))
        }
        ["text"] => "plain text".into_response(),
        ["slow"] => {
            shared.gate.pass().await;
            echo(&seen)
        }
        ["count", held @ ..] => {
            let key = seen.header("idempotency-key").to_owned();
            let count = {
                let mut effects = lock(&shared.effects);
                let count = effects.entry(key).or_default();
                *count += 1;
                *count
            };
            if held == ["held"] {
                shared.gate.pass().await;
            }
            status(200, json!({ "count": count }))
        }
        ["big"] => "b".repeat(10 * 1024 * 1024).into_response(),
        ["endless"] => Body::from_stream(stream::repeat_with(|| Ok::<_, std::io::Error>(vec![b'e'; 64 * 1024]))).into_response(),
        ["bomb"] => ([(header::CONTENT_ENCODING, "gzip"), (header::CONTENT_TYPE, "text/plain")], BOMB.clone()).into_response(),
        ["redirect"] => {
            let code: u16 = seen.parameter("status").map_or(302, |status| status.parse().unwrap());
            let to = seen.parameter("to").unwrap();
            ([(header::LOCATION, to)], status(code, Value::Null)).into_response()
        }
        ["again", "0"] => ([(header::LOCATION, "/text")], status(302, Value::Null)).into_response(),
        ["again", times] => {
            let next = format!("/again/{}", times.parse::<u32>().unwrap() - 1);
            ([(header::LOCATION, next)], status(302, Value::Null)).into_response()
        }
        // Ends the connection's task, and with it the connection, without a word in the test's output.
        ["close"] => panic::resume_unwind(Box::new("closed")),
        ["leak", code, how] => leaking::answer(code.parse().unwrap(), how, &seen),
        _ => status(404, json!({ "detail": "no such route" })),
    }
}

fn status(code: u16, body: Value) -> Response {
    Response::builder().status(code).header(header::CONTENT_TYPE, "application/json").body(Body::from(body.to_string())).unwrap()
}

fn echo(seen: &Seen) -> Response {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let headers: BTreeMap<&str, String> = seen.headers.iter().map(|(name, value)| (name.as_str(), text(value.as_bytes()))).collect();
    let body = json!({ "method": seen.method.as_str(), "target": seen.target, "headers": headers, "body": text(&seen.body) });
    status(200, body)
}

/// Some 160 KB that become a thousand times as much.
static BOMB: LazyLock<Bytes> = LazyLock::new(|| {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let zeros = vec![b'0'; 1024 * 1024];
    for _ in 0..BOMB_MIB {
        encoder.write_all(&zeros).unwrap();
    }
    encoder.finish().unwrap().into()
});
