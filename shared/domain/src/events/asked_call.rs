//! A form, as events show it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Time,
    approvals::Approval,
    ids::{CallId, MessageId, RunId},
    messages::{Message, Part, ResolvedBy, ToolPart},
    steps::CallStatus,
    stored,
    tools::AnswerBy,
};

/// A form: a tool call that people or agents answer. In a frame that would be too long, `input` and
/// `result_schema` are null; the message holds them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AskedCall {
    /// The run that waits for the answer.
    pub run_id: RunId,
    /// The tool call.
    pub call_id: CallId,
    /// The message that shows the form.
    pub message_id: MessageId,
    /// The tool's name.
    pub name: String,
    /// The call's input.
    pub input: Value,
    /// `form`, `buttons`, or the name of a component of the client.
    pub ui: String,
    /// JSON Schema of the answer.
    pub result_schema: Option<Value>,
    /// Who may answer.
    #[serde(default, deserialize_with = "stored::read_if_known")]
    pub answer_by: Option<AnswerBy>,
    /// When the form expires.
    pub expires_at: Option<Time>,
    /// Who answered.
    #[serde(default, deserialize_with = "stored::read_if_known")]
    pub resolved_by: Option<ResolvedBy>,
    /// The call's status.
    pub status: CallStatus,
    /// The approvals of a call that people decide; absent for a form.
    #[serde(default, deserialize_with = "stored::read_if_known")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
}

impl AskedCall {
    /// The form that a card shows. `None` if the card shows no form.
    pub fn of(card: &Message) -> Option<Self> {
        let Part::Tool(tool) = card.parts.first()?.clone() else { return None };
        let ToolPart {
            call_id,
            name,
            input,
            ui,
            result_schema,
            answer_by,
            resolved_by,
            expires_at,
            status,
            approval,
            ..
        } = *tool;
        Some(Self {
            run_id: card.run_id?,
            call_id,
            message_id: card.id,
            name,
            input,
            ui: ui?,
            result_schema,
            answer_by,
            expires_at,
            resolved_by,
            status,
            approval,
        })
    }
}
