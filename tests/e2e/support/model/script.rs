//! The scripted answers of the fake model, with short constructors so that a test reads like a
//! script.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::model::gate::Gate;

/// One answer of the fake model.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) refusal: Option<Refusal>,
    pub(crate) parts: Vec<Part>,
    /// The length of the pieces in which texts and inputs are written, in characters.
    pub(crate) piece_chars: usize,
    /// The time between two pieces.
    pub(crate) gap: Duration,
    pub(crate) ending: Ending,
}

/// An HTTP error instead of an answer.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<u64>,
}

/// A part of an answer.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// The model's text output, which is not posted.
    Text(String),
    /// A tool call. A hold stops the model in the middle of the input.
    Call { name: String, input: String, hold: Option<Hold> },
    /// Wait until the gate is open. As the first part, it also delays the response headers.
    Wait(Gate),
}

/// The number of characters of an input after which the model stops, and the gate that lets it
/// continue.
pub(crate) type Hold = (usize, Gate);

/// How an answer ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ending {
    Whole,
    /// The connection breaks after this many pieces.
    Broken(usize),
    /// The stream ends after this many pieces, without a finish reason.
    Short(usize),
    /// The provider reports after this many pieces that it is overloaded.
    Failed(usize),
    /// Nothing more comes, but the connection stays open.
    Silent,
}

impl<const N: usize> From<[Part; N]> for Answer {
    fn from(parts: [Part; N]) -> Self {
        Self::of(parts.into())
    }
}

impl Answer {
    /// An answer of any number of parts.
    pub(crate) fn of(parts: Vec<Part>) -> Self {
        Self { refusal: None, parts, piece_chars: 7, gap: Duration::ZERO, ending: Ending::Whole }
    }
}

impl From<Part> for Answer {
    fn from(part: Part) -> Self {
        [part].into()
    }
}

impl Answer {
    /// The same answer, written in pieces of `piece_chars` characters with a pause between them.
    pub(crate) fn slow(self, piece_chars: usize, gap: Duration) -> Self {
        Self { piece_chars, gap, ..self }
    }

    /// The same answer, but the connection breaks after `pieces` pieces.
    pub(crate) fn cut_after(self, pieces: usize) -> Self {
        Self { ending: Ending::Broken(pieces), ..self }
    }

    /// The same answer, but the provider reports an overload after `pieces` pieces.
    pub(crate) fn fails_after(self, pieces: usize) -> Self {
        Self { ending: Ending::Failed(pieces), ..self }
    }

    /// The same answer, but the stream ends after `pieces` pieces.
    pub(crate) fn ends_after(self, pieces: usize) -> Self {
        Self { ending: Ending::Short(pieces), ..self }
    }
}

/// An answer of these parts.
pub(crate) fn answer<const N: usize>(parts: [Part; N]) -> Answer {
    parts.into()
}

pub(crate) fn say(text: &str) -> Part {
    call("send_message", json!({ "text": text }))
}

/// A call of `send_message` that stops after `first` until the gate is open.
pub(crate) fn say_held(first: &str, gate: &Gate, rest: &str) -> Part {
    // Hold after the last letter of `first`, before the closing quote and brace.
    let hold = json!({ "text": first }).to_string().chars().count() - 2;
    let input = json!({ "text": format!("{first}{rest}") }).to_string();
    Part::Call { name: "send_message".into(), input, hold: Some((hold, gate.clone())) }
}

/// A text that is not posted.
pub(crate) fn think(text: &str) -> Part {
    Part::Text(text.into())
}

/// A call of a tool.
pub(crate) fn call(name: &str, input: Value) -> Part {
    raw_call(name, &input.to_string())
}

/// A call of a tool with an input that need not be JSON.
pub(crate) fn raw_call(name: &str, input: &str) -> Part {
    Part::Call { name: name.into(), input: input.into(), hold: None }
}

/// A wait until the gate is open.
pub(crate) fn wait(gate: &Gate) -> Part {
    Part::Wait(gate.clone())
}

/// An empty answer, which ends the run.
pub(crate) fn stop() -> Answer {
    answer([])
}

/// An answer that starts and never writes a word.
pub(crate) fn silent() -> Answer {
    Answer { ending: Ending::Silent, ..stop() }
}

pub(crate) fn http(status: u16) -> Answer {
    Answer { refusal: Some(Refusal { status, retry_after: None }), ..stop() }
}

/// An HTTP error with a `retry-after` header, in seconds.
pub(crate) fn http_retry(status: u16, retry_after: u64) -> Answer {
    Answer { refusal: Some(Refusal { status, retry_after: Some(retry_after) }), ..stop() }
}
