//! Turns the chunks of a chat completion into pieces. Servers number calls in different ways. The
//! pieces number them from 0 without gaps.

mod chunk;

use serde_json::Value;
use smartspace_domain::{json::Plain, runs::Usage, steps::FinishReason};

use self::chunk::{CallDelta, Chunk};
use crate::{
    port::{Piece, estimate},
    reading::{Dialect, Fault, Taken},
};

/// Reads the stream of one answer.
#[derive(Debug)]
pub(crate) struct ResponseReader {
    calls: Vec<Call>,
    started: u32,
    finish_reason: Option<String>,
    usage: Option<Usage>,
    /// The size of the request and of the answer, to estimate the usage.
    request_tokens: u64,
    answer_characters: usize,
}

#[derive(Debug)]
struct Call {
    index: Option<u64>,
    id: String,
    /// The number in the pieces, once the call has a name.
    number: Option<u32>,
    /// Input that arrived before the name.
    held: String,
}

impl ResponseReader {
    /// `request_tokens` serves to estimate the usage if the provider reports none.
    pub(crate) fn new(request_tokens: u64) -> Self {
        Self {
            calls: Vec::new(),
            started: 0,
            finish_reason: None,
            usage: None,
            request_tokens,
            answer_characters: 0,
        }
    }

    /// Returns the pieces of a chunk, or the error that it reports.
    fn chunk(&mut self, chunk: Chunk) -> Result<Vec<Piece>, Value> {
        if let Some(Plain(error)) = chunk.error {
            return Err(error);
        }
        if let Some(counts) = chunk.usage {
            self.usage = Some(counts.usage());
        }
        let mut pieces = Vec::new();
        for choice in chunk.choices.into_iter().flatten().filter(|choice| choice.index == 0) {
            if let Some(delta) = choice.delta {
                let texts = [delta.content, delta.refusal]
                    .into_iter()
                    .flatten()
                    .filter(|text| !text.is_empty());
                pieces.extend(texts.map(Piece::Text));
                for call in delta.tool_calls.into_iter().flatten() {
                    self.take_call(call, &mut pieces);
                }
            }
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
                self.finish_reason = Some(reason);
            }
        }
        self.answer_characters += pieces.iter().map(Piece::characters).sum::<usize>();
        Ok(pieces)
    }

    fn take_call(&mut self, delta: CallDelta, pieces: &mut Vec<Piece>) {
        let id = delta.id.filter(|id| !id.is_empty());
        let function = delta.function.unwrap_or_default();
        let name = function.name.filter(|name| !name.is_empty());
        let at = self.call_at(delta.index, id.as_deref(), name.is_some());
        let call = &mut self.calls[at];
        if let (None, Some(name)) = (call.number, name) {
            call.number = Some(self.started);
            pieces.push(Piece::CallStarted { index: self.started, name });
            self.started += 1;
        }
        call.held += function.arguments.as_deref().unwrap_or_default();
        if let (Some(index), false) = (call.number, call.held.is_empty()) {
            pieces.push(Piece::CallInput { index, json: std::mem::take(&mut call.held) });
        }
    }

    /// The position of the call that a delta belongs to. Adds a call if the delta starts one.
    fn call_at(&mut self, index: Option<u64>, id: Option<&str>, has_name: bool) -> usize {
        let same_index = |call: &Call| index.is_none() || call.index == index;
        let same_id =
            id.and_then(|id| self.calls.iter().rposition(|call| same_index(call) && call.id == id));
        // A name starts a new call even if its index is already in use, because some servers number
        // all calls 0. But an index without an id continues a call, because some servers repeat the
        // name in each delta.
        let continues =
            |call: &Call| !has_name || call.number.is_none() || (id.is_none() && index.is_some());
        let known = same_id
            .or_else(|| self.calls.iter().rposition(|call| same_index(call) && continues(call)));
        known.unwrap_or_else(|| {
            self.calls.push(Call {
                index,
                id: id.unwrap_or_default().to_owned(),
                number: None,
                held: String::new(),
            });
            self.calls.len() - 1
        })
    }
}

impl Dialect for ResponseReader {
    fn take(&mut self, data: &str) -> Result<Taken, Fault> {
        if data.trim() == "[DONE]" {
            return Ok(Taken::End);
        }
        let chunk = serde_json::from_str(data).map_err(|_| Fault::Foreign)?;
        self.chunk(chunk).map(Taken::Pieces).map_err(Fault::Reported)
    }

    fn is_complete(&self) -> bool {
        self.finish_reason.is_some()
    }

    fn finish(&self) -> Result<Piece, &'static str> {
        let reason = match self.finish_reason.as_deref() {
            None => return Err("the answer ended before it was complete"),
            Some("error") => return Err("the provider aborted the answer"),
            _ if self.calls.iter().any(|call| call.number.is_none()) => {
                return Err("the answer contains a tool call without a name");
            }
            Some("length") => FinishReason::Length,
            // Some servers finish with `stop` although the answer contains calls.
            Some("tool_calls" | "function_call") => FinishReason::ToolCalls,
            Some(_) if self.started > 0 => FinishReason::ToolCalls,
            Some(_) => FinishReason::Stop,
        };
        // Budgets and the watcher of the context window need a count.
        let estimated = || Usage {
            input_tokens: self.request_tokens,
            output_tokens: estimate::tokens(self.answer_characters),
            ..Usage::default()
        };
        Ok(Piece::Finished { reason, usage: self.usage.unwrap_or_else(estimated) })
    }
}

#[cfg(test)]
mod tests;
