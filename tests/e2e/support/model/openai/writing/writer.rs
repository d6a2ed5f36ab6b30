//! Collects the chunks of an answer.

use serde_json::{Value, json};

use crate::support::model::{script::Hold, writing::Beat};

pub(super) struct Writer {
    pub(super) beats: Vec<Beat>,
    pub(super) model: String,
    pub(super) piece_chars: usize,
}

impl Writer {
    pub(super) fn delta(&mut self, delta: Value) {
        let choices = json!([{ "index": 0, "delta": delta, "finish_reason": null }]);
        self.beats.push(Beat::Event(event(&self.model, choices, Value::Null)));
    }

    pub(super) fn in_pieces(&mut self, text: &str, delta: impl Fn(String) -> Value) {
        let chars: Vec<char> = text.chars().collect();
        for piece in chars.chunks(self.piece_chars.max(1)) {
            self.delta(delta(piece.iter().collect()));
        }
    }

    /// Writes the name and the id once, then the input in pieces.
    pub(super) fn call(&mut self, index: usize, name: &str, input: &str, hold: Option<&Hold>) {
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

pub(super) fn event(model: &str, choices: Value, usage: Value) -> String {
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
