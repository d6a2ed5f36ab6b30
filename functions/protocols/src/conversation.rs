//! Finds new messages, their texts and their files in the conversation that a client sends.

use serde_json::Value;
use smartspace_client::{FileUpload, Refusal};
use smartspace_domain::{
    attachments::FILES_OF_MESSAGE,
    ids::{MessageId, StreamId},
};

/// The maximum number of messages that one request posts.
const MAX_NEW_MESSAGES: usize = 10;

/// Whether we have sent the client the message with this id.
fn is_from_us(id: &str) -> bool {
    id.parse::<MessageId>().is_ok() || id.parse::<StreamId>().is_ok() || id.starts_with("rsp_")
}

/// The user's messages that the space may not have yet, oldest first: those at the end of the
/// conversation, up to one that we have sent.
pub(crate) fn new_messages<M>(
    messages: &[M],
    id_and_role: impl Fn(&M) -> (&str, &str),
) -> Result<Vec<&M>, Refusal> {
    let mut new = Vec::new();
    for message in messages.iter().rev() {
        let (id, role) = id_and_role(message);
        match role {
            _ if is_from_us(id) => break,
            "user" => new.push(message),
            // Instructions for a model. An agent of a space has its own.
            "system" | "developer" => {}
            _ => break,
        }
    }
    new.reverse();
    if new.len() > MAX_NEW_MESSAGES {
        let got = new.len();
        return Err(Refusal::new(
            422,
            format!("/messages: expected at most {MAX_NEW_MESSAGES} new messages, got {got}"),
        ));
    }
    Ok(new)
}

/// The text and the files of the parts of the message `id`.
pub(crate) fn content_of(parts: &Value, id: &str) -> Result<(String, Vec<FileUpload>), Refusal> {
    let refuse = |reason: &str| Refusal::new(422, format!("/messages: {id}: {reason}"));
    let parts = parts.as_array().ok_or_else(|| refuse("expected text or parts"))?;
    let mut text = String::new();
    let mut files = Vec::new();
    for part in parts {
        match (part["type"].as_str(), part["text"].as_str()) {
            (Some("text"), Some(more)) => text.push_str(more),
            (Some("file" | "image" | "audio" | "video" | "document" | "binary"), _) => {
                if files.len() == FILES_OF_MESSAGE {
                    return Err(refuse(&format!("expected at most {FILES_OF_MESSAGE} files")));
                }
                let file = file_of(part);
                files.push(file.map_err(|reason| refuse(&format!("a file: {reason}")))?);
            }
            // Other parts are state of the client.
            _ => {}
        }
    }
    Ok((text, files))
}

/// The file in a part of the AI SDK (`url`), of AG-UI 1.0 (`source`), or of earlier AG-UI (`data`).
fn file_of(part: &Value) -> Result<FileUpload, String> {
    let named = |value: &Value| value.as_str().map(str::to_owned);
    let names = [&part["filename"], &part["metadata"]["filename"], &part["metadata"]["name"]];
    let name = names.into_iter().find_map(named);
    let name = name.as_deref();
    let source = &part["source"];
    let mime = [&source["mimeType"], &part["mimeType"]];
    let content_type = mime.into_iter().find_map(Value::as_str).unwrap_or_default();
    let data = [(&source["type"] == "data").then_some(&source["value"]), part.get("data")];
    if let Some(data) = data.into_iter().flatten().find_map(Value::as_str) {
        return FileUpload::from_base64(name, content_type, data);
    }
    let address = [&source["value"], &part["url"]].into_iter().find_map(Value::as_str);
    FileUpload::from_data_url(name, address.unwrap_or_default())
}
