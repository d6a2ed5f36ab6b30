//! What the model answers, written so that a test reads like a script.

use std::time::Duration;

use serde_json::{Value, json};

use super::gate::Gate;

/// One answer of the model.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(super) refusal: Option<Refusal>,
    pub(super) parts: Vec<Part>,
    /// Texts and inputs are written in pieces of so many characters.
    pub(super) piece_chars: usize,
    /// How long one piece takes.
    pub(super) gap: Duration,
    pub(super) ending: Ending,
}

/// An HTTP error instead of an answer.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) retry_after: Option<u64>,
}

/// A part of an answer.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// Thinking aloud.
    Text(String),
    /// A tool call. With a hold the model stops after so many characters of the input until the gate is open.
    Call { name: String, input: String, hold: Option<Hold> },
    /// Nothing is written until the gate is open. As the first part not even the answer's head.
    Wait(Gate),
}

/// After how many characters of an input the model stops until the gate is open.
pub(super) type Hold = (usize, Gate);

/// How an answer ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ending {
    /// As it should.
    Whole,
    /// The connection breaks after so many pieces.
    Broken(usize),
    /// The stream ends after so many pieces, without saying why.
    Short(usize),
    /// After so many pieces the provider tells an error: it is overloaded.
    Failed(usize),
    /// After what is written nothing comes, and the connection stays.
    Silent,
}

impl<const N: usize> From<[Part; N]> for Answer {
    fn from(parts: [Part; N]) -> Self {
        Self::of(parts.into())
    }
}

impl Answer {
    /// Any number of parts as one answer.
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
    /// Written slowly: a piece of so many characters, then a pause.
    pub(crate) fn slow(self, piece_chars: usize, gap: Duration) -> Self {
        Self { piece_chars, gap, ..self }
    }

    /// The connection breaks after so many pieces.
    pub(crate) fn cut_after(self, pieces: usize) -> Self {
        Self { ending: Ending::Broken(pieces), ..self }
    }

    /// The provider is overloaded after so many pieces, and says so.
    pub(crate) fn fails_after(self, pieces: usize) -> Self {
        Self { ending: Ending::Failed(pieces), ..self }
    }

    /// The stream ends after so many pieces as if that was all.
    pub(crate) fn ends_after(self, pieces: usize) -> Self {
        Self { ending: Ending::Short(pieces), ..self }
    }
}

/// Several parts as one answer.
pub(crate) fn answer<const N: usize>(parts: [Part; N]) -> Answer {
    parts.into()
}

/// A call of `send_message`.
pub(crate) fn say(text: &str) -> Part {
    call("send_message", json!({ "text": text }))
}

/// The same, held after its first words until the gate is open.
pub(crate) fn say_held(first: &str, gate: &Gate, rest: &str) -> Part {
    // Up to the last letter of `first`: the closing quote and brace are not written yet.
    let hold = json!({ "text": first }).to_string().chars().count() - 2;
    let input = json!({ "text": format!("{first}{rest}") }).to_string();
    Part::Call { name: "send_message".into(), input, hold: Some((hold, gate.clone())) }
}

/// Thinking aloud.
pub(crate) fn think(text: &str) -> Part {
    Part::Text(text.into())
}

/// A call of a tool.
pub(crate) fn call(name: &str, input: Value) -> Part {
    raw_call(name, &input.to_string())
}

/// A call whose input is what the model took for JSON.
pub(crate) fn raw_call(name: &str, input: &str) -> Part {
    Part::Call { name: name.into(), input: input.into(), hold: None }
}

/// Nothing until the gate is open.
pub(crate) fn wait(gate: &Gate) -> Part {
    Part::Wait(gate.clone())
}

/// Nothing more to say or do.
pub(crate) fn stop() -> Answer {
    answer([])
}

/// Begins to answer and never writes a word.
pub(crate) fn silent() -> Answer {
    Answer { ending: Ending::Silent, ..stop() }
}

/// An HTTP error.
pub(crate) fn http(status: u16) -> Answer {
    Answer { refusal: Some(Refusal { status, retry_after: None }), ..stop() }
}

/// An HTTP error that asks to wait for so many seconds.
pub(crate) fn http_retry(status: u16, retry_after: u64) -> Answer {
    Answer { refusal: Some(Refusal { status, retry_after: Some(retry_after) }), ..stop() }
}
