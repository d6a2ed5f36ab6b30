//! Turns the events of an answer into pieces. The provider numbers all blocks together. The pieces
//! number only the calls, from 0 without gaps.

mod thinking;

use std::collections::BTreeMap;

use aws_sdk_bedrockruntime::types::{
    ContentBlockDelta, ContentBlockStart, ConverseStreamOutput as Event, StopReason, TokenUsage,
};
use serde_json::Value;
use smartspace_domain::{runs::Usage, steps::FinishReason};

use self::thinking::Thinking;
use crate::port::{Piece, estimate};

/// Reads the stream of one answer.
#[derive(Debug)]
pub(super) struct ResponseReader {
    /// The open calls, by the number of their block.
    calls: BTreeMap<i32, Call>,
    started: u32,
    thinking: Thinking,
    stop_reason: Option<StopReason>,
    counts: Option<TokenUsage>,
    /// The size of the request and of the answer, to estimate the usage.
    request_tokens: u64,
    answer_characters: usize,
}

#[derive(Debug)]
struct Call {
    /// The number in the pieces.
    number: u32,
    has_input: bool,
}

impl ResponseReader {
    /// `request_tokens` serves to estimate the usage if the provider reports none.
    pub(super) fn new(request_tokens: u64) -> Self {
        Self {
            calls: BTreeMap::new(),
            started: 0,
            thinking: Thinking::default(),
            stop_reason: None,
            counts: None,
            request_tokens,
            answer_characters: 0,
        }
    }

    /// Returns the pieces of an event. They are empty if the event only shows that the provider is
    /// alive.
    pub(super) fn take(&mut self, event: Event) -> Result<Vec<Piece>, &'static str> {
        let pieces: Vec<Piece> = match event {
            Event::ContentBlockStart(block) => match block.start {
                Some(ContentBlockStart::ToolUse(call)) => {
                    self.start(block.content_block_index, call.name, call.tool_use_id)
                }
                _ => Vec::new(),
            },
            Event::ContentBlockDelta(block) => match block.delta {
                Some(ContentBlockDelta::Text(text)) if !text.is_empty() => vec![Piece::Text(text)],
                Some(ContentBlockDelta::ToolUse(call)) => {
                    self.extend(block.content_block_index, call.input)?.into_iter().collect()
                }
                Some(ContentBlockDelta::ReasoningContent(delta)) => {
                    self.thinking.add(block.content_block_index, delta);
                    Vec::new()
                }
                // A kind of content of a newer version of the API.
                _ => Vec::new(),
            },
            Event::ContentBlockStop(block) => self
                .calls
                .remove(&block.content_block_index)
                .and_then(Call::end)
                .into_iter()
                .collect(),
            Event::MessageStop(message) => {
                self.stop_reason = Some(message.stop_reason);
                std::mem::take(&mut self.calls).into_values().filter_map(Call::end).collect()
            }
            Event::Metadata(about) => {
                self.counts = about.usage.or(self.counts.take());
                Vec::new()
            }
            _ => Vec::new(),
        };
        self.answer_characters += pieces.iter().map(Piece::characters).sum::<usize>();
        Ok(pieces)
    }

    fn start(&mut self, block: i32, name: String, id: String) -> Vec<Piece> {
        let index = self.started;
        self.started += 1;
        self.calls.insert(block, Call { number: index, has_input: false });
        let id = Some(id).filter(|id| !id.is_empty()).map(|id| Piece::CallId { index, id });
        [Piece::CallStarted { index, name }].into_iter().chain(id).collect()
    }

    fn extend(&mut self, block: i32, json: String) -> Result<Option<Piece>, &'static str> {
        let call =
            self.calls.get_mut(&block).ok_or("the answer continued a call that had not started")?;
        call.has_input |= !json.is_empty();
        Ok(Some(Piece::CallInput { index: call.number, json })
            .filter(|piece| piece.characters() > 0))
    }

    /// Whether all content has arrived. Token counts may still follow.
    pub(super) fn is_complete(&self) -> bool {
        self.stop_reason.is_some()
    }

    /// Whether no event may follow. The token counts come last.
    pub(super) fn is_over(&self) -> bool {
        self.is_complete() && self.counts.is_some()
    }

    /// What the model wrote for itself, which goes back to it.
    pub(super) fn opaque(&mut self) -> Option<Value> {
        self.thinking.take()
    }

    /// The last piece, or why the answer is not complete.
    pub(super) fn finish(&self) -> Result<Piece, &'static str> {
        let reason = match &self.stop_reason {
            None => return Err("the answer ended before it was complete"),
            Some(StopReason::MalformedModelOutput | StopReason::MalformedToolUse) => {
                return Err("the model wrote output that its provider could not parse");
            }
            Some(StopReason::MaxTokens | StopReason::ModelContextWindowExceeded) => {
                FinishReason::Length
            }
            Some(_) if self.started > 0 => FinishReason::ToolCalls,
            Some(StopReason::ToolUse) => {
                return Err("the answer ended with a tool call, but contains none");
            }
            Some(StopReason::ContentFiltered | StopReason::GuardrailIntervened) => {
                FinishReason::Refusal
            }
            // Models of Anthropic have a reason that the API does not list.
            Some(reason) if reason.as_str() == "refusal" => FinishReason::Refusal,
            // The end of a turn, a stop sequence, and any newer reason.
            Some(_) => FinishReason::Stop,
        };
        // Budgets and the watcher of the context window need a count.
        let estimated = || Usage {
            input_tokens: self.request_tokens,
            output_tokens: estimate::tokens(self.answer_characters),
            ..Usage::default()
        };
        Ok(Piece::Finished { reason, usage: self.counts.as_ref().map_or_else(estimated, usage) })
    }
}

impl Call {
    /// Models write no input at all for a tool without parameters.
    fn end(self) -> Option<Piece> {
        (!self.has_input).then(|| Piece::CallInput { index: self.number, json: "{}".to_owned() })
    }
}

fn usage(counts: &TokenUsage) -> Usage {
    let count = |count: Option<i32>| u64::try_from(count.unwrap_or_default()).unwrap_or_default();
    let cached_tokens = count(counts.cache_read_input_tokens);
    let cache_write_tokens = count(counts.cache_write_input_tokens);
    // The provider's `inputTokens` exclude tokens that were read from its cache or written to it.
    let input_tokens = count(Some(counts.input_tokens)) + cached_tokens + cache_write_tokens;
    Usage {
        input_tokens,
        cached_tokens,
        cache_write_tokens,
        output_tokens: count(Some(counts.output_tokens)),
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests;
