//! Writes a scripted answer as a stream of events. This file has what all APIs share, and the
//! events of `OpenAI`'s chat completions.

use std::{convert::Infallible, io, time::Duration};

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use futures::{Stream, StreamExt, stream};
use serde_json::{Value, json};

use crate::support::model::{
    anthropic, bedrock,
    gate::Gate,
    request::{Api, ModelRequest},
    script::{Answer, Ending, Hold, Part},
};

/// One action of the model while it answers.
pub(crate) enum Beat {
    /// Send a text event.
    Event(String),
    /// Send a binary event.
    Frame(Vec<u8>),
    /// Stop until the gate is open.
    Wait(Gate),
    /// Break the connection.
    Break,
    /// Send nothing more, but keep the connection open.
    Forever,
}

/// Answers a request as the script says.
pub(crate) async fn respond(answer: Answer, request: &ModelRequest) -> Response {
    for part in &answer.parts {
        let Part::Wait(gate) = part else { break };
        gate.pass().await;
    }
    if let Some(refusal) = &answer.refusal {
        return refuse(refusal.status, refusal.retry_after, request);
    }
    let beats = match request.api {
        Api::OpenAi => beats(&answer, request),
        Api::Anthropic => anthropic::beats(&answer, request),
        Api::Bedrock => bedrock::beats(&answer, request),
    };
    let kind = if request.api == Api::Bedrock {
        "application/vnd.amazon.eventstream"
    } else {
        "text/event-stream"
    };
    ([("content-type", kind)], Body::from_stream(play(beats, answer.gap))).into_response()
}

fn refuse(status: u16, retry_after: Option<u64>, request: &ModelRequest) -> Response {
    let body = match request.api {
        Api::OpenAi => refusal(status, request),
        Api::Anthropic => anthropic::refusal(status, request),
        Api::Bedrock => bedrock::refusal(status),
    };
    let mut response =
        Response::builder().status(status).header("content-type", "application/json");
    if let Some(seconds) = retry_after {
        response = response.header("retry-after", seconds);
    }
    response.body(Body::from(body.to_string())).unwrap()
}

/// An error in the provider's words. Like the real provider, a 401 repeats the key.
fn refusal(status: u16, request: &ModelRequest) -> Value {
    let (kind, message) = match status {
        401 => ("invalid_request_error", format!("Incorrect API key provided: {}.", request.key())),
        429 => ("rate_limit_exceeded", "Rate limit reached for requests.".to_owned()),
        400 => ("invalid_request_error", "This request is not to our liking.".to_owned()),
        _ => ("server_error", "The server had an error while processing your request.".to_owned()),
    };
    json!({ "error": { "message": message, "type": kind, "param": null, "code": kind } })
}

fn play(beats: Vec<Beat>, gap: Duration) -> impl Stream<Item = Result<Vec<u8>, io::Error>> {
    stream::iter(beats.into_iter().enumerate())
        .then(move |(index, beat)| async move {
            let sent = match beat {
                Beat::Event(event) => event.into_bytes(),
                Beat::Frame(frame) => frame,
                Beat::Wait(gate) => {
                    gate.pass().await;
                    return None;
                }
                Beat::Break => {
                    return Some(Err(io::Error::other("the script breaks the connection here")));
                }
                Beat::Forever => match std::future::pending::<Infallible>().await {},
            };
            if index > 0 && !gap.is_zero() {
                tokio::time::sleep(gap).await;
            }
            Some(Ok(sent))
        })
        .filter_map(std::future::ready)
}

fn beats(answer: &Answer, request: &ModelRequest) -> Vec<Beat> {
    let calls_anything = answer.parts.iter().any(|part| matches!(part, Part::Call { .. }));
    let mut writer =
        Writer { beats: Vec::new(), model: request.full_name(), piece_chars: answer.piece_chars };
    writer.delta(json!({ "role": "assistant", "content": null }));
    let mut calls = 0;
    for part in answer.parts.iter().skip_while(|part| matches!(part, Part::Wait(_))) {
        match part {
            Part::Text(text) => writer.in_pieces(text, |piece| json!({ "content": piece })),
            Part::Wait(gate) => writer.beats.push(Beat::Wait(gate.clone())),
            Part::Call { name, input, hold } => {
                writer.call(calls, name, input, hold.as_ref());
                calls += 1;
            }
        }
    }
    let model = request.full_name();
    let reason = if calls_anything { "tool_calls" } else { "stop" };
    let mut end = vec![Beat::Event(event(
        &model,
        json!([{ "index": 0, "delta": {}, "finish_reason": reason }]),
        Value::Null,
    ))];
    if request.wants_usage() {
        let usage = json!({
            "prompt_tokens": request.characters() / 4,
            "completion_tokens": 12,
            "total_tokens": request.characters() / 4 + 12,
            "prompt_tokens_details": { "cached_tokens": 0 },
        });
        end.push(Beat::Event(event(&model, json!([]), usage)));
    }
    end.push(Beat::Event("data: [DONE]\n\n".into()));
    let error = json!({
        "message": "The server is overloaded.",
        "type": "server_error",
        "code": null,
    });
    let error = Beat::Event(format!("data: {}\n\n", json!({ "error": error })));
    with_ending(writer.beats, answer.ending, end, error)
}

/// Adds the ending to an answer. A whole answer ends with `end`, a failed one with `error`.
pub(crate) fn with_ending(
    mut beats: Vec<Beat>,
    ending: Ending,
    end: impl IntoIterator<Item = Beat>,
    error: Beat,
) -> Vec<Beat> {
    match ending {
        Ending::Whole => beats.extend(end),
        Ending::Broken(pieces) => {
            beats.truncate(pieces);
            beats.push(Beat::Break);
        }
        Ending::Short(pieces) => beats.truncate(pieces),
        Ending::Failed(pieces) => {
            beats.truncate(pieces);
            beats.push(error);
        }
        Ending::Silent => beats.push(Beat::Forever),
    }
    beats
}

struct Writer {
    beats: Vec<Beat>,
    model: String,
    piece_chars: usize,
}

impl Writer {
    fn delta(&mut self, delta: Value) {
        let choices = json!([{ "index": 0, "delta": delta, "finish_reason": null }]);
        self.beats.push(Beat::Event(event(&self.model, choices, Value::Null)));
    }

    fn in_pieces(&mut self, text: &str, delta: impl Fn(String) -> Value) {
        let chars: Vec<char> = text.chars().collect();
        for piece in chars.chunks(self.piece_chars.max(1)) {
            self.delta(delta(piece.iter().collect()));
        }
    }

    /// Writes the name and the id once, then the input in pieces.
    fn call(&mut self, index: usize, name: &str, input: &str, hold: Option<&Hold>) {
        let function = json!({ "name": name, "arguments": "" });
        let id = format!("call_{index}");
        let start = json!({ "index": index, "id": id, "type": "function", "function": function });
        self.delta(json!({ "tool_calls": [start] }));
        let more = |piece: String| {
            let call = json!({ "index": index, "function": { "arguments": piece } });
            json!({ "tool_calls": [call] })
        };
        match hold {
            None => self.in_pieces(input, more),
            Some((at, gate)) => {
                let before: String = input.chars().take(*at).collect();
                let after: String = input.chars().skip(*at).collect();
                self.in_pieces(&before, more);
                self.beats.push(Beat::Wait(gate.clone()));
                self.in_pieces(&after, more);
            }
        }
    }
}

fn event(model: &str, choices: Value, usage: Value) -> String {
    let chunk = json!({
        "id": "chatcmpl-test",
        "object": "chat.completion.chunk",
        "created": 1_771_427_220,
        "model": model,
        "choices": choices,
        "usage": usage,
    });
    format!("data: {chunk}\n\n")
}
