//! Writes a scripted answer as a stream of events: what all APIs share.

use std::{convert::Infallible, io, time::Duration};

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use futures::{Stream, StreamExt, stream};

use crate::support::model::{
    anthropic, bedrock,
    gate::Gate,
    openai,
    request::{Api, ModelRequest},
    script::{Answer, Ending, Part},
};

/// One action of the model while it answers.
pub(crate) enum Beat {
    /// Send a text event.
    Event(String),
    /// Send a binary event.
    Frame(Vec<u8>),
    Wait(Gate),
    Break,
    /// Send nothing more, but keep the connection open.
    Forever,
}

pub(crate) async fn respond(answer: Answer, request: &ModelRequest) -> Response {
    for part in &answer.parts {
        let Part::Wait(gate) = part else { break };
        gate.pass().await;
    }
    if let Some(refusal) = &answer.refusal {
        return refuse(refusal.status, refusal.retry_after, request);
    }
    let beats = match request.api {
        Api::OpenAi => openai::beats(&answer, request),
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
        Api::OpenAi => openai::refusal(status, request),
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

pub(crate) fn play(
    beats: Vec<Beat>,
    gap: Duration,
) -> impl Stream<Item = Result<Vec<u8>, io::Error>> {
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
