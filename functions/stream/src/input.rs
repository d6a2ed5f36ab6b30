//! What the doors of chats have in common when they read a request.

use serde::de::DeserializeOwned;
use serde_json::Value;
use smartspace_domain::ids::{MessageId, StreamId};

use crate::api_client::Refusal;

/// The longest request: clients send the whole conversation. It is what AWS Lambda takes.
pub(crate) const REQUEST_BYTES: usize = 6 * 1024 * 1024;
/// How many messages a request may post.
const NEW_MESSAGES: usize = 10;

/// Reads the body of a request.
pub(crate) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    let value: Value = serde_json::from_slice(body)
        .map_err(|error| Refusal::new(400, format!("the body: expected JSON, but {error}")))?;
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
pub(crate) fn is_ours(id: &str) -> bool {
    id.parse::<MessageId>().is_ok() || id.parse::<StreamId>().is_ok() || id.starts_with("rsp_")
}

/// The person's messages behind the newest one that is ours.
pub(crate) fn new_messages<M>(
    messages: &[M],
    is_ours: impl Fn(&M) -> bool,
    is_by_person: impl Fn(&M) -> bool,
) -> Result<Vec<&M>, Refusal> {
    let newest = messages.iter().rposition(is_ours);
    let behind = messages.get(newest.map_or(0, |newest| newest + 1)..).unwrap_or_default();
    let new: Vec<_> = behind.iter().filter(|message| is_by_person(message)).collect();
    if new.len() > NEW_MESSAGES {
        let got = new.len();
        return Err(Refusal::new(
            422,
            format!("/messages: expected at most {NEW_MESSAGES} new messages, got {got}"),
        ));
    }
    Ok(new)
}

/// The text of the parts of the message `id`.
pub(crate) fn text_of(parts: &Value, id: &str) -> Result<String, Refusal> {
    let refuse = |what: &str| Refusal::new(422, format!("/messages: {id}: {what}"));
    let parts = parts.as_array().ok_or_else(|| refuse("expected text or parts"))?;
    let mut text = String::new();
    for part in parts {
        match (part["type"].as_str(), part["text"].as_str()) {
            (Some("text"), Some(more)) => text.push_str(more),
            (Some("file" | "image" | "audio" | "video" | "document" | "binary"), _) => {
                return Err(refuse("files cannot be sent yet; expected parts of type text"));
            }
            // Other parts are state of the client.
            _ => {}
        }
    }
    Ok(text)
}
