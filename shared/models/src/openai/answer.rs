//! Turns the chunks of a chat completion into pieces. Chunks are read field by field: a field that
//! is not needed may have any type.
//!
//! - `calls`, `input`: which call a part belongs to, and whether its input is complete
//! - `counts`: token counts
//! - `marks`: what goes back to the provider unchanged

mod calls;
mod counts;
mod input;
mod marks;

use serde_json::Value;
use smartspace_domain::{json, runs::Usage, steps::FinishReason};

use self::{
    calls::{CallPart, Calls},
    counts::Counts,
    marks::Marks,
};
use crate::{
    fields::{items, reported_error, some_text, text},
    port::{Piece, estimate},
    reading::{Dialect, Fault, Taken, origin_in},
};

/// Reads the stream of one answer.
#[derive(Debug)]
pub(crate) struct ResponseReader {
    calls: Calls,
    marks: Marks,
    has_text: bool,
    has_refused: bool,
    finish_reason: Option<String>,
    /// Whether the server has sent `[DONE]`.
    is_done: bool,
    counts: Option<Counts>,
    origin: Option<Piece>,
    /// The size of the request and of the answer, to estimate the usage.
    request_tokens: u64,
    answer_characters: usize,
}

impl ResponseReader {
    /// `request_tokens` serves to estimate the usage if the provider reports none.
    pub(crate) fn new(request_tokens: u64) -> Self {
        Self {
            calls: Calls::default(),
            marks: Marks::default(),
            has_text: false,
            has_refused: false,
            finish_reason: None,
            is_done: false,
            counts: None,
            origin: None,
            request_tokens,
            answer_characters: 0,
        }
    }

    /// Returns the pieces of a chunk, or the error that it reports.
    fn chunk(&mut self, chunk: Value) -> Result<Vec<Piece>, Value> {
        let choices = items(chunk.get("choices"));
        if let Some(error) = reported_error(&chunk, !choices.is_empty()) {
            return Err(error.clone());
        }
        if self.origin.is_none() {
            self.origin = origin_in(&chunk);
        }
        if let Some(counts) = Counts::of_chunk(&chunk) {
            self.counts = Some(counts.or(self.counts.take()));
        }
        let mut pieces = Vec::new();
        // One choice was asked for. A number other than 0 is that of another one.
        let is_ours = |choice: &&Value| choice["index"].as_u64().unwrap_or(0) == 0;
        for choice in choices.iter().filter(is_ours) {
            self.delta(&choice["delta"], &mut pieces);
            if let Some(reason) = some_text(choice, "finish_reason") {
                self.finish_reason = Some(reason.to_lowercase());
            }
        }
        self.answer_characters += pieces.iter().map(Piece::characters).sum::<usize>();
        Ok(pieces)
    }

    fn delta(&mut self, delta: &Value, pieces: &mut Vec<Piece>) {
        self.marks.add(delta);
        match delta.get("content") {
            Some(Value::String(text)) => self.text(text, pieces),
            content => {
                for part in items(content) {
                    self.content_part(part, pieces);
                }
            }
        }
        if let Some(refusal) = some_text(delta, "refusal") {
            self.has_refused = true;
            self.text(refusal, pieces);
        }
        for call in items(delta.get("tool_calls")).iter().filter(|call| call.is_object()) {
            self.calls.add(CallPart::new(call), pieces);
        }
    }

    /// A part of a content that is a list. Files and references are skipped.
    fn content_part(&mut self, part: &Value, pieces: &mut Vec<Piece>) {
        match text(part, "type") {
            Some("thinking" | "redacted_thinking") => self.marks.add_thinking(part),
            Some("refusal") => {
                self.has_refused = true;
                self.text(text(part, "refusal").unwrap_or_default(), pieces);
            }
            Some("text" | "output_text") | None => {
                let text = part.as_str().or(text(part, "text"));
                self.text(text.unwrap_or_default(), pieces);
            }
            Some(_) => {}
        }
    }

    fn text(&mut self, text: &str, pieces: &mut Vec<Piece>) {
        if !text.is_empty() {
            self.has_text = true;
            pieces.push(Piece::Text(text.to_owned()));
        }
    }

    fn finish_reason(&self) -> Result<FinishReason, &'static str> {
        let has_calls = self.calls.started() > 0;
        let reason = match self.finish_reason.as_deref() {
            Some(reason) => reason,
            // Some servers send no reason. Then the protocol's end is the only sign that the answer
            // is complete.
            None if self.is_done && (has_calls || self.has_text) && self.calls.are_complete() => {
                "stop"
            }
            None => return Err("the answer ended before it was complete"),
        };
        let is_refused = self.has_refused
            || matches!(
                reason,
                "content_filter" | "content_filtered" | "refusal" | "safety" | "sensitive"
            );
        match reason {
            "error" | "abort" | "network_error" | "insufficient_system_resource" => {
                Err("the provider aborted the answer")
            }
            _ if self.calls.has_unnamed() => Err("the answer contains a tool call without a name"),
            "length" | "max_tokens" | "model_length" => Ok(FinishReason::Length),
            // A filter may cut a call.
            _ if is_refused && !self.calls.are_whole() => Ok(FinishReason::Refusal),
            // Some servers finish with `stop` although the answer contains calls.
            _ if has_calls => Ok(FinishReason::ToolCalls),
            "tool_calls" | "function_call" | "tool_use" => {
                Err("the answer ended with a tool call, but contains none")
            }
            _ if is_refused => Ok(FinishReason::Refusal),
            _ => Ok(FinishReason::Stop),
        }
    }
}

impl Dialect for ResponseReader {
    fn take(&mut self, data: &str) -> Result<Taken, Fault> {
        if data.trim().eq_ignore_ascii_case("[DONE]") {
            self.is_done = true;
            return Ok(Taken::End(Vec::new()));
        }
        let chunk = json::parse_event(data).map_err(|_| Fault::Foreign);
        let pieces = chunk.and_then(|chunk| self.chunk(chunk).map_err(Fault::Reported));
        // Only counts may follow the end of an answer. What else comes does not cost it.
        match pieces {
            Err(_) if self.is_complete() => Ok(Taken::Pieces(Vec::new())),
            pieces => pieces.map(Taken::Pieces),
        }
    }

    fn is_complete(&self) -> bool {
        self.finish_reason.is_some()
    }

    fn opaque(&mut self) -> Option<Value> {
        self.marks.take(self.calls.marks())
    }

    fn origin(&self) -> Option<Piece> {
        self.origin.clone()
    }

    fn finish(&self) -> Result<Piece, &'static str> {
        let reason = self.finish_reason()?;
        // Budgets and the watcher of the context window need a count.
        let estimated = || Usage {
            input_tokens: self.request_tokens,
            output_tokens: estimate::tokens(self.answer_characters),
            ..Usage::default()
        };
        Ok(Piece::Finished {
            reason,
            usage: self.counts.as_ref().map_or_else(estimated, Counts::usage),
        })
    }
}

#[cfg(test)]
mod tests;
