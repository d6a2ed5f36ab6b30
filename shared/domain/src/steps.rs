//! The steps of a run: what a model received, what it answered, and the results of its calls.

mod calls;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

pub use self::calls::{Call, CallStatus};
use crate::{Time, stored::tolerant, usage::Usage};

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
    /// How many of the run's oldest tool results this question cut, because most of the model's
    /// window was used. Absent if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_results: Option<u32>,
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

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", remote = "Self")]
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

tolerant!(FinishReason);
