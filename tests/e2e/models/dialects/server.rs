//! The HTTP server of a fake: it checks each request by the rules of its dialect, and answers as
//! the test says.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, State},
    http::{HeaderMap, StatusCode, Uri},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

use crate::{
    models::dialects::{
        dialect::{Dialect, KeyPlace, Turn},
        received::{Received, Written},
        rules::{Refusal, marks::lost_mark},
        said::{Ending, ScriptedAnswer},
    },
    support::model::{Api, Beat, KEY, play},
};

/// A header that each entry adds, and its value.
const HEADER: [&str; 2] = ["x-team", "search"];

/// A fake server on a free port, until it is dropped.
pub(crate) struct DialectServer {
    /// The address without a path.
    pub(crate) origin: String,
    state: Arc<ServerState>,
    serving: JoinHandle<()>,
}

struct ServerState {
    dialect: Dialect,
    answers: Mutex<VecDeque<ScriptedAnswer>>,
    log: Mutex<Log>,
}

/// What the server has received and written.
#[derive(Default)]
struct Log {
    accepted: Vec<Received>,
    written: Vec<Written>,
    refused: Vec<Refusal>,
    /// Requests that no client should send, though the server would take them.
    faults: Vec<String>,
    /// Ids of calls that are not those of the server.
    foreign_ids: Vec<String>,
    calls: u64,
}

impl DialectServer {
    pub(crate) async fn start(dialect: Dialect) -> Self {
        let state =
            Arc::new(ServerState { dialect, answers: Mutex::default(), log: Mutex::default() });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new()
            .fallback(receive)
            .layer(DefaultBodyLimit::disable())
            .with_state(Arc::clone(&state));
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { origin, state, serving }
    }

    pub(crate) fn dialect(&self) -> &Dialect {
        &self.state.dialect
    }

    /// The address in the entry of its provider.
    pub(crate) fn base_url(&self) -> String {
        format!("{}{}", self.origin, self.state.dialect.base)
    }

    /// Gives these answers one after the other to requests that are not refused, and after them
    /// empty ones.
    pub(crate) fn plays(&self, answers: impl IntoIterator<Item = ScriptedAnswer>) {
        *self.state.answers.lock().unwrap() = answers.into_iter().collect();
    }

    /// The requests that were not refused.
    pub(crate) fn accepted(&self) -> Vec<Received> {
        self.state.log.lock().unwrap().accepted.clone()
    }

    pub(crate) fn refused(&self) -> Vec<Refusal> {
        self.state.log.lock().unwrap().refused.clone()
    }

    pub(crate) fn faults(&self) -> Vec<String> {
        self.state.log.lock().unwrap().faults.clone()
    }

    /// Ids of calls in requests that the server has not given.
    pub(crate) fn foreign_ids(&self) -> Vec<String> {
        self.state.log.lock().unwrap().foreign_ids.clone()
    }
}

impl Drop for DialectServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn receive(
    State(state): State<Arc<ServerState>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    // The product asks own servers for their windows at addresses that not all have.
    let Ok(mut body) = serde_json::from_slice::<Value>(&body) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let api = state.dialect.api;
    let path = percent_encoding::percent_decode_str(uri.path()).decode_utf8_lossy().into_owned();
    if api == Api::Bedrock {
        body["model"] = path.split('/').nth(2).into();
    }
    let model = body["model"].as_str().unwrap_or_default().to_owned();
    let written = state.log.lock().unwrap().written.clone();
    let received = Received { path, headers, body, api, model, written };
    state.note_faults(&received);
    if let Some(refusal) = state.dialect.rules.iter().find_map(|rule| rule.check(&received)) {
        state.log.lock().unwrap().refused.push(refusal.clone());
        return refuse(refusal.status, &(state.dialect.refusal)(&refusal));
    }
    let said = state.answers.lock().unwrap().pop_front().unwrap_or_else(ScriptedAnswer::nothing);
    if said.end == Ending::Unauthorized {
        return refuse(401, &json!({ "error": { "message": "no such key" } }));
    }
    let beats = state.write(&received, &said);
    state.log.lock().unwrap().accepted.push(received);
    let kind = match api {
        Api::Bedrock => "application/vnd.amazon.eventstream",
        _ => "text/event-stream",
    };
    ([("content-type", kind)], Body::from_stream(play(beats, Duration::ZERO))).into_response()
}

fn refuse(status: u16, body: &Value) -> Response {
    let response = Response::builder().status(status).header("content-type", "application/json");
    response.body(Body::from(body.to_string())).unwrap()
}

impl ServerState {
    /// Writes an answer, and remembers what has to come back.
    fn write(&self, received: &Received, said: &ScriptedAnswer) -> Vec<Beat> {
        let mut log = self.log.lock().unwrap();
        let first = log.calls;
        log.calls += said.calls.len() as u64;
        let ids: Vec<String> = (first..log.calls).map(self.dialect.id).collect();
        let turn = Turn {
            said,
            ids: &ids,
            number: log.written.len() as u64,
            model: &received.model,
            wants_usage: received.body["stream_options"]["include_usage"] == true,
        };
        let mark = (self.dialect.mark)(&turn);
        let mut beats = (self.dialect.write)(&turn);
        let middle = beats.len().div_ceil(2);
        if said.end == Ending::Broken {
            beats.truncate(middle);
            beats.push(Beat::Break);
        }
        if let Some(gate) = &said.gate {
            beats.insert(middle.min(beats.len()), Beat::Wait(gate.clone()));
        }
        log.written.push(Written { ids, mark });
        beats
    }

    /// Checks what every client has to do right, though not every server would refuse it.
    fn note_faults(&self, received: &Received) {
        let Dialect { name, path, .. } = self.dialect;
        let key = match self.dialect.key {
            KeyPlace::Bearer => received.header("authorization") == format!("Bearer {KEY}"),
            KeyPlace::Named(header) => {
                received.header(header) == KEY && received.header("authorization").is_empty()
            }
            KeyPlace::XApiKey => received.header("x-api-key") == KEY,
            KeyPlace::Signature => {
                let signature = format!("AWS4-HMAC-SHA256 Credential={KEY}/");
                received.header("authorization").starts_with(&signature)
            }
            KeyPlace::Nowhere => received.header("authorization").is_empty(),
        };
        let path = path.replace("{model}", &received.model);
        let mut faults = Vec::new();
        if received.path != path {
            faults.push(format!("{name}: the path is {}, expected {path}", received.path));
        }
        let is_named = received.api != Api::Bedrock;
        if is_named && received.header(HEADER[0]) != HEADER[1] {
            faults.push(format!("{name}: the header {} is missing", HEADER[0]));
        }
        if !key {
            faults.push(format!("{name}: the key is not in its place"));
        }
        faults.extend(lost_mark(received).map(|lost| format!("{name}: a mark is lost: {lost}")));
        let mut log = self.log.lock().unwrap();
        log.faults.extend(faults);
        log.foreign_ids.extend(foreign_id(received));
    }
}

/// An id that this server has not given. A fallback's server does not know those of other models.
fn foreign_id(received: &Received) -> Option<String> {
    let is_known = |id: &&str| {
        received.written.iter().any(|written| written.ids.iter().any(|known| known == id))
    };
    let mut ids = received.messages().iter().flat_map(Received::call_ids);
    ids.find(|id| !is_known(id)).map(str::to_owned)
}

/// What the entry of a dialect's provider says.
pub(crate) fn entry(server: &DialectServer) -> Value {
    let is_own = server.dialect().key == KeyPlace::Nowhere;
    let api = if server.dialect().api == Api::Anthropic { "anthropic" } else { "openai" };
    let mut entry = json!({ "api": api, "baseUrl": server.base_url(), "own": is_own });
    entry["headers"][HEADER[0]] = HEADER[1].into();
    if server.dialect().key != KeyPlace::Nowhere {
        entry["key"] = KEY.into();
    }
    if let KeyPlace::Named(header) = server.dialect().key {
        entry["keyHeader"] = header.into();
    }
    entry
}
