//! The parameters of the methods of A2A, and the content of a client's messages.

use serde::Deserialize;
use serde_json::Value;
use smartspace_client::FileUpload;
use smartspace_domain::{attachments::FILES_OF_MESSAGE, ids::RunId};

use crate::a2a::rpc::RpcError;

/// The parameters of `SendMessage` and `SendStreamingMessage`.
#[derive(Debug, Deserialize)]
pub(super) struct SendMessage {
    pub(super) message: ClientMessage,
    #[serde(default)]
    pub(super) configuration: Configuration,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Configuration {
    pub(super) return_immediately: bool,
}

/// A message of a client.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClientMessage {
    pub(super) message_id: String,
    #[serde(default)]
    pub(super) context_id: String,
    #[serde(default)]
    pub(super) task_id: String,
    #[serde(default)]
    pub(super) parts: Vec<Value>,
}

/// The parameters of the methods for one task.
#[derive(Debug, Deserialize)]
pub(super) struct TaskRequest {
    pub(super) id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskListRequest {
    #[serde(default)]
    pub(super) context_id: String,
    #[serde(default)]
    pub(super) status: String,
    pub(super) page_size: Option<usize>,
    #[serde(default)]
    pub(super) page_token: String,
}

impl TaskRequest {
    pub(super) fn run(&self) -> Result<RunId, RpcError> {
        self.id.parse().map_err(|_| RpcError::no_task())
    }
}

/// The text and the files of a message. Data becomes a text with its JSON.
pub(super) fn content_of(parts: &[Value]) -> Result<(String, Vec<FileUpload>), RpcError> {
    let mut texts = Vec::new();
    let mut files = Vec::new();
    for part in parts {
        if let Some(text) = part["text"].as_str() {
            texts.push(text.to_owned());
        } else if let Some(data) = part.get("data") {
            texts.push(data.to_string());
        } else if files.len() == FILES_OF_MESSAGE {
            let detail = format!("message.parts: expected at most {FILES_OF_MESSAGE} files");
            return Err(RpcError::content(detail));
        } else {
            files.push(file_of(part)?);
        }
    }
    if texts.is_empty() && files.is_empty() {
        return Err(RpcError::invalid("message.parts: expected a part with text, data or a file"));
    }
    Ok((texts.join("\n"), files))
}

/// The file in a part.
fn file_of(part: &Value) -> Result<FileUpload, RpcError> {
    let name = part["filename"].as_str();
    let file = if let Some(raw) = part["raw"].as_str() {
        FileUpload::from_base64(name, part["mediaType"].as_str().unwrap_or_default(), raw)
    } else {
        FileUpload::from_data_url(name, part["url"].as_str().unwrap_or_default())
    };
    file.map_err(|reason| RpcError::content(format!("message.parts: a file: {reason}")))
}
