//! The HTTP server of the fake model. Normally each test has its own. A deployed stack knows only
//! one address, so there all tests of this process share one server.

use std::{
    collections::HashMap,
    net::{SocketAddr, TcpListener},
    sync::{Arc, Mutex, OnceLock},
    thread,
    time::{Duration, Instant},
};

use axum::{
    Json, Router,
    extract::{DefaultBodyLimit, Path, State},
    http::{HeaderMap, StatusCode, Uri},
    response::{IntoResponse, Response},
    routing::post,
    serve::ListenerExt,
};
use serde_json::Value;
use tokio::{runtime::Builder, task::JoinHandle};

use crate::support::model::{Api, Shared, pictures, respond};

/// A server, with the models that it serves by their tags.
#[derive(Clone)]
pub(crate) struct ModelServer {
    pub(crate) address: SocketAddr,
    models: Models,
}

type Models = Arc<Mutex<HashMap<String, Arc<Shared>>>>;

impl ModelServer {
    /// A server on a free port. The test's own runtime serves it until the handle is aborted.
    pub(crate) fn own() -> (Self, JoinHandle<()>) {
        let (listener, server) = Self::on("127.0.0.1:0");
        (server.clone(), tokio::spawn(serve(listener, server.models)))
    }

    /// The server that all tests of this process share.
    pub(crate) fn shared(address: &str) -> Self {
        static SERVER: OnceLock<ModelServer> = OnceLock::new();
        let open = || {
            let (listener, server) = Self::on(address);
            let models = Arc::clone(&server.models);
            // The server needs its own thread, because a test's runtime ends with the test.
            thread::spawn(|| {
                Builder::new_multi_thread()
                    .worker_threads(2)
                    .enable_all()
                    .build()
                    .unwrap()
                    .block_on(serve(listener, models));
            });
            server
        };
        SERVER.get_or_init(open).clone()
    }

    fn on(address: &str) -> (TcpListener, Self) {
        let listener = listen(address);
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        (listener, Self { address, models: Models::default() })
    }

    pub(crate) fn add(&self, model: &Arc<Shared>) {
        self.models.lock().unwrap().insert(model.tag.clone(), Arc::clone(model));
    }

    pub(crate) fn remove(&self, model: &Shared) {
        self.models.lock().unwrap().remove(&model.tag);
    }
}

/// Binds to `address`. Waits for a minute, because another test process may still hold a fixed
/// address.
fn listen(address: &str) -> TcpListener {
    let until = Instant::now() + Duration::from_mins(1);
    loop {
        match TcpListener::bind(address) {
            Ok(listener) => return listener,
            Err(error) => {
                assert!(
                    Instant::now() < until,
                    "the fake model can't listen on {address}: {error}"
                );
            }
        }
        thread::sleep(Duration::from_millis(100));
    }
}

async fn serve(listener: TcpListener, models: Models) {
    let router = Router::new()
        .route("/v1/chat/completions", post(complete))
        .route("/v1/images/generations", post(draw))
        .route("/v1/messages", post(write_message))
        .route("/model/{model}/converse-stream", post(converse))
        .fallback(unknown_path)
        // The checks of each API know how large a request may be.
        .layer(DefaultBodyLimit::disable())
        .with_state(models);
    let listener = tokio::net::TcpListener::from_std(listener).unwrap().tap_io(|connection| {
        let _ = connection.set_nodelay(true);
    });
    axum::serve(listener, router).await.unwrap();
}

async fn complete(
    State(models): State<Models>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    let key = header(&headers, "authorization");
    ask(&models, Api::OpenAi, key.strip_prefix("Bearer ").unwrap_or_default(), "", body).await
}

async fn draw(
    State(models): State<Models>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    let key = header(&headers, "authorization").strip_prefix("Bearer ").unwrap_or_default();
    match find(&models, &body) {
        Some((model, shared)) => pictures::draw(&shared, &model, key, body).await,
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn write_message(
    State(models): State<Models>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    ask(
        &models,
        Api::Anthropic,
        header(&headers, "x-api-key"),
        header(&headers, "anthropic-version"),
        body,
    )
    .await
}

async fn converse(
    State(models): State<Models>,
    Path(model): Path<String>,
    headers: HeaderMap,
    Json(mut body): Json<Value>,
) -> Response {
    body["model"] = model.into();
    let signature = header(&headers, "authorization");
    let key = signature
        .strip_prefix("AWS4-HMAC-SHA256 Credential=")
        .and_then(|signature| signature.split('/').next());
    ask(&models, Api::Bedrock, key.unwrap_or_default(), "", body).await
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Finds the model and answers. A run of a test that is over may still send requests; it gets 404.
async fn ask(models: &Models, api: Api, key: &str, version: &str, body: Value) -> Response {
    match find(models, &body) {
        Some((model, shared)) => respond(&shared, api, &model, key, version, body).await,
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// The name of the model that a request asks, without the tag of its test, and that test's models.
fn find(models: &Models, body: &Value) -> Option<(String, Arc<Shared>)> {
    let (model, tag) = body["model"].as_str()?.rsplit_once('.')?;
    let shared = models.lock().unwrap().get(tag).cloned()?;
    Some((model.to_owned(), shared))
}

async fn unknown_path(State(models): State<Models>, uri: Uri) -> StatusCode {
    for shared in models.lock().unwrap().values() {
        shared.faults.lock().unwrap().push(format!("request to the unknown path {uri}"));
    }
    StatusCode::NOT_FOUND
}
