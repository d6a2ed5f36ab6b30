//! The chunks of a chat completion.

use serde::Deserialize;
use smartspace_domain::{json::Plain, runs::Usage};

/// One chunk of the stream. A missing field and `null` mean the same.
#[derive(Debug, Deserialize)]
pub(super) struct Chunk {
    pub(super) choices: Option<Vec<Choice>>,
    pub(super) usage: Option<Counts>,
    pub(super) error: Option<Plain>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Choice {
    #[serde(default)]
    pub(super) index: u32,
    pub(super) delta: Option<Delta>,
    pub(super) finish_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Delta {
    pub(super) content: Option<String>,
    pub(super) refusal: Option<String>,
    pub(super) tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct CallDelta {
    pub(super) index: Option<u64>,
    pub(super) id: Option<String>,
    pub(super) function: Option<FunctionDelta>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct FunctionDelta {
    pub(super) name: Option<String>,
    pub(super) arguments: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Counts {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<Details>,
}

#[derive(Debug, Deserialize)]
struct Details {
    cached_tokens: Option<u64>,
}

impl Counts {
    pub(super) fn usage(self) -> Usage {
        let cached_tokens = self.prompt_tokens_details.and_then(|details| details.cached_tokens);
        Usage {
            input_tokens: self.prompt_tokens.unwrap_or(0),
            cached_tokens: cached_tokens.unwrap_or(0),
            output_tokens: self.completion_tokens.unwrap_or(0),
            ..Usage::default()
        }
    }
}
