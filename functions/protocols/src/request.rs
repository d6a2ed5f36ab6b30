//! Reads bodies of requests: limits their size, parses them, and finds the messages in them.

use std::time::Duration;

use axum::{
    body::{Body, to_bytes},
    extract::Request,
};
use http_body_util::LengthLimitError;
use serde::de::DeserializeOwned;
use serde_json::Value;
use smartspace_client::{FileUpload, Refusal};
use smartspace_domain::{
    attachments::FILES_OF_MESSAGE,
    ids::{MessageId, StreamId},
    json,
    messages::excerpt,
};
use tokio::time::timeout;

/// The maximum length of a body, which is the limit of AWS Lambda. Clients send the whole
/// conversation each time.
pub(crate) const REQUEST_BYTES: usize = 6 * 1024 * 1024;
/// The maximum number of JSON values in a body. Each takes far more memory than its text; a
/// conversation has some hundreds.
const MAX_VALUES: usize = 100_000;
/// Time limit of receiving a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum length of an error text, in characters: it may quote the input.
const ERROR_CHARS: usize = 500;
/// The maximum number of messages that one request posts.
const MAX_NEW_MESSAGES: usize = 10;

/// Parses a body that is a JSON object.
pub(crate) fn parse_object<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    let value = parse_json(body)?;
    if !value.is_object() {
        return Err(Refusal::new(422, "the body: expected an object"));
    }
    from_value(value)
}

/// Parses a body. Like the API, it refuses deep nesting and repeated names.
pub(crate) fn parse_json(body: &[u8]) -> Result<Value, Refusal> {
    json::parse(body)
        .map_err(|error| Refusal::new(400, format!("the body: expected JSON, but {error}")))
}

/// Receives the whole body of a request. Refuses one that is too long or too slow.
pub(crate) async fn buffer_body(request: Request) -> Result<Request, Refusal> {
    let (parts, body) = request.into_parts();
    let Ok(body) = timeout(BODY_TIMEOUT, to_bytes(body, REQUEST_BYTES)).await else {
        let text = format!("expected the whole body within {BODY_TIMEOUT:?}");
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
    if json::values_at_most(&body) > MAX_VALUES {
        return Err(Refusal::new(413, format!("the body: expected at most {MAX_VALUES} values")));
    }
    Ok(Request::from_parts(parts, Body::from(body)))
}

/// Converts a JSON value. The error names the field that does not fit.
pub(crate) fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, Refusal> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let text = format!("{path}: {}", error.into_inner());
        Refusal::new(422, excerpt(&text, ERROR_CHARS).0)
    })
}

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

#[cfg(test)]
mod tests {
    use axum::body::Bytes;
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    async fn refused(body: Body) -> Option<(u16, String)> {
        let refusal = buffer_body(Request::new(body)).await.err()?;
        Some((refusal.status, refusal.detail))
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_is_too_long_or_too_slow_is_refused() {
        assert_eq!(refused(Body::from("{}")).await, None);
        assert_eq!(refused(Body::from(" ".repeat(REQUEST_BYTES))).await, None);
        let long = Body::from(" ".repeat(REQUEST_BYTES + 1));
        let text = "the body: expected at most 6291456 bytes".to_owned();
        assert_eq!(refused(long).await, Some((413, text)));
        let short_values = format!("[{}1]", "1,".repeat(MAX_VALUES - 2));
        assert_eq!(refused(Body::from(short_values)).await, None);
        let short_values = format!("[{}1]", "1,".repeat(MAX_VALUES));
        let text = "the body: expected at most 100000 values".to_owned();
        assert_eq!(refused(Body::from(short_values)).await, Some((413, text)));
        let stalled = futures::stream::pending::<Result<Bytes, std::convert::Infallible>>();
        let text = "expected the whole body within 30s".to_owned();
        assert_eq!(refused(Body::from_stream(stalled)).await, Some((408, text)));
    }

    #[test]
    fn an_error_text_is_short() {
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Nothing {}
        let refusal = from_value::<Nothing>(json!({"a".repeat(10_000): 1})).unwrap_err();
        assert_eq!(refusal.status, 422);
        assert!(refusal.detail.chars().count() <= ERROR_CHARS, "{}", refusal.detail);
    }
}
