//! The steps of a run: what a model was asked, what it answered, and what its calls gave.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{Time, ids::CallId, runs::Usage};

/// One model answer and its calls, as the API shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// From 0.
    pub index: u32,
    /// The run's attempt that made it.
    pub attempt: u32,
    /// `provider/model`.
    pub model: String,
    /// What was sent: whole in step 0, later only what was added.
    pub prompt: Prompt,
    /// What the system said before it.
    pub system_messages: Vec<SystemMessage>,
    /// What the model thought aloud.
    pub text: String,
    /// What it called.
    pub calls: Vec<Call>,
    /// Why it stopped.
    pub finish_reason: FinishReason,
    /// What it used.
    pub usage: Usage,
    /// When it was asked.
    pub started_at: Time,
    /// When its first text or call came.
    #[schema(required)]
    pub first_token_at: Option<Time>,
    /// When its answer was complete.
    pub finished_at: Time,
}

/// What was sent to a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Prompt {
    /// Texts of the system message.
    pub system: Vec<String>,
    /// The messages, as JSON.
    pub messages: Vec<Value>,
}

/// What the system said between two steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SystemMessage {
    /// Which watcher.
    pub watcher: String,
    /// What it said.
    pub text: String,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// Its id.
    pub call_id: CallId,
    /// The tool.
    pub name: String,
    /// What it was called with; a text where the model wrote broken JSON.
    pub input: Value,
    /// What came of it.
    #[schema(required)]
    pub output: Option<Value>,
    /// How it stands.
    pub status: CallStatus,
    /// When it began.
    #[schema(required)]
    pub started_at: Option<Time>,
    /// When it ended.
    #[schema(required)]
    pub finished_at: Option<Time>,
}

/// How a call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum CallStatus {
    /// Not done yet.
    Pending,
    /// Done.
    Completed,
    /// It gave an error.
    Failed,
    /// Nobody answered in time.
    Expired,
    /// Its run was ended.
    Canceled,
    /// It had begun when its process died.
    Unknown,
}

impl CallStatus {
    /// As the API and prompts write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Expired => "expired",
            Self::Canceled => "canceled",
            Self::Unknown => "unknown",
        }
    }
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// To have its calls run.
    ToolCalls,
    /// It had no more to say.
    Stop,
    /// Its answer was as long as it may be.
    Length,
    /// Something went wrong.
    Error,
}
