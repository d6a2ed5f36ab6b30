//! Turns the events of a message into pieces. Events are read field by field: a field that is not
//! needed may have any type. The provider numbers all blocks together. The pieces number only the
//! calls, from 0 without gaps.

mod blocks;

use serde_json::Value;
use smartspace_domain::{json, runs::Usage, steps::FinishReason};

use self::blocks::Blocks;
use crate::{
    fields::{count, reported_error, some_text, text},
    port::{Piece, estimate},
    reading::{Dialect, Fault, Taken, origin_in},
};

/// Reads the stream of one answer.
#[derive(Debug)]
pub(crate) struct ResponseReader {
    blocks: Blocks,
    has_text: bool,
    /// Whether the event with the reason has come.
    is_ending: bool,
    stop_reason: Option<String>,
    stopped: bool,
    counts: Option<Counts>,
    origin: Option<Piece>,
    /// The size of the request and of the answer, to estimate the usage.
    request_tokens: u64,
    answer_characters: usize,
}

#[derive(Debug, Default)]
struct Counts {
    uncached: Option<u64>,
    cache_write: Option<u64>,
    cached: Option<u64>,
    written: Option<u64>,
}

impl ResponseReader {
    /// `request_tokens` serves to estimate the usage if the provider reports none.
    pub(crate) fn new(request_tokens: u64) -> Self {
        Self {
            blocks: Blocks::default(),
            has_text: false,
            is_ending: false,
            stop_reason: None,
            stopped: false,
            counts: None,
            origin: None,
            request_tokens,
            answer_characters: 0,
        }
    }

    fn event(&mut self, event: &Value) -> Result<Vec<Piece>, Fault> {
        let index = count(event, "index");
        let field = |name| event.get(name).unwrap_or(&Value::Null);
        Ok(match text(event, "type") {
            Some("message_start") => {
                self.count(field("message").get("usage"));
                self.origin = origin_in(field("message"));
                Vec::new()
            }
            Some("content_block_start") => self.blocks.start(index, field("content_block")),
            Some("content_block_delta") => {
                let piece = self.blocks.extend(index, field("delta")).map_err(Fault::Broken)?;
                piece.into_iter().collect()
            }
            Some("content_block_stop") => self.blocks.stop(index).into_iter().collect(),
            Some("message_delta") => {
                self.count(event.get("usage"));
                self.is_ending = true;
                if let Some(reason) = some_text(field("delta"), "stop_reason") {
                    self.stop_reason = Some(reason.to_owned());
                }
                self.blocks.stop_all()
            }
            Some("message_stop") => {
                self.stopped = true;
                self.blocks.stop_all()
            }
            Some("error") => return Err(Fault::Reported(field("error").clone())),
            // A ping, or an event of a newer version of the API.
            Some(_) => Vec::new(),
            None => match reported_error(event, false) {
                Some(error) => return Err(Fault::Reported(error.clone())),
                // Servers in between describe their errors so.
                None if text(event, "message").or(text(event, "detail")).is_some() => {
                    return Err(Fault::Foreign);
                }
                None => Vec::new(),
            },
        })
    }

    /// Each event counts the whole message so far, and may leave out some of the counts.
    fn count(&mut self, usage: Option<&Value>) {
        let Some(usage @ Value::Object(_)) = usage else { return };
        let known = self.counts.get_or_insert_default();
        known.uncached = known.uncached.max(count(usage, "input_tokens"));
        known.cache_write = known.cache_write.max(count(usage, "cache_creation_input_tokens"));
        known.cached = known.cached.max(count(usage, "cache_read_input_tokens"));
        known.written = known.written.max(count(usage, "output_tokens"));
    }

    fn finish_reason(&self) -> Result<FinishReason, &'static str> {
        let has_calls = self.blocks.started() > 0;
        let reason = match self.stop_reason.as_deref() {
            Some(reason) if self.stopped => reason,
            // Some servers send no reason. Then the last two events are the only sign that the
            // message is complete.
            None if self.stopped && self.is_ending && (has_calls || self.has_text) => "end_turn",
            _ => return Err("the answer ended before it was complete"),
        };
        if self.blocks.has_unnamed() {
            return Err("the answer contains a tool call without a name");
        }
        match reason {
            "max_tokens" | "model_context_window_exceeded" => Ok(FinishReason::Length),
            "refusal" => Ok(FinishReason::Refusal),
            _ if has_calls => Ok(FinishReason::ToolCalls),
            "tool_use" => Err("the answer ended with a tool call, but contains none"),
            "pause_turn" => Ok(FinishReason::Pause),
            // `end_turn`, `stop_sequence`, and any newer reason.
            _ => Ok(FinishReason::Stop),
        }
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

impl Dialect for ResponseReader {
    fn take(&mut self, data: &str) -> Result<Taken, Fault> {
        let event = json::parse_event(data).map_err(|_| Fault::Foreign)?;
        let pieces = self.event(&event)?;
        self.has_text |= pieces.iter().any(|piece| matches!(piece, Piece::Text(_)));
        self.answer_characters += pieces.iter().map(Piece::characters).sum::<usize>();
        Ok(if self.stopped { Taken::End(pieces) } else { Taken::Pieces(pieces) })
    }

    fn is_complete(&self) -> bool {
        self.stopped
    }

    fn opaque(&mut self) -> Option<Value> {
        self.blocks.opaque()
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
