//! A model that writes answers of 400 characters in four seconds, and notes when it wrote what.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::{
    Json, Router,
    body::Body,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
    routing::post,
};
use futures::stream;
use serde_json::{Value, json};
use smartspace_tests::model::PATH;
use tokio::{net::TcpListener, time::sleep};

use crate::room::{Delta, Streams};

/// The length of an answer.
const CHARACTERS: usize = 400;
/// The length of a piece, and the time that it takes.
const PIECE: usize = 4;
const PIECE_TIME: Duration = Duration::from_millis(40);

/// When the pieces of each answer were written: each position with its time.
type Written = Arc<Mutex<Vec<Vec<(usize, Instant)>>>>;

pub(super) struct Writer {
    pub(super) url: String,
    written: Written,
}

impl Writer {
    pub(super) async fn start() -> Result<Self, String> {
        let written = Written::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| error.to_string())?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let router = Router::new()
            .route(&format!("/v1{PATH}"), post(answer))
            .with_state(Arc::clone(&written));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { url: format!("http://{address}/v1"), written })
    }

    /// How old the first letter of a delta was when it arrived.
    pub(super) fn age(&self, streams: &Streams, delta: &Delta) -> Option<Duration> {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let pieces = written.get(*streams.get(delta.stream.as_str())?)?;
        let (_, at) = pieces.iter().rev().find(|(offset, _)| *offset <= delta.offset)?;
        Some(delta.at.duration_since(*at))
    }
}

/// The number of an answer, if this is its beginning.
pub(super) fn number_of(text: &str) -> Option<usize> {
    text.strip_prefix("Answer ")?.split(' ').next()?.parse().ok()
}

async fn answer(State(written): State<Written>, Json(request): Json<Value>) -> Response {
    let answered = request["messages"]
        .as_array()
        .is_some_and(|messages| messages.iter().any(|message| message["role"] == "assistant"));
    let (number, pieces) = if answered { Default::default() } else { pieces(&written) };
    let (reason, start) = if pieces.is_empty() {
        ("stop", None)
    } else {
        let function = json!({"name": "send_message", "arguments": "{\"text\":\""});
        let call = json!({"index": 0, "id": "call_1", "type": "function", "function": function});
        ("tool_calls", Some(chunk(&json!({"tool_calls": [call]}), &Value::Null)))
    };
    let texts = stream::unfold((pieces.into_iter(), 0), move |(mut pieces, offset)| {
        let written = Arc::clone(&written);
        async move {
            let piece = pieces.next()?;
            if offset > 0 {
                sleep(PIECE_TIME).await;
            }
            let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
            written[number].push((offset, Instant::now()));
            drop(written);
            let text = chunk(&arguments(&piece), &Value::Null);
            Some((Ok::<_, Infallible>(text), (pieces, offset + piece.len())))
        }
    });
    let close = start.is_some().then(|| chunk(&arguments("\"}"), &Value::Null));
    let usage = json!({"prompt_tokens": 1_000, "completion_tokens": 100});
    let end = [
        close.unwrap_or_default(),
        chunk(&json!({}), &json!(reason)),
        format!("data: {}\n\ndata: [DONE]\n\n", json!({"choices": [], "usage": usage})),
    ];
    let body = futures::StreamExt::chain(
        futures::StreamExt::chain(stream::iter(start.map(Ok::<_, Infallible>)), texts),
        stream::iter(end.map(Ok)),
    );
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(body)).into_response()
}

/// The number and the pieces of a new answer. The first piece has the number.
fn pieces(written: &Written) -> (usize, Vec<String>) {
    let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
    let number = written.len();
    let first = format!("Answer {number} ");
    written.push(Vec::new());
    let rest = CHARACTERS - first.len();
    let mut pieces = vec![first];
    pieces.extend((0..rest.div_ceil(PIECE)).map(|_| "abc ".to_owned()));
    (number, pieces)
}

fn arguments(text: &str) -> Value {
    json!({"tool_calls": [{"index": 0, "function": {"arguments": text}}]})
}

fn chunk(delta: &Value, reason: &Value) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
    format!("data: {}\n\n", json!({"choices": [choice]}))
}
