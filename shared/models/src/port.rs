//! The model port. A model gets one request and answers with a stream of small pieces.
//!
//! The providers and the fakes of the tests implement [`Model`]; a run calls it.

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

use crate::calls;

/// How long one answer may take in total, unless the configuration says otherwise.
pub(crate) const TOTAL_LIMIT: Duration = Duration::from_mins(10);

/// One request to a model: a whole conversation, and the tools that the model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The model and its settings.
    pub model: ModelConfig,
    /// The system message, in parts. Parts that change less often come first.
    pub system: Vec<String>,
    /// The conversation so far. It is never empty, and every call in it has a result.
    pub messages: Vec<Message>,
    /// Sorted by name. The tools of an agent are the same bytes in every space, so that a provider
    /// finds them in its cache.
    pub tools: std::sync::Arc<[ToolSpec]>,
    /// Requests with the same key share a prefix. At most 64 characters (`OpenAI`'s
    /// `prompt_cache_key`).
    pub cache_key: String,
    /// The ends of the prefixes that later requests will repeat, for providers that cache only at
    /// marks. In order, at most two. The system message is always marked in addition.
    pub cache_points: Vec<CachePoint>,
}

/// A position in a conversation: the end of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachePoint {
    /// Index of the message.
    pub message: usize,
    /// Index of the block, or of the tool result, in that message.
    pub block: usize,
}

impl CachePoint {
    /// The end of a conversation. Returns `None` if the conversation is empty.
    pub fn end_of(messages: &[Message]) -> Option<Self> {
        let blocks = match messages.last()? {
            Message::User { blocks } => blocks.len(),
            Message::ToolResults { results } => results.len(),
            Message::Assistant { .. } | Message::System { .. } => 1,
        };
        Some(Self { message: messages.len() - 1, block: blocks.saturating_sub(1) })
    }
}

/// A message of the conversation. Runs store it in this form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// Text for the model, in blocks.
    User {
        /// The blocks, in order.
        blocks: Vec<String>,
    },
    /// An earlier answer of the model.
    Assistant {
        /// Its text, which may be empty.
        text: String,
        /// Its tool calls.
        calls: Vec<ToolCall>,
    },
    /// One result for each call of the message before, in the order of the calls.
    ToolResults {
        /// The results.
        results: Vec<ToolResult>,
    },
    /// A notice of the system between two steps.
    System {
        /// The text.
        text: String,
    },
}

/// A tool call of the model, with the id that Smartspace gave it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// Smartspace's own id. Later requests send it in place of the provider's id.
    pub call_id: CallId,
    /// Name of the tool.
    pub name: String,
    /// The input as the model wrote it. It may be invalid JSON.
    pub input: String,
}

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// Id of the call.
    pub call_id: CallId,
    /// Output of the tool.
    pub output: Value,
}

/// The description of a tool for a model.
#[derive(Clone, Debug)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What the tool does, for the model.
    pub description: String,
    /// JSON Schema of its input. It is serialized once, because every request contains it.
    input_schema: Box<RawValue>,
}

impl ToolSpec {
    /// A tool whose input has this JSON Schema.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: &Value,
    ) -> Self {
        let input_schema = to_raw_value(&calls::schema(input_schema)).unwrap_or_default();
        Self { name: name.into(), description: description.into(), input_schema }
    }

    /// JSON Schema of its input: an object with properties.
    pub fn input_schema(&self) -> &RawValue {
        &self.input_schema
    }
}

impl PartialEq for ToolSpec {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.description == other.description
            && self.input_schema.get() == other.input_schema.get()
    }
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// More of the model's text. An empty text is a sign of life.
    Text(String),
    /// The model starts a tool call. Indices start at 0 and have no gaps.
    CallStarted {
        /// Index of the call.
        index: u32,
        /// Name of the tool.
        name: String,
    },
    /// More of a call's input, as raw JSON text.
    CallInput {
        /// Index of the call.
        index: u32,
        /// The next part of the JSON text.
        json: String,
    },
    /// The answer is complete. This is always the last piece: a stream without it is broken.
    Finished {
        /// Why the answer ended.
        reason: FinishReason,
        /// The tokens that the request used.
        usage: Usage,
    },
}

impl Piece {
    /// The number of characters that the model wrote for this piece.
    pub(crate) fn characters(&self) -> usize {
        match self {
            Self::Text(text)
            | Self::CallStarted { name: text, .. }
            | Self::CallInput { json: text, .. } => text.chars().count(),
            Self::Finished { .. } => 0,
        }
    }
}

/// The stream of an answer while the model writes it.
pub type Pieces = Pin<Box<dyn Stream<Item = Result<Piece, ModelError>> + Send>>;

/// A provider of models.
#[async_trait]
pub trait Model: Send + Sync {
    /// Sends the request once and never retries it.
    ///
    /// # Errors
    /// Why there is no answer at all. An answer that fails later ends its stream with an error.
    async fn ask(&self, request: &Request) -> Result<Pieces, ModelError>;

    /// How long one answer may take. A worker with less time left must not ask.
    fn longest_answer(&self) -> Duration {
        TOTAL_LIMIT
    }
}

/// Why a model did not answer, or did not finish its answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// The kind of failure, which decides between a retry and a fallback.
    pub code: FailureCode,
    /// What went wrong, for people. It contains no secret.
    pub message: String,
    /// How long the provider asks us to wait before a retry.
    pub retry_after: Option<Duration>,
}

impl ModelError {
    /// An error without a `retry_after`.
    pub fn new(code: FailureCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), retry_after: None }
    }

    /// Whether the same request may succeed later.
    pub fn is_transient(&self) -> bool {
        matches!(
            self.code,
            FailureCode::RateLimited | FailureCode::Overloaded | FailureCode::BrokenStream
        )
    }
}
