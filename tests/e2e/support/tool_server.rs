//! A server that tools call. It records each request.
//!
//! - `/echo/…`: answers with the request.
//! - `/status/{code}`: answers with this status and a JSON body.
//! - `/next`: answers with the next status of [`ToolServer::queue_statuses`], or 200.
//! - `/text`: answers with plain text.
//! - `/picture/{type}`: answers with a PNG of this type.
//! - `/slow`: answers when [`ToolServer::gate`] is open.
//! - `/count`: counts requests by `idempotency-key`. `/count/held` counts, then waits at the gate.
//! - `/big`, `/endless`, `/bomb`: answer with far too much data.
//! - `/redirect?to=…&status=…`: redirects. `/again/{n}` redirects `n` times to itself, then to
//!   `/text`.
//! - `/close`: closes the connection without an answer.
//! - `/leak/{status}/{json|text|redirect}`: answers with all values of the request, in each
//!   spelling.

mod answers;
mod leaking;

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard},
};

use axum::{
    Router,
    body::Bytes,
    extract::DefaultBodyLimit,
    http::{HeaderMap, Method},
    serve::ListenerExt,
};
use percent_encoding::percent_decode_str;
use serde_json::Value;
use tokio::{net::TcpListener, task::JoinHandle};

use crate::support::{model::Gate, tool_server::answers::answer};

/// A value that `/leak` adds to its answers and that occurs nowhere else. A secret would show up
/// wherever this value does.
pub(crate) const SERVER_MARKER: &str = "said-by-the-server-alone-4711";

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
