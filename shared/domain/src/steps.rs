//! The steps of a run: what a model received, what it answered, and the results of its calls.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{Time, ids::CallId, usage::Usage};

/// One model answer with its tool calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// The position of the step in its run, from 0.
    pub index: u32,
    /// The run's `attempt` that made the step.
    pub attempt: u32,
    /// The model that answered, as `provider/model`.
    pub model: String,
    /// What the model received: the whole prompt in step 0, later only what was added.
    pub prompt: Prompt,
    /// What watchers added before the step.
    pub system_messages: Vec<SystemMessage>,
    /// What the model wrote besides its calls. It is private and posted nowhere.
    pub text: String,
    /// The tool calls.
    pub calls: Vec<Call>,
    /// Why the model stopped.
    pub finish_reason: FinishReason,
    /// The tokens and the cost of the answer.
    pub usage: Usage,
    /// When the model was called.
    pub started_at: Time,
    /// When the first part of the answer arrived.
    #[schema(required)]
    pub first_token_at: Option<Time>,
    /// When the answer was complete.
    pub finished_at: Time,
}

/// What a model received.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Prompt {
    /// The texts of the system message.
    pub system: Vec<String>,
    /// The messages of the conversation.
    pub messages: Vec<Value>,
}

/// A message for the model that a watcher added between two steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SystemMessage {
    /// The watcher's name.
    pub watcher: String,
    /// The message.
    pub text: String,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// The call's id.
    pub call_id: CallId,
    /// The tool's name.
    pub name: String,
    /// The call's input; a text if the model did not write valid JSON.
    pub input: Value,
    /// The call's result; null while there is none.
    #[schema(required)]
    pub output: Option<Value>,
    /// The call's status.
    pub status: CallStatus,
    /// When the call started.
    #[schema(required)]
    pub started_at: Option<Time>,
    /// When the call ended.
    #[schema(required)]
    pub finished_at: Option<Time>,
}

/// The status of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum CallStatus {
    /// It has no result yet.
    Pending,
    /// It has a result. A declined form is completed too.
    Completed,
    /// The result is an error.
    Failed,
    /// Nobody answered the form in time.
    Expired,
    /// The run ended first.
    Canceled,
    /// The process died during the call, so its outcome is unknown.
    Unknown,
}

impl CallStatus {
    /// The status as the API and prompts write it.
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
    /// It waits for the results of its calls.
    ToolCalls,
    /// Its answer was complete.
    Stop,
    /// Its answer reached `maxOutputTokens`.
    Length,
    /// No model answered, or the answer failed.
    Error,
}
