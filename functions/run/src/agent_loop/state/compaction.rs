//! Makes room in the conversation of a run that has filled most of its model's window: the oldest
//! results of its own calls are cut. Which ones is stored with the step, so that every worker sends
//! the same.

use std::collections::BTreeMap;

use serde_json::Value;
use smartspace_domain::ids::CallId;
use smartspace_models::port::Message;

use crate::{agent_loop::state::State, prompt::quoted::Thousands, tools::toolbox::Toolbox};

/// The share of the window from which on results are cut, in percent.
const FULL: u64 = 85;
/// The share to which they are cut. This is well below [`FULL`], because a cut changes the
/// beginning of the conversation, which a provider then can't take from its cache.
const ROOMY: u64 = 50;
/// Results of so many bytes or less are not cut.
const SHORT: usize = 400;

impl State {
    /// Cuts the oldest results if the conversation takes most of a `window` of so many tokens.
    /// Those of the last answer stay, because the model has not read them yet.
    pub(crate) fn compact(&mut self, window: u64, tools: &Toolbox) {
        if self.tokens().is_none_or(|tokens| tokens * 100 < window * FULL) {
            return;
        }
        while self.tokens().is_some_and(|tokens| tokens * 100 > window * ROOMY) {
            if self.cut_results >= self.read_results() || !self.cut_next(tools) {
                return;
            }
        }
    }

    /// Cuts half of the results that are not cut yet, since the model says that the conversation is
    /// too long. Returns false if there is nothing to cut.
    pub(crate) fn compact_more(&mut self, tools: &Toolbox) -> bool {
        let left = self.results() - self.cut_results;
        let half = left.div_ceil(2);
        (0..half).fold(false, |cut, _| self.cut_next(tools) || cut)
    }

    /// Cuts the results that an earlier worker cut before it asked for a step.
    pub(crate) fn cut_up_to(&mut self, results: u32, tools: &Toolbox) {
        while self.cut_results < results && self.cut_next(tools) {}
    }

    /// Cuts the oldest result that is not cut yet. The newest one stays as it is. Returns false if
    /// there is none to cut.
    fn cut_next(&mut self, tools: &Toolbox) -> bool {
        if self.cut_results + 1 >= self.results() {
            return false;
        }
        let index = self.cut_results as usize;
        self.cut_results += 1;
        let answered = self.answered();
        let names: BTreeMap<CallId, String> = self
            .messages
            .iter()
            .filter_map(|message| match message {
                Message::Assistant { calls, .. } => Some(calls),
                _ => None,
            })
            .flatten()
            .map(|call| (call.call_id, call.name.clone()))
            .collect();
        let mut results = self.messages.iter_mut().enumerate().flat_map(|(at, message)| {
            let results = match message {
                Message::ToolResults { results } => results.as_mut_slice(),
                _ => &mut [],
            };
            results.iter_mut().map(move |result| (at, result))
        });
        if let Some((at, result)) = results.nth(index) {
            let text = result.output.to_string();
            if text.len() > SHORT {
                // A call that changes something must not be made again for its result alone.
                let name = names.get(&result.call_id).map_or("", String::as_str);
                let hint = if tools.is_read_only(name) { "call again" } else { "cut" };
                let cut = format!("… ({} bytes; {hint})", Thousands(text.len() as u64));
                let saved = text.chars().count().saturating_sub(cut.chars().count());
                result.output = Value::String(cut);
                // What was added after the last answer is counted from the conversation itself.
                if at < answered {
                    self.saved_chars += saved as u64;
                }
            }
        }
        true
    }

    /// The index of the last answer in the conversation.
    fn answered(&self) -> usize {
        let is_answer = |message: &Message| matches!(message, Message::Assistant { .. });
        self.messages.iter().rposition(is_answer).unwrap_or(0)
    }

    /// The number of results in the conversation.
    fn results(&self) -> u32 {
        count_results(&self.messages)
    }

    /// The number of results that the model has read.
    fn read_results(&self) -> u32 {
        count_results(&self.messages[..self.answered()])
    }
}

fn count_results(messages: &[Message]) -> u32 {
    let count = |message: &Message| match message {
        Message::ToolResults { results } => results.len() as u32,
        _ => 0,
    };
    messages.iter().map(count).sum()
}
