//! The chunks of the AI SDK's UI message stream (version 1) that we send.

use serde::Serialize;
use serde_json::Value;
use smartspace_domain::{
    attachments::FilePart,
    ids::{CallId, MessageId, RunId, StreamId},
    messages::Sender,
    runs::RunStatus,
};

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub(super) enum Chunk {
    Start {
        message_id: String,
    },
    /// Starts the response to the message so far. Without it, a client that sends the answers to
    /// forms by itself would send them again and again.
    StartStep,
    DataRun {
        id: RunId,
        data: RunData,
    },
    DataMessage {
        id: String,
        data: MessageData,
    },
    DataDropped {
        id: StreamId,
        data: Dropped,
    },
    TextStart {
        id: String,
    },
    TextDelta {
        id: String,
        delta: String,
    },
    TextEnd {
        id: String,
    },
    ToolInputAvailable {
        tool_call_id: CallId,
        tool_name: String,
        input: Value,
        /// The client does not know our tools.
        dynamic: bool,
        /// Whether we execute the tool. A form is executed by the client, which answers it.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        provider_executed: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_metadata: Option<Value>,
    },
    ToolApprovalRequest {
        approval_id: CallId,
        tool_call_id: CallId,
    },
    ToolOutputAvailable {
        tool_call_id: CallId,
        output: Value,
        /// Version 5 of the SDK finds the call only with this.
        dynamic: bool,
    },
    ToolOutputError {
        tool_call_id: CallId,
        error_text: String,
        dynamic: bool,
    },
    /// A file of an agent. Its address is valid for 15 minutes.
    File {
        url: String,
        media_type: String,
        provider_metadata: Value,
    },
    FinishStep,
    Error {
        error_text: String,
    },
    Finish {
        #[serde(skip_serializing_if = "Option::is_none")]
        message_metadata: Option<Value>,
    },
}

/// The state of an agent's run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunData {
    pub(super) run_id: RunId,
    pub(super) agent: String,
    pub(super) status: RunStatus,
}

/// A message of the space. The text of an agent's message is a text part with the same id.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MessageData {
    pub(super) id: String,
    pub(super) sender: Sender,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message_id: Option<MessageId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seq: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) files: Vec<FilePart>,
}

/// A text that will not be posted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Dropped {
    pub(super) id: StreamId,
}
