//! Reads bodies of requests: limits their size and the time that they take, and parses them.

use std::time::Duration;

use axum::{
    body::{Bytes, to_bytes},
    extract::Request,
    http::request::Parts,
};
use http_body_util::LengthLimitError;
use serde::de::DeserializeOwned;
use serde_json::Value;
use smartspace_client::Refusal;
use smartspace_domain::{json, messages::excerpt};
use tokio::time::timeout;

/// The maximum length of a body, which is the limit of AWS Lambda. Clients send the whole
/// conversation each time.
pub(crate) const MAX_BODY_BYTES: usize = 6 * 1024 * 1024;
/// The maximum number of JSON values in a body. Each takes far more memory than its text; a
/// conversation has some hundreds.
const MAX_VALUES: usize = 100_000;
/// Time limit of receiving a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum length of an error text, in characters: it may quote the input.
const MAX_ERROR_CHARS: usize = 500;

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
pub(crate) async fn buffer_body(request: Request) -> Result<(Parts, Bytes), Refusal> {
    let (parts, body) = request.into_parts();
    let Ok(body) = timeout(BODY_TIMEOUT, to_bytes(body, MAX_BODY_BYTES)).await else {
        let text = format!("expected the whole body within {BODY_TIMEOUT:?}");
        return Err(Refusal::new(408, text));
    };
    let body = body.map_err(|error| {
        let error = error.into_inner();
        if error.is::<LengthLimitError>() {
            Refusal::new(413, format!("the body: expected at most {MAX_BODY_BYTES} bytes"))
        } else {
            Refusal::new(400, format!("the body could not be read: {error}"))
        }
    })?;
    if json::values_at_most(&body) > MAX_VALUES {
        return Err(Refusal::new(413, format!("the body: expected at most {MAX_VALUES} values")));
    }
    Ok((parts, body))
}

/// Converts a JSON value. The error names the field that does not fit.
pub(crate) fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, Refusal> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let text = format!("{path}: {}", error.into_inner());
        Refusal::new(422, excerpt(&text, MAX_ERROR_CHARS).0)
    })
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
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
        assert_eq!(refused(Body::from(" ".repeat(MAX_BODY_BYTES))).await, None);
        let long = Body::from(" ".repeat(MAX_BODY_BYTES + 1));
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
        assert!(refusal.detail.chars().count() <= MAX_ERROR_CHARS, "{}", refusal.detail);
    }
}
