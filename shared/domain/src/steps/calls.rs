//! The tool calls of a step.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    Time,
    attachments::FilePart,
    ids::{CallId, SpaceId},
    stored::tolerant,
};

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
    /// The pictures that the call has returned, or the files of its answer. Absent if none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ReturnedFile>,
    /// The call's status.
    pub status: CallStatus,
    /// When the call started.
    #[schema(required)]
    pub started_at: Option<Time>,
    /// When the call ended.
    #[schema(required)]
    pub finished_at: Option<Time>,
}

/// A picture that a call has returned, or a file of its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReturnedFile {
    /// The space that keeps it.
    pub space_id: SpaceId,
    /// The picture.
    #[serde(flatten)]
    pub file: FilePart,
}

/// The status of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase", remote = "Self")]
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

tolerant!(CallStatus);

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
