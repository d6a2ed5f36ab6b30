//! Writes a scripted answer as Bedrock does: as events in AWS's own encoding.

use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use serde_json::{Value, json};

use crate::support::model::{
    request::ModelRequest,
    script::{Answer, Hold, Part},
    writing::{Beat, with_ending},
};

/// An error in the provider's words.
pub(crate) fn refusal(status: u16) -> Value {
    let (kind, message) = match status {
        400 => ("ValidationException", "This request is not to our liking."),
        403 => (
            "AccessDeniedException",
            "You don't have access to the model with the specified model ID.",
        ),
        404 => ("ResourceNotFoundException", "Could not resolve the foundation model."),
        429 => ("ThrottlingException", "Too many requests, please wait before trying again."),
        503 => ("ServiceUnavailableException", "Bedrock is unable to process your request."),
        _ => (
            "InternalServerException",
            "The system encountered an unexpected error during processing. Try your request again.",
        ),
    };
    json!({ "__type": kind, "message": message })
}

/// The events of an answer.
pub(crate) fn beats(answer: &Answer, request: &ModelRequest) -> Vec<Beat> {
    let parts = || answer.parts.iter().skip_while(|part| matches!(part, Part::Wait(_)));
    let mut writer = Writer { beats: Vec::new(), piece_chars: answer.piece_chars, index: 0 };
    writer.beats.push(event("messageStart", &json!({ "role": "assistant" })));
    for part in parts() {
        match part {
            Part::Text(text) => writer.text(text),
            Part::Wait(gate) => writer.beats.push(Beat::Wait(gate.clone())),
            Part::Call { name, input, hold } => writer.call(name, input, hold.as_ref()),
        }
    }
    let reason =
        if parts().any(|part| matches!(part, Part::Call { .. })) { "tool_use" } else { "end_turn" };
    let tokens = request.characters() / 4;
    let usage = json!({
        "inputTokens": tokens,
        "outputTokens": 12,
        "totalTokens": tokens + 12,
        "cacheReadInputTokens": 0,
        "cacheWriteInputTokens": 0,
    });
    let end = [
        event("messageStop", &json!({ "stopReason": reason })),
        event("metadata", &json!({ "usage": usage, "metrics": { "latencyMs": 1 } })),
    ];
    let error = frame(
        "exception",
        ":exception-type",
        "serviceUnavailableException",
        &json!({ "message": "Bedrock is overloaded." }),
    );
    with_ending(writer.beats, answer.ending, end, error)
}

struct Writer {
    beats: Vec<Beat>,
    piece_chars: usize,
    index: usize,
}

impl Writer {
    /// Writes a block of text, which has no start event.
    fn text(&mut self, text: &str) {
        self.in_pieces(text, |piece| json!({ "text": piece }));
        self.end();
    }

    /// Writes the name and the id with the block, then the input in pieces.
    fn call(&mut self, name: &str, input: &str, hold: Option<&Hold>) {
        let start =
            json!({ "toolUse": { "toolUseId": format!("tooluse_{}", self.index), "name": name } });
        self.beats.push(event(
            "contentBlockStart",
            &json!({ "contentBlockIndex": self.index, "start": start }),
        ));
        let more = |piece: String| json!({ "toolUse": { "input": piece } });
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
        self.end();
    }

    fn in_pieces(&mut self, text: &str, delta: impl Fn(String) -> Value) {
        let chars: Vec<char> = text.chars().collect();
        for piece in chars.chunks(self.piece_chars.max(1)) {
            let delta = delta(piece.iter().collect());
            self.beats.push(event(
                "contentBlockDelta",
                &json!({ "contentBlockIndex": self.index, "delta": delta }),
            ));
        }
    }

    fn end(&mut self) {
        self.beats.push(event("contentBlockStop", &json!({ "contentBlockIndex": self.index })));
        self.index += 1;
    }
}

/// An event in AWS's own encoding.
pub(crate) fn event(kind: &str, payload: &Value) -> Beat {
    frame("event", ":event-type", kind, payload)
}

fn frame(message: &'static str, named: &'static str, kind: &str, payload: &Value) -> Beat {
    let header =
        |name: &'static str, value: String| Header::new(name, HeaderValue::String(value.into()));
    let message = Message::new(payload.to_string().into_bytes())
        .add_header(header(":message-type", message.into()))
        .add_header(header(named, kind.into()))
        .add_header(header(":content-type", "application/json".into()));
    let mut frame = Vec::new();
    write_message_to(&message, &mut frame).unwrap();
    Beat::Frame(frame)
}
