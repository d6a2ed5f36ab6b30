//! What the doors of chats have in common when they read a request.

use axum::{body::Bytes, extract::rejection::BytesRejection};
use serde::de::DeserializeOwned;
use serde_json::Value;
use smartspace_domain::{
    attachments::FILES_OF_MESSAGE,
    ids::{MessageId, StreamId},
    json,
};

use crate::{api_client::Refusal, files::SentFile};

/// The longest request: clients send the whole conversation. It is what AWS Lambda takes.
pub(crate) const REQUEST_BYTES: usize = 6 * 1024 * 1024;
/// How many messages a request may post.
const NEW_MESSAGES: usize = 10;

/// Reads the body of a request.
pub(crate) fn read<T: DeserializeOwned>(body: Result<Bytes, BytesRejection>) -> Result<T, Refusal> {
    let body = body.map_err(|rejection| {
        let status = rejection.status().as_u16();
        Refusal::new(status, format!("the body: expected at most {REQUEST_BYTES} bytes"))
    })?;
    let value = json::parse(&body)
        .map_err(|error| Refusal::new(400, format!("the body: expected JSON, but {error}")))?;
    if !value.is_object() {
        return Err(Refusal::new(422, "the body: expected an object"));
    }
    shaped(value)
}

/// The value as a type.
pub(crate) fn shaped<T: DeserializeOwned>(value: Value) -> Result<T, Refusal> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        Refusal::new(422, format!("{path}: {}", error.into_inner()))
    })
}

/// Whether a client got the message with this id from us.
fn is_ours(id: &str) -> bool {
    id.parse::<MessageId>().is_ok() || id.parse::<StreamId>().is_ok() || id.starts_with("rsp_")
}

/// The person's messages at the end that did not come from us, oldest first.
pub(crate) fn new_messages<M>(
    messages: &[M],
    id_and_role: impl Fn(&M) -> (&str, &str),
) -> Result<Vec<&M>, Refusal> {
    let mut new = Vec::new();
    for message in messages.iter().rev() {
        let (id, role) = id_and_role(message);
        match role {
            _ if is_ours(id) => break,
            "user" => new.push(message),
            // What the client tells a model to do.
            "system" | "developer" => {}
            _ => break,
        }
    }
    new.reverse();
    if new.len() > NEW_MESSAGES {
        let got = new.len();
        return Err(Refusal::new(
            422,
            format!("/messages: expected at most {NEW_MESSAGES} new messages, got {got}"),
        ));
    }
    Ok(new)
}

/// The text and the files of the parts of the message `id`.
pub(crate) fn content_of(parts: &Value, id: &str) -> Result<(String, Vec<SentFile>), Refusal> {
    let refuse = |what: &str| Refusal::new(422, format!("/messages: {id}: {what}"));
    let parts = parts.as_array().ok_or_else(|| refuse("expected text or parts"))?;
    let (mut text, mut files) = (String::new(), Vec::new());
    for part in parts {
        match (part["type"].as_str(), part["text"].as_str()) {
            (Some("text"), Some(more)) => text.push_str(more),
            (Some("file" | "image" | "audio" | "video" | "document" | "binary"), _) => {
                if files.len() == FILES_OF_MESSAGE {
                    return Err(refuse(&format!("expected at most {FILES_OF_MESSAGE} files")));
                }
                let file = file_of(part);
                files.push(file.map_err(|what| refuse(&format!("a file: {what}")))?);
            }
            // Other parts are state of the client.
            _ => {}
        }
    }
    Ok((text, files))
}

/// The file of a part: of the AI SDK (`url`), of AG-UI 1.0 (`source`), or of earlier AG-UI
/// (`data`).
fn file_of(part: &Value) -> Result<SentFile, String> {
    let named = |value: &Value| value.as_str().map(str::to_owned);
    let names = [&part["filename"], &part["metadata"]["filename"], &part["metadata"]["name"]];
    let name = names.into_iter().find_map(named);
    let name = name.as_deref();
    let source = &part["source"];
    let mime = [&source["mimeType"], &part["mimeType"]];
    let content_type = mime.into_iter().find_map(Value::as_str).unwrap_or_default();
    let data = [(&source["type"] == "data").then_some(&source["value"]), part.get("data")];
    if let Some(data) = data.into_iter().flatten().find_map(Value::as_str) {
        return SentFile::of_base64(name, content_type, data);
    }
    let address = [&source["value"], &part["url"]].into_iter().find_map(Value::as_str);
    SentFile::of_data_url(name, address.unwrap_or_default())
}
