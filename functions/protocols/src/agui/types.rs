//! The events of AG-UI 1.0 that we send.
//!
//! Clients refuse null in optional fields, so absent values are left out.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};
use smartspace_client::{LinkedFile, files_of};
use smartspace_domain::{
    entities::EntityType,
    ids::{CallId, RunId},
    messages::{Message, Sender},
};

use crate::turn::{card_of, id_for_clients};

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
pub(super) enum Event {
    RunStarted {
        thread_id: String,
        run_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        protocol_version: Option<&'static str>,
    },
    RunFinished {
        thread_id: String,
        run_id: String,
        outcome: Outcome,
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Metadata>,
    },
    RunError {
        message: String,
        code: String,
    },
    StateSnapshot {
        snapshot: Value,
    },
    MessagesSnapshot {
        messages: Vec<AgUiMessage>,
    },
    SubagentStarted {
        subagent_run_id: RunId,
        name: String,
    },
    SubagentFinished {
        subagent_run_id: RunId,
        outcome: SubagentOutcome,
    },
    SubagentError {
        subagent_run_id: RunId,
        message: String,
        code: String,
    },
    TextMessageStart {
        message_id: String,
        role: Role,
        name: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<RunId>,
    },
    TextMessageContent {
        message_id: String,
        delta: String,
    },
    TextMessageEnd {
        message_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Metadata>,
    },
    ToolCallStart {
        tool_call_id: CallId,
        tool_call_name: String,
        parent_message_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<RunId>,
    },
    ToolCallArgs {
        tool_call_id: CallId,
        delta: String,
    },
    ToolCallEnd {
        tool_call_id: CallId,
    },
    /// Data for which the protocol has no event.
    Custom {
        name: &'static str,
        value: Value,
        #[serde(skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<RunId>,
    },
    ToolCallResult {
        message_id: String,
        tool_call_id: CallId,
        content: String,
        role: Role,
        #[serde(skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<RunId>,
    },
}

/// The outcome of a run of the protocol, which is a turn of ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum Outcome {
    Success,
    Interrupt { interrupts: Vec<Interrupt> },
}

/// The outcome of an agent's run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub(super) enum SubagentOutcome {
    Success,
    Suspended {
        #[serde(skip_serializing_if = "Vec::is_empty")]
        interrupt_ids: Vec<CallId>,
    },
}

/// A form that waits for the client's answer, or a call that waits for its decision.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Interrupt {
    pub(super) id: CallId,
    pub(super) reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    pub(super) tool_call_id: CallId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_schema: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) expires_at: Option<String>,
    pub(super) subagent_run_id: RunId,
    pub(super) metadata: Metadata,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Role {
    User,
    Assistant,
    Tool,
}

/// Data for which the protocol has no field, under our own name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Metadata {
    pub(super) smartspace: Value,
}

/// A message of the conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgUiMessage {
    pub(super) id: String,
    pub(super) role: Role,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_calls: Vec<ToolCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_call_id: Option<CallId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) subagent_run_id: Option<RunId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) metadata: Option<Metadata>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct ToolCall {
    pub(super) id: CallId,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) function: BTreeMap<&'static str, String>,
}

impl AgUiMessage {
    /// A message that is being written.
    pub(super) fn live(id: String, sender: &Sender, run: RunId) -> Self {
        Self {
            id,
            role: role_of(sender),
            content: Some(String::new()),
            name: Some(sender.marked_name()),
            tool_calls: Vec::new(),
            tool_call_id: None,
            subagent_run_id: Some(run),
            metadata: None,
        }
    }

    pub(super) fn posted(message: &Message) -> Self {
        Self {
            id: id_for_clients(message),
            role: role_of(&message.sender),
            content: Some(message.text().to_owned()),
            name: Some(message.sender.marked_name()),
            tool_calls: Vec::new(),
            tool_call_id: None,
            subagent_run_id: message.run_id,
            metadata: Some(metadata_of(message)),
        }
    }
}

pub(super) fn role_of(sender: &Sender) -> Role {
    match sender.kind {
        EntityType::Human => Role::User,
        EntityType::Agent => Role::Assistant,
    }
}

/// The id of the message that has the result of a call.
pub(super) fn result_id(call: CallId) -> String {
    format!("{call}:result")
}

/// The files of a message with their addresses, which are valid for 15 minutes.
pub(super) fn files_event(message: &Message, files: &[LinkedFile]) -> Event {
    let files = files.iter().map(|LinkedFile { part, url }| {
        let mut shown = json!(part);
        shown["url"] = json!(url);
        shown
    });
    let mut value = json!({
        "messageId": id_for_clients(message),
        "files": files.collect::<Vec<_>>(),
    });
    if let Some(card) = card_of(message) {
        value["toolCallId"] = json!(card.call_id);
    }
    Event::Custom { name: "smartspace.files", value, subagent_run_id: message.run_id }
}

/// The metadata of a message.
pub(super) fn metadata_of(message: &Message) -> Metadata {
    let mut smartspace = json!({
        "messageId": message.id,
        "seq": message.seq,
        "createdAt": message.created_at,
        "sender": message.sender,
    });
    let files: Vec<_> = files_of(message).collect();
    if !files.is_empty() {
        smartspace["files"] = json!(files);
    }
    Metadata { smartspace }
}
