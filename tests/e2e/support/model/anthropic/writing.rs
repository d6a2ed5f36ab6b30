//! Writes a scripted answer as Anthropic does: as server-sent events.

use serde_json::{Value, json};

use crate::support::model::{
    request::ModelRequest,
    script::{Answer, Hold, Part},
    writing::{Beat, with_ending},
};

/// An error in the provider's words. A 401 repeats the key.
pub(crate) fn refusal(status: u16, request: &ModelRequest) -> Value {
    let (kind, message) = match status {
        400 => ("invalid_request_error", "This request is not to our liking.".to_owned()),
        401 => ("authentication_error", format!("invalid x-api-key: {}", request.key())),
        429 => ("rate_limit_error", "This request would exceed your rate limit.".to_owned()),
        529 => ("overloaded_error", "Overloaded".to_owned()),
        _ => ("api_error", "Internal server error".to_owned()),
    };
    json!({
        "type": "error",
        "error": { "type": kind, "message": message },
        "request_id": "req_test",
    })
}

/// The events of an answer.
pub(crate) fn beats(answer: &Answer, request: &ModelRequest) -> Vec<Beat> {
    let parts = || answer.parts.iter().skip_while(|part| matches!(part, Part::Wait(_)));
    let mut writer = Writer { beats: Vec::new(), piece_chars: answer.piece_chars, index: 0 };
    let usage = json!({
        "input_tokens": request.characters() / 4,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 1,
    });
    let message = json!({
        "id": "msg_test",
        "type": "message",
        "role": "assistant",
        "model": request.full_name(),
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage,
    });
    writer.event(json!({ "type": "message_start", "message": message }));
    writer.event(json!({ "type": "ping" }));
    for part in parts() {
        match part {
            Part::Text(text) => writer.text(text),
            Part::Wait(gate) => writer.beats.push(Beat::Wait(gate.clone())),
            Part::Call { name, input, hold } => writer.call(name, input, hold.as_ref()),
        }
    }
    let reason =
        if parts().any(|part| matches!(part, Part::Call { .. })) { "tool_use" } else { "end_turn" };
    let last = json!({
        "type": "message_delta",
        "delta": { "stop_reason": reason, "stop_sequence": null },
        "usage": { "output_tokens": 12 },
    });
    let end = [event(&last), event(&json!({ "type": "message_stop" }))].map(Beat::Event);
    let error = json!({ "type": "overloaded_error", "message": "Overloaded" });
    let error = event(&json!({ "type": "error", "error": error }));
    with_ending(writer.beats, answer.ending, end, Beat::Event(error))
}

struct Writer {
    beats: Vec<Beat>,
    piece_chars: usize,
    index: usize,
}

impl Writer {
    fn event(&mut self, data: Value) {
        self.beats.push(Beat::Event(event(&data)));
    }

    fn text(&mut self, text: &str) {
        self.begin(json!({ "type": "text", "text": "" }));
        self.in_pieces(text, |piece| json!({ "type": "text_delta", "text": piece }));
        self.end();
    }

    /// Writes the name and the id with the block, then the input in pieces. The first piece is
    /// empty.
    fn call(&mut self, name: &str, input: &str, hold: Option<&Hold>) {
        let id = format!("toolu_{}", self.index);
        self.begin(json!({ "type": "tool_use", "id": id, "name": name, "input": {} }));
        let more = |piece: String| json!({ "type": "input_json_delta", "partial_json": piece });
        self.delta(more(String::new()));
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

    fn begin(&mut self, block: Value) {
        self.event(
            json!({ "type": "content_block_start", "index": self.index, "content_block": block }),
        );
    }

    fn in_pieces(&mut self, text: &str, delta: impl Fn(String) -> Value) {
        let chars: Vec<char> = text.chars().collect();
        for piece in chars.chunks(self.piece_chars.max(1)) {
            self.delta(delta(piece.iter().collect()));
        }
    }

    fn delta(&mut self, delta: Value) {
        self.event(json!({ "type": "content_block_delta", "index": self.index, "delta": delta }));
    }

    fn end(&mut self) {
        self.event(json!({ "type": "content_block_stop", "index": self.index }));
        self.index += 1;
    }
}

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
}
