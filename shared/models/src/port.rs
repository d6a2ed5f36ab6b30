//! The model port. A model gets one request and answers with a stream of small pieces.
//!
//! The providers and the fakes of the tests implement [`Model`]; a run calls it. This folder is the
//! ground of the crate: it imports no other module.

pub(crate) mod estimate;
pub(crate) mod files;
pub(crate) mod images;
pub(crate) mod notices;
mod request;
mod script_cause;
pub(crate) mod text;

use std::{pin::Pin, time::Duration};

use async_trait::async_trait;
use futures::Stream;
use serde_json::Value;
use smartspace_domain::{
    agents::ModelConfig,
    runs::{FailureCode, Usage},
    steps::FinishReason,
};

pub use self::{
    images::{DRAWING_LIMIT, Drawing, ImageRequest},
    request::{
        CachePoint, FileRef, ForcedTool, Message, ModelData, Request, ToolCall, ToolResult,
        ToolSpec,
    },
    script_cause::ScriptCause,
};

/// How long one answer may take in total, unless the configuration says otherwise.
pub(crate) const TOTAL_LIMIT: Duration = Duration::from_mins(10);

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
    /// The provider's own id of a call, which later requests of the run name. It follows the start
    /// of the call. Absent if the provider gives none.
    CallId {
        /// Index of the call.
        index: u32,
        /// The id as the provider wrote it.
        id: String,
    },
    /// What only the provider understands, such as its thinking with a signature. The next requests
    /// of the run send it back unchanged, to the same model. At most once, right before the end.
    Opaque(Value),
    /// What the provider says of the answer itself. At most once, right before its end.
    Origin {
        /// The provider's id of the answer.
        id: Option<String>,
        /// The model that answered, as the provider names it.
        model: Option<String>,
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
            Self::CallId { .. } | Self::Opaque(_) | Self::Origin { .. } | Self::Finished { .. } => {
                0
            }
        }
    }
}

/// The stream of an answer while the model writes it.
pub type Pieces = Pin<Box<dyn Stream<Item = Result<Piece, ModelError>> + Send>>;

#[async_trait]
pub trait Model: Send + Sync {
    /// Sends the request once and never retries it.
    ///
    /// # Errors
    /// Why there is no answer at all. An answer that fails later ends its stream with an error.
    async fn ask(&self, request: &Request) -> Result<Pieces, ModelError>;

    /// Draws a picture, once. Never retries.
    ///
    /// # Errors
    /// Why there is no picture.
    async fn draw(&self, request: &ImageRequest) -> Result<Drawing, ModelError> {
        let text = format!("the provider {} draws no pictures", request.provider);
        Err(ModelError::new(FailureCode::NotConfigured, text))
    }

    /// The model's context window in tokens, if its provider has named a smaller one than the
    /// configuration has.
    fn window(&self, _: &ModelConfig) -> Option<u32> {
        None
    }

    /// Whether a request would wait now, because its provider has all the answers under way that
    /// it may have.
    fn must_wait(&self, _: &ModelConfig) -> bool {
        false
    }

    /// Whether the model is on a server of the deployment's own.
    fn is_on_own_server(&self, _: &ModelConfig) -> bool {
        false
    }

    /// The host of the server that the provider of a model has. `None` if it has no base URL.
    fn server_of(&self, _: &ModelConfig) -> Option<String> {
        None
    }

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
    /// A description of the error, for people. It contains no secret.
    pub message: String,
    /// How long the provider asks us to wait before a retry.
    pub retry_after: Option<Duration>,
    /// The model's context window in tokens, if the provider names it in a refusal.
    pub window: Option<u32>,
    /// The server is the deployment's own.
    pub is_of_own_server: bool,
    /// The server was not reached, or says that it does not serve now: it may be loading a model or
    /// restarting.
    pub is_unavailable: bool,
}

impl ModelError {
    /// An error without a `retry_after`.
    pub fn new(code: FailureCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            retry_after: None,
            window: None,
            is_of_own_server: false,
            is_unavailable: false,
        }
    }

    /// The error of an answer in which the model refuses. No retry helps, but another model may
    /// answer.
    pub fn refused() -> Self {
        Self::new(FailureCode::Refused, "the model refused to answer")
    }

    /// Whether the provider has refused the request, so that there is nothing to pay. If an answer
    /// broke off or did not come in time, the provider may have written one.
    pub fn is_refusal(&self) -> bool {
        self.code != FailureCode::BrokenStream
    }

    /// Whether the same request may succeed later.
    pub fn is_transient(&self) -> bool {
        matches!(
            self.code,
            FailureCode::RateLimited | FailureCode::Overloaded | FailureCode::BrokenStream
        )
    }
}
