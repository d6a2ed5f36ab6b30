//! Collects the chunks of a chat completion. Each server decides what they look like.

use serde_json::{Value, json};

use crate::support::model::Beat;

pub(crate) struct Chunks {
    beats: Vec<Beat>,
    /// The fields of every chunk besides its choices.
    head: Value,
}

impl Chunks {
    pub(crate) fn new(head: Value) -> Self {
        Self { beats: Vec::new(), head }
    }

    /// A chunk with one choice.
    pub(crate) fn delta(&mut self, delta: Value) {
        self.choice(json!({ "index": 0, "delta": delta, "finish_reason": null }));
    }

    pub(crate) fn choice(&mut self, choice: Value) {
        self.chunk(json!({ "choices": [choice] }));
    }

    /// Ends the answer. Some servers still have words in this choice.
    pub(crate) fn finish(&mut self, delta: Value, reason: &str) {
        self.choice(json!({ "index": 0, "delta": delta, "finish_reason": reason }));
    }

    /// A chunk with these fields and those of the head.
    pub(crate) fn chunk(&mut self, fields: Value) {
        let mut chunk = self.head.clone();
        if let (Value::Object(chunk), Value::Object(fields)) = (&mut chunk, fields) {
            chunk.extend(fields);
        }
        self.event(&chunk.to_string());
    }

    /// A text in pieces of some characters.
    pub(crate) fn pieces(&mut self, text: &str, delta: impl Fn(String) -> Value) {
        for piece in pieces(text) {
            self.delta(delta(piece));
        }
    }

    pub(crate) fn event(&mut self, data: &str) {
        self.beats.push(Beat::Event(format!("data: {data}\n\n")));
    }

    /// The end of the stream.
    pub(crate) fn done(mut self) -> Vec<Beat> {
        self.event("[DONE]");
        self.beats
    }
}

/// A text in pieces of some characters.
pub(crate) fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(9).map(|piece| piece.iter().collect()).collect()
}

/// The head of a chunk with the fields that all servers write.
pub(crate) fn head(id: &str, model: &str) -> Value {
    json!({
        "id": id,
        "object": "chat.completion.chunk",
        "created": 1_771_427_220,
        "model": model,
    })
}
