//! A fake provider on a free port. It sends the answer that a test gives it, and records the
//! requests.

mod reply;

use std::sync::{Arc, Mutex, PoisonError};

use axum::{
    Router,
    body::Bytes,
    http::{HeaderMap, Uri},
};
use serde_json::Value;
use tokio::net::TcpListener;

pub(crate) use self::reply::{Part, Reply};

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

impl Provider {
    /// Starts a provider that sends the same answer to every request.
    pub(crate) async fn start(reply: Reply) -> Self {
        Self::answering(move |_| reply.clone()).await
    }

    /// Starts a provider whose answers depend on the body of the request.
    pub(crate) async fn answering(
        reply: impl Fn(&Value) -> Reply + Clone + Send + Sync + 'static,
    ) -> Self {
        let received = Arc::new(Mutex::new(Vec::new()));
        let record = Arc::clone(&received);
        let answer = async move |uri: Uri, headers: HeaderMap, body: Bytes| {
            let header = |name: &'static str| {
                headers.get(name).map(|value| (name, value.to_str().unwrap().to_owned()))
            };
            let headers = ["authorization", "x-api-key", "anthropic-version"]
                .into_iter()
                .filter_map(header)
                .collect();
            let body = serde_json::from_slice(&body).unwrap();
            let reply = reply(&body);
            let request = ReceivedRequest { path: uri.to_string(), headers, body };
            record.lock().unwrap().push(request);
            reply.response()
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let routes = Router::new().fallback(answer);
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Self { address, received }
    }

    pub(crate) fn received(&self) -> Vec<ReceivedRequest> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
