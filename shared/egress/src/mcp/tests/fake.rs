//! A handwritten MCP server, so that a test controls every byte of its responses.
//!
//! - [`replies`]: the answers of the server
//! - [`session`]: sessions with the server, and the outcomes of their calls

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use axum::{Router, extract::Request, response::Response};
use http::HeaderMap;
use serde_json::{Value, json};
use smartspace_domain::tools::McpServer;
use tokio::{net::TcpListener, sync::watch, task::JoinHandle, time::timeout};

use crate::mcp::McpSession;

mod replies;
mod session;

pub(super) use replies::*;
pub(super) use session::*;

/// The method that asks for the revisions of a server.
pub(super) const DISCOVER: &str = "server/discover";

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

    /// A server of revision 2026-07-28, which needs no session.
    pub(super) async fn stateless(
        script: impl Fn(&Received) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::listening("127.0.0.1:0".parse().unwrap(), true, script).await
    }

    pub(super) async fn at(
        address: SocketAddr,
        script: impl Fn(&Received) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::listening(address, false, script).await
    }

    async fn listening(
        address: SocketAddr,
        is_stateless: bool,
        script: impl Fn(&Received) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let all = watch::Sender::new(Vec::new());
        let script: Arc<Mutex<Script>> = Arc::new(Mutex::new(Arc::new(script)));
        let all_received = all.clone();
        let current_script = Arc::clone(&script);
        let router = Router::new().fallback(move |request: Request| {
            let script = Arc::clone(&current_script);
            handle(request, is_stateless, all_received.clone(), script)
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
    is_stateless: bool,
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
    // Servers of earlier revisions refuse it. Tests of these look only at what follows.
    if received.method == DISCOVER && !is_stateless {
        let text = "Bad Request: no valid session id".as_bytes();
        return Reply::Text(400, "text/plain", text.into()).into_response(&received).await;
    }
    all.send_modify(|all| all.push(received.clone()));
    let script = Arc::clone(&script.lock().unwrap());
    script(&received).into_response(&received).await
}
