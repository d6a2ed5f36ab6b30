//! Turns the events of a message into pieces. The provider numbers all blocks together. The pieces
//! number only the calls, from 0 without gaps.

mod event;

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use smartspace_domain::{json::Plain, runs::Usage, steps::FinishReason};

use self::event::{BlockStart, Counts, Delta, Event};
use crate::{
    port::{Piece, estimate},
    reading::{Dialect, Fault, Taken},
};

/// Reads the stream of one answer.
#[derive(Debug)]
pub(crate) struct ResponseReader {
    /// The open blocks, by the provider's number.
    blocks: BTreeMap<u64, Block>,
    started: u32,
    stop_reason: Option<String>,
    stopped: bool,
    counts: Option<Counts>,
    /// The size of the request and of the answer, to estimate the usage.
    request_tokens: u64,
    answer_characters: usize,
}

#[derive(Debug)]
enum Block {
    /// A call with its number in the pieces. `initial_input` is its input if no delta follows.
    Call {
        number: u32,
        initial_input: Option<Map<String, Value>>,
    },
    Other,
}

impl ResponseReader {
    /// `request_tokens` serves to estimate the usage if the provider reports none.
    pub(crate) fn new(request_tokens: u64) -> Self {
        Self {
            blocks: BTreeMap::new(),
            started: 0,
            stop_reason: None,
            stopped: false,
            counts: None,
            request_tokens,
            answer_characters: 0,
        }
    }

    fn event(&mut self, event: Event) -> Result<Vec<Piece>, Fault> {
        Ok(match event {
            Event::MessageStart { message } => {
                self.count(message.usage);
                Vec::new()
            }
            Event::ContentBlockStart { index, content_block } => {
                self.start(index, content_block).into_iter().collect()
            }
            Event::ContentBlockDelta { index, delta } => {
                self.extend(index, delta)?.into_iter().collect()
            }
            Event::ContentBlockStop { index } => {
                self.blocks.remove(&index).and_then(Block::end).into_iter().collect()
            }
            Event::MessageDelta { delta, usage } => {
                self.count(usage);
                self.stop_reason = delta
                    .stop_reason
                    .filter(|reason| !reason.is_empty())
                    .or(self.stop_reason.take());
                std::mem::take(&mut self.blocks).into_values().filter_map(Block::end).collect()
            }
            Event::MessageStop => {
                self.stopped = true;
                Vec::new()
            }
            Event::Error { error: Plain(error) } => return Err(Fault::Reported(error)),
            Event::Other => Vec::new(),
        })
    }

    fn start(&mut self, index: u64, block: BlockStart) -> Option<Piece> {
        let (block, piece) = match block {
            BlockStart::Text { text } => {
                (Block::Other, Some(Piece::Text(text)).filter(|piece| piece.characters() > 0))
            }
            BlockStart::ToolUse { name, input } => {
                let number = self.started;
                self.started += 1;
                (
                    Block::Call { number, initial_input: Some(object(input)) },
                    Some(Piece::CallStarted { index: number, name }),
                )
            }
            BlockStart::Other => (Block::Other, None),
        };
        self.blocks.insert(index, block);
        piece
    }

    fn extend(&mut self, index: u64, delta: Delta) -> Result<Option<Piece>, Fault> {
        Ok(match (delta, self.blocks.get_mut(&index)) {
            (Delta::Text { text }, _) => {
                Some(Piece::Text(text)).filter(|piece| piece.characters() > 0)
            }
            (Delta::Input { partial_json }, Some(Block::Call { number, initial_input }))
                if !partial_json.is_empty() =>
            {
                *initial_input = None;
                Some(Piece::CallInput { index: *number, json: partial_json })
            }
            (Delta::Input { .. }, None) => {
                return Err(Fault::Broken("the answer continued a call that had not started"));
            }
            _ => None,
        })
    }

    /// Each event counts the whole message so far, and may leave out some of the counts.
    fn count(&mut self, counts: Option<Counts>) {
        let Some(counts) = counts else { return };
        let known = self.counts.get_or_insert_default();
        known.uncached = known.uncached.max(counts.uncached);
        known.cache_write = known.cache_write.max(counts.cache_write);
        known.cached = known.cached.max(counts.cached);
        known.written = known.written.max(counts.written);
    }
}

impl Block {
    /// Models write no input at all for a tool without parameters.
    fn end(self) -> Option<Piece> {
        let Self::Call { number, initial_input: Some(input) } = self else { return None };
        Some(Piece::CallInput { index: number, json: Value::Object(input).to_string() })
    }
}

impl Counts {
    fn usage(&self) -> Usage {
        let cached_tokens = self.cached.unwrap_or_default();
        let cache_write_tokens = self.cache_write.unwrap_or_default();
        // The provider's `input_tokens` exclude tokens that were read from its cache or written to
        // it.
        let input_tokens = self
            .uncached
            .unwrap_or_default()
            .saturating_add(cached_tokens)
            .saturating_add(cache_write_tokens);
        let output_tokens = self.written.unwrap_or_default();
        Usage { input_tokens, cached_tokens, cache_write_tokens, output_tokens, ..Usage::default() }
    }
}

/// The fields of an object. Any other value has no fields.
fn object(value: Option<Plain>) -> Map<String, Value> {
    if let Some(Plain(Value::Object(object))) = value { object } else { Map::new() }
}

impl Dialect for ResponseReader {
    fn take(&mut self, data: &str) -> Result<Taken, Fault> {
        let event = serde_json::from_str(data).map_err(|_| Fault::Foreign)?;
        let pieces = self.event(event)?;
        self.answer_characters += pieces.iter().map(Piece::characters).sum::<usize>();
        Ok(if self.stopped { Taken::End } else { Taken::Pieces(pieces) })
    }

    fn is_complete(&self) -> bool {
        self.stopped
    }

    fn finish(&self) -> Result<Piece, &'static str> {
        let reason = match self.stop_reason.as_deref() {
            Some(reason) if self.stopped => reason,
            _ => return Err("the answer ended before it was complete"),
        };
        let reason = match reason {
            "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
            _ if self.started > 0 => FinishReason::ToolCalls,
            // `end_turn`, `stop_sequence`, `refusal`, `pause_turn`, and any newer reason.
            _ => FinishReason::Stop,
        };
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
