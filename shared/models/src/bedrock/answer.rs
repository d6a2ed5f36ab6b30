//! Makes pieces out of the events of an answer. Its blocks are numbered together; our calls by themselves, without gaps.

use std::collections::BTreeMap;

use aws_sdk_bedrockruntime::types::{ContentBlockDelta, ContentBlockStart, ConverseStreamOutput as Event, StopReason, TokenUsage};
use smartspace_domain::{runs::Usage, steps::FinishReason};

use crate::{estimate, port::Piece};

/// What is known of an answer while it comes.
#[derive(Debug)]
pub(super) struct Answer {
    /// Calls that have begun and not ended, by the number of their block.
    calls: BTreeMap<i32, Call>,
    started: u32,
    stop_reason: Option<StopReason>,
    counts: Option<TokenUsage>,
    asked: usize,
    written: usize,
}

/// A call, by our number.
#[derive(Debug)]
struct Call {
    number: u32,
    is_written: bool,
}

impl Answer {
    /// To a question of `asked` characters, in case the provider does not count.
    pub(super) fn new(asked: usize) -> Self {
        Self { calls: BTreeMap::new(), started: 0, stop_reason: None, counts: None, asked, written: 0 }
    }

    /// Pieces; none where an event only shows that the provider is at work.
    pub(super) fn take(&mut self, event: Event) -> Result<Vec<Piece>, &'static str> {
        let pieces: Vec<Piece> = match event {
            Event::ContentBlockStart(block) => match block.start {
                Some(ContentBlockStart::ToolUse(call)) => vec![self.begin(block.content_block_index, call.name)],
                _ => Vec::new(),
            },
            Event::ContentBlockDelta(block) => match block.delta {
                Some(ContentBlockDelta::Text(text)) if !text.is_empty() => vec![Piece::Text(text)],
                Some(ContentBlockDelta::ToolUse(call)) => self.go_on(block.content_block_index, call.input)?.into_iter().collect(),
                // Thinking, and what was not there when this was written.
                _ => Vec::new(),
            },
            Event::ContentBlockStop(block) => self.calls.remove(&block.content_block_index).and_then(Call::end).into_iter().collect(),
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
        self.written += pieces.iter().map(Piece::characters).sum::<usize>();
        Ok(pieces)
    }

    fn begin(&mut self, block: i32, name: String) -> Piece {
        let number = self.started;
        self.started += 1;
        self.calls.insert(block, Call { number, is_written: false });
        Piece::CallStarted { index: number, name }
    }

    fn go_on(&mut self, block: i32, json: String) -> Result<Option<Piece>, &'static str> {
        let call = self.calls.get_mut(&block).ok_or("the answer continued a call that it had not begun")?;
        call.is_written |= !json.is_empty();
        Ok(Some(Piece::CallInput { index: call.number, json }).filter(|piece| piece.characters() > 0))
    }

    /// Whether nothing of value may follow.
    pub(super) fn is_complete(&self) -> bool {
        self.stop_reason.is_some()
    }

    /// Whether nothing may follow: the count of tokens comes last.
    pub(super) fn is_over(&self) -> bool {
        self.is_complete() && self.counts.is_some()
    }

    /// The last piece, or why the answer is not whole.
    pub(super) fn finish(&self) -> Result<Piece, &'static str> {
        let reason = match &self.stop_reason {
            None => return Err("the answer ended before it was complete"),
            Some(StopReason::MalformedModelOutput | StopReason::MalformedToolUse) => {
                return Err("the model wrote what its provider could not read");
            }
            Some(StopReason::MaxTokens | StopReason::ModelContextWindowExceeded) => FinishReason::Length,
            Some(_) if self.started > 0 => FinishReason::ToolCalls,
            // The end of a turn, a stop sequence, a guardrail, and what was not there when this was written.
            Some(_) => FinishReason::Stop,
        };
        // Without a count neither budgets nor the window's watcher would work.
        let estimated =
            || Usage { input_tokens: estimate::tokens(self.asked), output_tokens: estimate::tokens(self.written), ..Usage::default() };
        Ok(Piece::Finished { reason, usage: self.counts.as_ref().map_or_else(estimated, usage) })
    }
}

impl Call {
    /// Models write nothing at all for a tool without input.
    fn end(self) -> Option<Piece> {
        (!self.is_written).then(|| Piece::CallInput { index: self.number, json: "{}".to_owned() })
    }
}

fn usage(counts: &TokenUsage) -> Usage {
    let counted = |count: Option<i32>| u64::try_from(count.unwrap_or_default()).unwrap_or_default();
    let (cached_tokens, cache_write_tokens) = (counted(counts.cache_read_input_tokens), counted(counts.cache_write_input_tokens));
    // What was in the provider's cache, or went there, is not among its `inputTokens`.
    let input_tokens = counted(Some(counts.input_tokens)) + cached_tokens + cache_write_tokens;
    Usage { input_tokens, cached_tokens, cache_write_tokens, output_tokens: counted(Some(counts.output_tokens)), ..Usage::default() }
}

#[cfg(test)]
mod tests;
