//! Makes pieces out of the chunks of a chat completion. Servers differ in how they number calls; our numbers have no gaps.

use serde::Deserialize;
use serde_json::Value;
use smartspace_domain::{json::Plain, runs::Usage, steps::FinishReason};

use crate::{
    estimate,
    port::Piece,
    reading::{Dialect, Fault, Taken},
};

/// One chunk of the stream; what is missing and what is null are the same.
#[derive(Debug, Deserialize)]
struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<Counts>,
    error: Option<Plain>,
}

#[derive(Debug, Deserialize)]
struct Choice {
    #[serde(default)]
    index: u32,
    delta: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Delta {
    content: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Debug, Deserialize)]
struct CallDelta {
    index: Option<u64>,
    id: Option<String>,
    function: Option<FunctionDelta>,
}

#[derive(Debug, Default, Deserialize)]
struct FunctionDelta {
    name: Option<String>,
    arguments: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Counts {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<Details>,
}

#[derive(Debug, Deserialize)]
struct Details {
    cached_tokens: Option<u64>,
}

/// What is known of an answer while it comes.
#[derive(Debug)]
pub(crate) struct Answer {
    calls: Vec<Call>,
    started: u32,
    finish_reason: Option<String>,
    usage: Option<Usage>,
    asked: usize,
    written: usize,
}

#[derive(Debug)]
struct Call {
    index: Option<u64>,
    id: String,
    /// Our number, once its name is known.
    number: Option<u32>,
    /// Input that came before the name.
    held: String,
}

impl Answer {
    /// To a question of `asked` characters, in case the provider does not count.
    pub(crate) fn new(asked: usize) -> Self {
        Self { calls: Vec::new(), started: 0, finish_reason: None, usage: None, asked, written: 0 }
    }

    /// The pieces of a chunk, or the error that it tells.
    fn chunk(&mut self, chunk: Chunk) -> Result<Vec<Piece>, Value> {
        if let Some(Plain(error)) = chunk.error {
            return Err(error);
        }
        if let Some(counts) = chunk.usage {
            self.usage = Some(Usage {
                input_tokens: counts.prompt_tokens.unwrap_or(0),
                cached_tokens: counts.prompt_tokens_details.and_then(|details| details.cached_tokens).unwrap_or(0),
                output_tokens: counts.completion_tokens.unwrap_or(0),
                ..Usage::default()
            });
        }
        let mut pieces = Vec::new();
        for choice in chunk.choices.into_iter().flatten().filter(|choice| choice.index == 0) {
            if let Some(delta) = choice.delta {
                let texts = [delta.content, delta.refusal].into_iter().flatten().filter(|text| !text.is_empty());
                pieces.extend(texts.map(Piece::Text));
                for call in delta.tool_calls.into_iter().flatten() {
                    self.take_call(call, &mut pieces);
                }
            }
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
                self.finish_reason = Some(reason);
            }
        }
        self.written += pieces.iter().map(Piece::characters).sum::<usize>();
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

    /// Which call is meant; a new one where none is known.
    fn call_at(&mut self, index: Option<u64>, id: Option<&str>, names: bool) -> usize {
        let here = |call: &Call| index.is_none() || call.index == index;
        let same_id = id.and_then(|id| self.calls.iter().rposition(|call| here(call) && call.id == id));
        // A name begins a call, also under a number that another call had: some servers number all calls 0. But a number without an
        // id is enough, for some repeat the name.
        let goes_on = |call: &Call| !names || call.number.is_none() || (id.is_none() && index.is_some());
        let known = same_id.or_else(|| self.calls.iter().rposition(|call| here(call) && goes_on(call)));
        known.unwrap_or_else(|| {
            self.calls.push(Call { index, id: id.unwrap_or_default().to_owned(), number: None, held: String::new() });
            self.calls.len() - 1
        })
    }
}

impl Dialect for Answer {
    fn take(&mut self, data: &str) -> Result<Taken, Fault> {
        if data.trim() == "[DONE]" {
            return Ok(Taken::End);
        }
        let chunk = serde_json::from_str(data).map_err(|_| Fault::Foreign)?;
        self.chunk(chunk).map(Taken::Pieces).map_err(Fault::Told)
    }

    fn is_complete(&self) -> bool {
        self.finish_reason.is_some()
    }

    fn finish(&self) -> Result<Piece, &'static str> {
        let reason = match self.finish_reason.as_deref() {
            None => return Err("the answer ended before it was complete"),
            Some("error") => return Err("the provider broke the answer off"),
            _ if self.calls.iter().any(|call| call.number.is_none()) => return Err("the answer holds a call without a name"),
            Some("length") => FinishReason::Length,
            // Some servers end with `stop` also where they call.
            Some("tool_calls" | "function_call") => FinishReason::ToolCalls,
            Some(_) if self.started > 0 => FinishReason::ToolCalls,
            Some(_) => FinishReason::Stop,
        };
        // Without a count neither budgets nor the window's watcher would work.
        let estimated =
            || Usage { input_tokens: estimate::tokens(self.asked), output_tokens: estimate::tokens(self.written), ..Usage::default() };
        Ok(Piece::Finished { reason, usage: self.usage.unwrap_or_else(estimated) })
    }
}

#[cfg(test)]
mod tests;
