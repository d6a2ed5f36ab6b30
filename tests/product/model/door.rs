//! Where models listen: each on an address of its own, or, for a deployed stack, which knows one address, those of all tests of this process on one.

use std::{
    collections::HashMap,
    net::{SocketAddr, TcpListener},
    sync::{Arc, Mutex, OnceLock},
    thread,
    time::{Duration, Instant},
};

use axum::{
    Json, Router,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, Uri},
    response::{IntoResponse, Response},
    routing::post,
    serve::ListenerExt,
};
use serde_json::Value;
use tokio::{runtime::Builder, task::JoinHandle};

use super::{Api, Shared, respond};

/// A server, and the models behind it by their tags.
#[derive(Clone)]
pub(super) struct Door {
    pub(super) address: SocketAddr,
    models: Models,
}

type Models = Arc<Mutex<HashMap<String, Arc<Shared>>>>;

impl Door {
    /// On a free port, served by the test's own runtime until the handle is aborted.
    pub(super) fn own() -> (Self, JoinHandle<()>) {
        let (listener, door) = Self::on("127.0.0.1:0");
        (door.clone(), tokio::spawn(serve(listener, door.models)))
    }

    /// The one of this process.
    pub(super) fn of_all(address: &str) -> Self {
        static DOOR: OnceLock<Door> = OnceLock::new();
        let open = || {
            let (listener, door) = Self::on(address);
            let models = Arc::clone(&door.models);
            // A test's runtime ends with the test.
            thread::spawn(|| Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(serve(listener, models)));
            door
        };
        DOOR.get_or_init(open).clone()
    }

    fn on(address: &str) -> (TcpListener, Self) {
        let listener = listen(address);
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        (listener, Self { address, models: Models::default() })
    }

    pub(super) fn enter(&self, model: &Arc<Shared>) {
        self.models.lock().unwrap().insert(model.tag.clone(), Arc::clone(model));
    }

    pub(super) fn leave(&self, model: &Shared) {
        self.models.lock().unwrap().remove(&model.tag);
    }
}

/// A fixed address may still belong to another process of tests.
fn listen(address: &str) -> TcpListener {
    let until = Instant::now() + Duration::from_mins(1);
    loop {
        match TcpListener::bind(address) {
            Ok(listener) => return listener,
            Err(error) => assert!(Instant::now() < until, "the model can't listen on {address}: {error}"),
        }
        thread::sleep(Duration::from_millis(100));
    }
}

async fn serve(listener: TcpListener, models: Models) {
    let router = Router::new()
        .route("/v1/chat/completions", post(complete))
        .route("/v1/messages", post(write_message))
        .route("/model/{model}/converse-stream", post(converse))
        .fallback(lost)
        .with_state(models);
    let listener = tokio::net::TcpListener::from_std(listener).unwrap().tap_io(|connection| {
        let _ = connection.set_nodelay(true);
    });
    axum::serve(listener, router).await.unwrap();
}

async fn complete(State(models): State<Models>, headers: HeaderMap, Json(body): Json<Value>) -> Response {
    let key = header(&headers, "authorization");
    ask(&models, Api::OpenAi, key.strip_prefix("Bearer ").unwrap_or_default(), "", body).await
}

async fn write_message(State(models): State<Models>, headers: HeaderMap, Json(body): Json<Value>) -> Response {
    ask(&models, Api::Anthropic, header(&headers, "x-api-key"), header(&headers, "anthropic-version"), body).await
}

async fn converse(State(models): State<Models>, Path(model): Path<String>, headers: HeaderMap, Json(mut body): Json<Value>) -> Response {
    body["model"] = model.into();
    let signature = header(&headers, "authorization");
    let key = signature.strip_prefix("AWS4-HMAC-SHA256 Credential=").and_then(|signature| signature.split('/').next());
    ask(&models, Api::Bedrock, key.unwrap_or_default(), "", body).await
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// A run of a test that is over may still ask.
async fn ask(models: &Models, api: Api, key: &str, version: &str, body: Value) -> Response {
    let named = body["model"].as_str().and_then(|name| name.rsplit_once('.')).map(|(name, tag)| (name.to_owned(), tag.to_owned()));
    let Some((model, tag)) = named else { return StatusCode::NOT_FOUND.into_response() };
    let Some(shared) = models.lock().unwrap().get(&tag).cloned() else { return StatusCode::NOT_FOUND.into_response() };
    respond(&shared, api, &model, key, version, body).await
}

async fn lost(State(models): State<Models>, uri: Uri) -> StatusCode {
    for shared in models.lock().unwrap().values() {
        shared.faults.lock().unwrap().push(format!("asked for {uri}"));
    }
    StatusCode::NOT_FOUND
}
