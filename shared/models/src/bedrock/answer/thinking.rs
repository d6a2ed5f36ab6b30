//! The thinking of an answer, which the next requests of the run repeat.

use std::collections::BTreeMap;

use aws_sdk_bedrockruntime::types::ReasoningContentBlockDelta as Delta;
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

/// The blocks of thinking, by the numbers of their blocks.
#[derive(Debug, Default)]
pub(super) struct Thinking(BTreeMap<i32, Block>);

#[derive(Debug, Default)]
struct Block {
    text: String,
    signature: String,
    redacted: Vec<u8>,
}

impl Thinking {
    pub(super) fn add(&mut self, block: i32, delta: Delta) {
        let block = self.0.entry(block).or_default();
        match delta {
            Delta::Text(more) => block.text.push_str(&more),
            Delta::Signature(more) => block.signature.push_str(&more),
            Delta::RedactedContent(more) => block.redacted.extend(more.into_inner()),
            // A kind of a newer version of the API.
            _ => {}
        }
    }

    /// All blocks, as they stand at the start of the message that goes back:
    /// `{"blocks": [{"reasoningContent": {"reasoningText": {"text": "…", "signature": "…"}}},
    /// {"reasoningContent": {"redactedContent": "base64…"}}]}`. A text without a signature has no
    /// such field. `None` without any block.
    pub(super) fn take(&mut self) -> Option<Value> {
        let blocks = std::mem::take(&mut self.0).into_values().filter_map(Block::content);
        let blocks: Vec<_> = blocks.map(|block| json!({ "reasoningContent": block })).collect();
        (!blocks.is_empty()).then(|| json!({ "blocks": blocks }))
    }
}

impl Block {
    fn content(self) -> Option<Value> {
        let Self { text, signature, redacted } = self;
        if !redacted.is_empty() {
            return Some(json!({"redactedContent": BASE64_STANDARD.encode(redacted)}));
        }
        match (text.is_empty(), signature.is_empty()) {
            (true, true) => None,
            (_, true) => Some(json!({"reasoningText": {"text": text}})),
            _ => Some(json!({"reasoningText": {"text": text, "signature": signature}})),
        }
    }
}
