//! Makes pieces out of the events of a message. Its blocks are numbered together; our calls by themselves, without gaps.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};
use smartspace_domain::{json::Plain, runs::Usage, steps::FinishReason};

use crate::{
    estimate,
    port::Piece,
    reading::{Dialect, Fault, Taken},
};

/// An event of the stream.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    MessageStart {
        message: Begun,
    },
    ContentBlockStart {
        index: u64,
        content_block: BlockStart,
    },
    ContentBlockDelta {
        index: u64,
        delta: Delta,
    },
    ContentBlockStop {
        index: u64,
    },
    MessageDelta {
        delta: Ending,
        usage: Option<Counts>,
    },
    MessageStop,
    Error {
        error: Plain,
    },
    /// A ping, or what was not there when this was written.
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
struct Begun {
    usage: Option<Counts>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum BlockStart {
    Text {
        #[serde(default)]
        text: String,
    },
    ToolUse {
        name: String,
        input: Option<Plain>,
    },
    /// Thinking, and the provider's own tools.
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
enum Delta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "input_json_delta")]
    Input { partial_json: String },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
struct Ending {
    stop_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Counts {
    #[serde(rename = "input_tokens")]
    uncached: Option<u64>,
    #[serde(rename = "cache_creation_input_tokens")]
    cache_write: Option<u64>,
    #[serde(rename = "cache_read_input_tokens")]
    cached: Option<u64>,
    #[serde(rename = "output_tokens")]
    written: Option<u64>,
}

/// What is known of an answer while it comes.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Those that have begun and not ended.
    blocks: BTreeMap<u64, Block>,
    started: u32,
    stop_reason: Option<String>,
    stopped: bool,
    counts: Option<Counts>,
    asked: usize,
    written: usize,
}

#[derive(Debug)]
enum Block {
    /// A call, by our number, with the input that counts where none is written.
    Call { number: u32, unwritten: Option<Map<String, Value>> },
    /// All else.
    Other,
}

impl Answer {
    /// To a question of `asked` characters, in case the provider does not count.
    pub(crate) fn new(asked: usize) -> Self {
        Self { blocks: BTreeMap::new(), started: 0, stop_reason: None, stopped: false, counts: None, asked, written: 0 }
    }

    fn event(&mut self, event: Event) -> Result<Vec<Piece>, Fault> {
        Ok(match event {
            Event::MessageStart { message } => {
                self.count(message.usage);
                Vec::new()
            }
            Event::ContentBlockStart { index, content_block } => self.begin(index, content_block).into_iter().collect(),
            Event::ContentBlockDelta { index, delta } => self.go_on(index, delta)?.into_iter().collect(),
            Event::ContentBlockStop { index } => self.blocks.remove(&index).and_then(Block::end).into_iter().collect(),
            Event::MessageDelta { delta, usage } => {
                self.count(usage);
                self.stop_reason = delta.stop_reason.filter(|reason| !reason.is_empty()).or(self.stop_reason.take());
                std::mem::take(&mut self.blocks).into_values().filter_map(Block::end).collect()
            }
            Event::MessageStop => {
                self.stopped = true;
                Vec::new()
            }
            Event::Error { error: Plain(error) } => return Err(Fault::Told(error)),
            Event::Other => Vec::new(),
        })
    }

    fn begin(&mut self, index: u64, block: BlockStart) -> Option<Piece> {
        let (block, piece) = match block {
            BlockStart::Text { text } => (Block::Other, Some(Piece::Text(text)).filter(|piece| piece.characters() > 0)),
            BlockStart::ToolUse { name, input } => {
                let number = self.started;
                self.started += 1;
                (Block::Call { number, unwritten: Some(object(input)) }, Some(Piece::CallStarted { index: number, name }))
            }
            BlockStart::Other => (Block::Other, None),
        };
        self.blocks.insert(index, block);
        piece
    }

    fn go_on(&mut self, index: u64, delta: Delta) -> Result<Option<Piece>, Fault> {
        Ok(match (delta, self.blocks.get_mut(&index)) {
            (Delta::Text { text }, _) => Some(Piece::Text(text)).filter(|piece| piece.characters() > 0),
            (Delta::Input { partial_json }, Some(Block::Call { number, unwritten })) if !partial_json.is_empty() => {
                *unwritten = None;
                Some(Piece::CallInput { index: *number, json: partial_json })
            }
            (Delta::Input { .. }, None) => return Err(Fault::Broken("the answer continued a call that it had not begun")),
            _ => None,
        })
    }

    /// The counts are of the whole message so far, and not all of them come each time.
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
    /// Models write nothing at all for a tool without input.
    fn end(self) -> Option<Piece> {
        let Self::Call { number, unwritten: Some(input) } = self else { return None };
        Some(Piece::CallInput { index: number, json: Value::Object(input).to_string() })
    }
}

impl Counts {
    fn usage(&self) -> Usage {
        let [uncached, cached_tokens, cache_write_tokens, output_tokens] =
            [self.uncached, self.cached, self.cache_write, self.written].map(Option::unwrap_or_default);
        // What was in the provider's cache, or went there, is not among its `input_tokens`.
        let input_tokens = uncached.saturating_add(cached_tokens).saturating_add(cache_write_tokens);
        Usage { input_tokens, cached_tokens, cache_write_tokens, output_tokens, ..Usage::default() }
    }
}

/// The fields of an object; of anything else none.
fn object(value: Option<Plain>) -> Map<String, Value> {
    if let Some(Plain(Value::Object(object))) = value { object } else { Map::new() }
}

impl Dialect for Answer {
    fn take(&mut self, data: &str) -> Result<Taken, Fault> {
        let event = serde_json::from_str(data).map_err(|_| Fault::Foreign)?;
        let pieces = self.event(event)?;
        self.written += pieces.iter().map(Piece::characters).sum::<usize>();
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
            // `end_turn`, `stop_sequence`, `refusal`, `pause_turn`, and what was not there when this was written.
            _ => FinishReason::Stop,
        };
        // Without a count neither budgets nor the window's watcher would work.
        let estimated =
            || Usage { input_tokens: estimate::tokens(self.asked), output_tokens: estimate::tokens(self.written), ..Usage::default() };
        Ok(Piece::Finished { reason, usage: self.counts.as_ref().map_or_else(estimated, Counts::usage) })
    }
}

#[cfg(test)]
mod tests;
