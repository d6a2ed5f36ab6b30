//! What a model is to a run: asked once, it answers as a stream of small pieces.

use std::{pin::Pin, time::Duration};

use async_trait::async_trait;
use futures::Stream;
use serde::{Deserialize, Serialize};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};
use smartspace_domain::{
    agents::ModelConfig,
    ids::CallId,
    runs::{FailureCode, Usage},
    steps::FinishReason,
};

use crate::{calls, limits::Limits};

/// One question to a model: a whole conversation, and the tools it may call.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Which model, and how it is asked.
    pub model: ModelConfig,
    /// The system message, in parts; the first is the least volatile.
    pub system: Vec<String>,
    /// The conversation so far; never empty, and never with a call that has no result.
    pub messages: Vec<Message>,
    /// Sorted by name, the same bytes in every space.
    pub tools: std::sync::Arc<[ToolSpec]>,
    /// Requests with the same key share a prefix (`OpenAI`: `prompt_cache_key`, at most 64 characters).
    pub cache_key: String,
    /// Up to where this text will come again, besides the system message: for providers that cache only what is marked. In order, at most two.
    pub cache_points: Vec<CachePoint>,
}

/// A place in a conversation: the end of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachePoint {
    /// Which message.
    pub message: usize,
    /// Which of its blocks, or results.
    pub block: usize,
}

impl CachePoint {
    /// The end of a conversation; none where there is none.
    pub fn end_of(messages: &[Message]) -> Option<Self> {
        let blocks = match messages.last()? {
            Message::User { blocks } => blocks.len(),
            Message::ToolResults { results } => results.len(),
            Message::Assistant { .. } | Message::System { .. } => 1,
        };
        Some(Self { message: messages.len() - 1, block: blocks.saturating_sub(1) })
    }
}

/// A message of the conversation. Also the form in which a run keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// Text for the model, in blocks.
    User {
        /// The blocks, in order.
        blocks: Vec<String>,
    },
    /// What the model answered before.
    Assistant {
        /// What it thought aloud; may be empty.
        text: String,
        /// What it called.
        calls: Vec<ToolCall>,
    },
    /// What came of its calls, each once, in their order.
    ToolResults {
        /// The results.
        results: Vec<ToolResult>,
    },
    /// What the system says between two steps.
    System {
        /// The text.
        text: String,
    },
}

/// A call of the model, with the id that we gave it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// Our id; providers get it back as theirs.
    pub call_id: CallId,
    /// The tool.
    pub name: String,
    /// The input as the model wrote it: JSON, or what it took for it.
    pub input: String,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// Of which call.
    pub call_id: CallId,
    /// What.
    pub output: Value,
}

/// A tool, as a model is told of it.
#[derive(Clone, Debug)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its input, written once: it goes along with every question.
    input_schema: Box<RawValue>,
}

impl ToolSpec {
    /// A tool whose input must look like this.
    pub fn new(name: impl Into<String>, description: impl Into<String>, input_schema: &Value) -> Self {
        let input_schema = to_raw_value(&calls::schema(input_schema)).unwrap_or_default();
        Self { name: name.into(), description: description.into(), input_schema }
    }

    /// JSON Schema of its input: of an object, with properties.
    pub fn input_schema(&self) -> &RawValue {
        &self.input_schema
    }
}

impl PartialEq for ToolSpec {
    fn eq(&self, other: &Self) -> bool {
        let whole = |spec: &Self| (spec.name.clone(), spec.description.clone(), spec.input_schema.get().to_owned());
        whole(self) == whole(other)
    }
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// More of what the model thinks aloud.
    Text(String),
    /// It begins its `index`-th call, from 0; indices come in order, without gaps.
    CallStarted {
        /// Which call.
        index: u32,
        /// The tool.
        name: String,
    },
    /// More of a call's input, as raw JSON text.
    CallInput {
        /// Which call.
        index: u32,
        /// The piece.
        json: String,
    },
    /// The answer is complete. Always the last piece; a stream without it is broken.
    Finished {
        /// Why.
        reason: FinishReason,
        /// What it used.
        usage: Usage,
    },
}

impl Piece {
    /// How many characters the model wrote for it.
    pub(crate) fn characters(&self) -> usize {
        match self {
            Self::Text(text) | Self::CallStarted { name: text, .. } | Self::CallInput { json: text, .. } => text.chars().count(),
            Self::Finished { .. } => 0,
        }
    }
}

/// An answer while it is written.
pub type Pieces = Pin<Box<dyn Stream<Item = Result<Piece, ModelError>> + Send>>;

/// A provider of models.
#[async_trait]
pub trait Model: Send + Sync {
    /// Asks once. Errors come before the first piece (here) or in the middle (in the stream); nothing is repeated.
    async fn ask(&self, request: &Request) -> Result<Pieces, ModelError>;

    /// How long one answer may take: who has less time left does not ask.
    fn longest_answer(&self) -> Duration {
        Limits::default().total
    }
}

/// Why a model did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// Sorted by what can be done about it.
    pub code: FailureCode,
    /// A text that helps, without a secret.
    pub message: String,
    /// How long the provider wants us to wait.
    pub retry_after: Option<Duration>,
}

impl ModelError {
    /// An error without a wish to wait.
    pub fn new(code: FailureCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), retry_after: None }
    }

    /// Whether the same question may be answered later.
    pub fn is_passing(&self) -> bool {
        matches!(self.code, FailureCode::RateLimited | FailureCode::Overloaded | FailureCode::BrokenStream)
    }
}
