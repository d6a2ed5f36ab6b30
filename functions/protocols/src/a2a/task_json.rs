//! Writes runs and messages as the tasks, artifacts and messages of A2A.

use serde_json::{Value, json};
use smartspace_client::LinkedFile;
use smartspace_domain::{
    events::AskedCall,
    ids::{RunId, SpaceId},
    messages::Message,
    runs::RunStatus,
};

use crate::turn::{card_of, id_for_clients, question_of};

/// The state of a task whose run has this status.
pub(super) fn state_of(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Queued => "TASK_STATE_SUBMITTED",
        RunStatus::Running => "TASK_STATE_WORKING",
        RunStatus::WaitingTool => "TASK_STATE_INPUT_REQUIRED",
        RunStatus::Completed => "TASK_STATE_COMPLETED",
        RunStatus::Failed => "TASK_STATE_FAILED",
        RunStatus::Canceled => "TASK_STATE_CANCELED",
    }
}

/// The text of a message and its files as an artifact. The text of a card is not part of it.
pub(super) fn artifact_of(message: &Message, files: &[LinkedFile]) -> Value {
    json!({"artifactId": id_for_clients(message), "parts": parts_of(message, files)})
}

/// The text of a message, unless it is a card, and its files.
pub(super) fn parts_of(message: &Message, files: &[LinkedFile]) -> Vec<Value> {
    let is_text = card_of(message).is_none() && (!message.text().is_empty() || files.is_empty());
    let text = is_text.then(|| json!({"text": message.text()}));
    text.into_iter().chain(files.iter().map(file_part)).collect()
}

/// A file with its address, which is valid for 15 minutes.
pub(super) fn file_part(LinkedFile { part, url }: &LinkedFile) -> Value {
    json!({
        "url": url,
        "filename": part.name,
        "mediaType": part.content_type,
        "metadata": {"attachmentId": part.attachment_id, "bytes": part.bytes},
    })
}

/// The id of the message with a task's error.
pub(super) fn error_id(task: RunId) -> String {
    format!("{task}-error")
}

/// A message of the agent about a task.
pub(super) fn agent_message(id: &str, space: SpaceId, task: RunId, text: &str) -> Value {
    json!({
        "messageId": id,
        "contextId": space,
        "taskId": task,
        "role": "ROLE_AGENT",
        "parts": [{"text": text}],
    })
}

/// The form or the approval for which a task waits, as a message of the agent.
pub(super) fn form_message(form: &AskedCall, space: SpaceId, task: RunId) -> Value {
    let text = question_of(form).unwrap_or_else(|| form.name.clone());
    let mut message = agent_message(&form.call_id.to_string(), space, task, &text);
    let mut data = json!({
        "callId": form.call_id,
        "name": form.name,
        "input": form.input,
        "ui": form.ui,
        "resultSchema": form.result_schema,
        "expiresAt": form.expires_at,
    });
    if let Some(approval) = &form.approval {
        data["approval"] = json!(approval);
    }
    if let Some(parts) = message["parts"].as_array_mut() {
        parts.push(json!({"data": data}));
    }
    message
}
