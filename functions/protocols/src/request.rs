//! What the doors of chats have in common when they read a request.

use std::time::Duration;

use axum::{
    body::{Body, to_bytes},
    extract::Request,
};
use http_body_util::LengthLimitError;
use serde::de::DeserializeOwned;
use serde_json::Value;
use smartspace_domain::{
    attachments::FILES_OF_MESSAGE,
    ids::{MessageId, StreamId},
    json,
    messages::excerpt,
};
use tokio::time::timeout;

use crate::{api_client::Refusal, files::SentFile};

/// The longest request: clients send the whole conversation. It is what AWS Lambda takes.
pub(crate) const REQUEST_BYTES: usize = 6 * 1024 * 1024;
/// How many values a request may have. A conversation has some hundreds.
const VALUES: usize = 100_000;
/// How long a request may take to arrive.
const BODY_WITHIN: Duration = Duration::from_secs(30);
/// How much of what is wrong is said, in characters: it may repeat what was sent.
const SAID_CHARS: usize = 500;
/// How many messages a request may post.
const NEW_MESSAGES: usize = 10;

/// Reads the body of a request.
pub(crate) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    let value = json_of(body)?;
    if !value.is_object() {
        return Err(Refusal::new(422, "the body: expected an object"));
    }
    shaped(value)
}

/// The JSON of a body.
pub(crate) fn json_of(body: &[u8]) -> Result<Value, Refusal> {
    json::parse(body)
        .map_err(|error| Refusal::new(400, format!("the body: expected JSON, but {error}")))
}

/// The request with its whole body, which is neither too long nor too slow.
pub(crate) async fn whole(request: Request) -> Result<Request, Refusal> {
    let (parts, body) = request.into_parts();
    let Ok(body) = timeout(BODY_WITHIN, to_bytes(body, REQUEST_BYTES)).await else {
        let text = format!("expected the whole body within {BODY_WITHIN:?}");
        return Err(Refusal::new(408, text));
    };
    let body = body.map_err(|error| {
        let error = error.into_inner();
        if error.is::<LengthLimitError>() {
            Refusal::new(413, format!("the body: expected at most {REQUEST_BYTES} bytes"))
        } else {
            Refusal::new(400, format!("the body could not be read: {error}"))
        }
    })?;
    if json::values_at_most(&body) > VALUES {
        return Err(Refusal::new(413, format!("the body: expected at most {VALUES} values")));
    }
    Ok(Request::from_parts(parts, Body::from(body)))
}

/// The value as a type.
pub(crate) fn shaped<T: DeserializeOwned>(value: Value) -> Result<T, Refusal> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let text = format!("{path}: {}", error.into_inner());
        Refusal::new(422, excerpt(&text, SAID_CHARS).0)
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

#[cfg(test)]
mod tests {
    use axum::body::Bytes;
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    async fn refused(body: Body) -> Option<(u16, String)> {
        let refusal = whole(Request::new(body)).await.err()?;
        Some((refusal.status, refusal.detail))
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_is_too_long_or_too_slow_is_refused() {
        assert_eq!(refused(Body::from("{}")).await, None);
        assert_eq!(refused(Body::from(" ".repeat(REQUEST_BYTES))).await, None);
        let long = Body::from(" ".repeat(REQUEST_BYTES + 1));
        let text = "the body: expected at most 6291456 bytes".to_owned();
        assert_eq!(refused(long).await, Some((413, text)));
        let short_values = format!("[{}1]", "1,".repeat(VALUES - 2));
        assert_eq!(refused(Body::from(short_values)).await, None);
        let short_values = format!("[{}1]", "1,".repeat(VALUES));
        let text = "the body: expected at most 100000 values".to_owned();
        assert_eq!(refused(Body::from(short_values)).await, Some((413, text)));
        let stalled = futures::stream::pending::<Result<Bytes, std::convert::Infallible>>();
        let text = "expected the whole body within 30s".to_owned();
        assert_eq!(refused(Body::from_stream(stalled)).await, Some((408, text)));
    }

    #[test]
    fn what_is_wrong_is_said_in_short() {
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Nothing {}
        let refusal = shaped::<Nothing>(json!({"a".repeat(10_000): 1})).unwrap_err();
        assert_eq!(refusal.status, 422);
        assert!(refusal.detail.chars().count() <= SAID_CHARS, "{}", refusal.detail);
    }
}
