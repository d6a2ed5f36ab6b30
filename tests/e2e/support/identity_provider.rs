//! A fake identity provider that publishes its keys.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{Router, extract::State, http::StatusCode, routing::get};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle, time::sleep};

use crate::support::tokens::Signer;

pub(crate) struct Provider {
    /// The URL of its keys.
    pub(crate) url: String,
    state: Arc<ProviderState>,
    serving: JoinHandle<()>,
}

struct ProviderState {
    answer: Mutex<(u16, String)>,
    requests: AtomicUsize,
    delay: Mutex<Duration>,
}

impl Provider {
    /// Starts a provider that publishes the keys of these signers.
    pub(crate) async fn publishing(signers: &[&Signer]) -> Self {
        let state = Arc::new(ProviderState {
            answer: Mutex::default(),
            requests: AtomicUsize::new(0),
            delay: Mutex::default(),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/jwks.json", listener.local_addr().unwrap());
        let router = Router::new().route("/jwks.json", get(publish)).with_state(Arc::clone(&state));
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let provider = Self { url, state, serving };
        provider.publishes(signers);
        provider
    }

    /// Publishes the keys of these signers from now on.
    pub(crate) fn publishes(&self, signers: &[&Signer]) {
        let keys: Vec<Value> = signers.iter().map(|signer| signer.jwk()).collect();
        self.answers(200, &json!({ "keys": keys }).to_string());
    }

    /// Gives this response from now on.
    pub(crate) fn answers(&self, status: u16, text: &str) {
        *self.state.answer.lock().unwrap() = (status, text.to_owned());
    }

    /// Delays each response by this time from now on.
    pub(crate) fn takes(&self, delay: Duration) {
        *self.state.delay.lock().unwrap() = delay;
    }

    /// The number of requests so far.
    pub(crate) fn request_count(&self) -> usize {
        self.state.requests.load(Ordering::SeqCst)
    }
}

async fn publish(State(state): State<Arc<ProviderState>>) -> (StatusCode, String) {
    state.requests.fetch_add(1, Ordering::SeqCst);
    let delay = *state.delay.lock().unwrap();
    sleep(delay).await;
    let (status, text) = state.answer.lock().unwrap().clone();
    (StatusCode::from_u16(status).unwrap(), text)
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
