//! Lambda's runtime endpoint, for one function: it hands out events, and takes answers.
//! <https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html>

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use axum::{
    Router,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::Value;
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::timeout,
};

use crate::{Result, Served, text};

/// How long an invocation has.
pub const INVOCATION: Duration = Duration::from_mins(15);

/// What came of an invocation.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The function's answer.
    Answered(Value),
    /// It failed: `errorType` and `errorMessage`.
    Failed(Value),
}

/// The endpoint.
#[derive(Debug)]
pub struct Runtime {
    served: Served,
    shared: Arc<Shared>,
    events: mpsc::UnboundedSender<Event>,
    count: AtomicU64,
}

#[derive(Debug)]
struct Shared {
    waiting: tokio::sync::Mutex<mpsc::UnboundedReceiver<Event>>,
    given: Mutex<HashMap<String, oneshot::Sender<Outcome>>>,
    begun: watch::Sender<Option<Result<Instant>>>,
}

#[derive(Debug)]
struct Event {
    id: String,
    body: String,
    answer: oneshot::Sender<Outcome>,
}

impl Runtime {
    /// On any free port.
    pub async fn start() -> Result<Self> {
        let (events, waiting) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared { waiting: waiting.into(), given: Mutex::default(), begun: watch::Sender::new(None) });
        let router = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next))
            .route("/2018-06-01/runtime/invocation/{id}/response", post(answered))
            .route("/2018-06-01/runtime/invocation/{id}/error", post(failed))
            .route("/2018-06-01/runtime/init/error", post(not_begun))
            .with_state(Arc::clone(&shared));
        Ok(Self { served: Served::at("127.0.0.1:0", router).await?, shared, events, count: AtomicU64::new(0) })
    }

    /// What the function is told as `AWS_LAMBDA_RUNTIME_API`.
    pub fn address(&self) -> &str {
        &self.served.address
    }

    /// When the function first asked for work; an error where it could not begin.
    pub async fn begun(&self) -> Result<Instant> {
        let mut begun = self.shared.begun.subscribe();
        begun.wait_for(Option::is_some).await.map_err(text)?.clone().unwrap_or_else(|| Err("it has not begun".into()))
    }

    /// Gives the function an event, and its answer within `limit`.
    pub async fn invoke(&self, event: &str, limit: Duration) -> Result<Outcome> {
        let (answer, outcome) = oneshot::channel();
        let id = format!("8476a536-e9f4-11e8-9739-{:012}", self.count.fetch_add(1, Ordering::Relaxed));
        self.events.send(Event { id, body: event.to_owned(), answer }).map_err(text)?;
        timeout(limit, outcome).await.map_err(|_| format!("no answer within {limit:?}"))?.map_err(text)
    }
}

impl Shared {
    fn begin(&self, how: Result<Instant>) {
        self.begun.send_if_modified(|begun| {
            let first = begun.is_none();
            begun.get_or_insert(how);
            first
        });
    }

    fn end(&self, id: &str, outcome: Outcome) -> StatusCode {
        let waiting = self.given.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        // Nobody waits any more for an answer that took too long.
        waiting.map(|waiting| waiting.send(outcome));
        StatusCode::ACCEPTED
    }
}

async fn next(State(shared): State<Arc<Shared>>) -> Response {
    shared.begin(Ok(Instant::now()));
    let Some(Event { id, body, answer }) = shared.waiting.lock().await.recv().await else { return StatusCode::GONE.into_response() };
    shared.given.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), answer);
    let ends = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + INVOCATION;
    let headers = [
        ("lambda-runtime-aws-request-id", id),
        ("lambda-runtime-deadline-ms", ends.as_millis().to_string()),
        ("lambda-runtime-invoked-function-arn", "arn:aws:lambda:eu-central-1:123456789012:function:smartspace".into()),
        ("lambda-runtime-trace-id", "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700;Parent=9a9197af755a6419;Sampled=1".into()),
        ("content-type", "application/json".into()),
    ];
    (headers, body).into_response()
}

async fn answered(State(shared): State<Arc<Shared>>, Path(id): Path<String>, body: String) -> StatusCode {
    shared.end(&id, Outcome::Answered(json_of(&body)))
}

async fn failed(State(shared): State<Arc<Shared>>, Path(id): Path<String>, body: String) -> StatusCode {
    shared.end(&id, Outcome::Failed(json_of(&body)))
}

async fn not_begun(State(shared): State<Arc<Shared>>, body: String) -> StatusCode {
    shared.begin(Err(format!("it could not begin: {body}")));
    StatusCode::ACCEPTED
}

/// Text that is no JSON is itself.
fn json_of(body: &str) -> Value {
    serde_json::from_str(body).unwrap_or_else(|_| body.into())
}
