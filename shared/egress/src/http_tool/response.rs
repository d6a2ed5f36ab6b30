//! Sends the request of a call, and turns the answer into the output for the model.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use smartspace_domain::attachments::ReturnedImage;
use smartspace_ports::secrets::KnownSecrets;

use crate::{
    Egress, HttpResponse, Outgoing, SendError,
    output::{MAX_CONFIGURED_OUTPUT_BYTES, bounded, bounded_to},
};

/// How much of an error answer the model reads, in bytes of JSON.
const MAX_REFUSAL_BYTES: usize = 8 * 1024;

/// What a call has returned.
#[derive(Debug)]
pub struct HttpResult {
    /// The status of the answer, if there is one.
    pub status: Option<StatusCode>,
    /// Whether the call failed.
    pub failed: bool,
    /// The output for the model. It is null if the answer is a picture.
    pub output: Value,
    /// The picture, if the answer is one. Nothing of it is checked.
    pub image: Option<ReturnedImage>,
}

impl HttpResult {
    fn error(text: impl Into<String>) -> Self {
        let output = json!({"error": text.into()});
        Self { status: None, failed: true, output, image: None }
    }

    fn completed(status: StatusCode, output: Value) -> Self {
        Self { status: Some(status), failed: false, output, image: None }
    }
}

/// Sends a request.
pub async fn send(egress: &Egress, request: Outgoing) -> HttpResult {
    let is_safe = matches!(request.method, Method::GET | Method::HEAD);
    match egress.send(request).await {
        Ok(answer) if is_picture(&answer) => HttpResult {
            image: Some(ReturnedImage {
                content_type: answer.content_type.unwrap_or_default(),
                bytes: answer.body.into(),
            }),
            ..HttpResult::completed(answer.status, Value::Null)
        },
        Ok(answer) => match egress.secrets().await {
            Ok(known) => result_of(&answer, &known),
            Err(error) => HttpResult::error(error.to_string()),
        },
        // If the text only said that the call failed, the model might order twice.
        Err(SendError::Unknown(text)) if !is_safe => {
            HttpResult::error(format!("{text}; whether the call took effect is not known"))
        }
        Err(error) => HttpResult::error(error.to_string()),
    }
}

/// Whether an answer is a whole picture.
fn is_picture(answer: &HttpResponse) -> bool {
    let is_stored = answer.content_type.as_deref().is_some_and(ReturnedImage::is_kept);
    is_stored && answer.status.is_success() && !answer.is_cut && !answer.body.is_empty()
}

/// The result of an answer. Secrets are removed from it, because a server may echo its request.
fn result_of(answer: &HttpResponse, known: &KnownSecrets) -> HttpResult {
    let mut body = body_of(answer);
    known.redact_json(&mut body);
    // The text is cut after the redaction, which would not find half a secret.
    if answer.is_cut
        && let Value::String(text) = &mut body
        && text.len() > MAX_CONFIGURED_OUTPUT_BYTES / 2
    {
        text.truncate(text.floor_char_boundary(MAX_CONFIGURED_OUTPUT_BYTES / 2));
        *text =
            format!("{text} … (longer than {} bytes; the rest was not read)", answer.body.len());
    }
    let status = answer.status;
    if status.is_success() {
        let output = if body == "" { json!({"status": status.as_u16()}) } else { bounded(body) };
        return HttpResult::completed(status, output);
    }
    let error = format!("the server answered {status}");
    let failed = HttpResult { status: Some(status), ..HttpResult::error(error.clone()) };
    if body == "" {
        return failed;
    }
    let output = json!({"error": error, "body": bounded_to(body, MAX_REFUSAL_BYTES)});
    HttpResult { output, ..failed }
}

/// A body as JSON, or else as text.
fn body_of(answer: &HttpResponse) -> Value {
    let media_type = answer.content_type.as_deref().unwrap_or("").to_ascii_lowercase();
    let may_be_json = media_type.is_empty() || media_type.contains("json");
    if may_be_json
        && !answer.is_cut
        && let Ok(value) = smartspace_domain::json::parse(
            answer.body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&answer.body),
        )
    {
        return value;
    }
    // A body that was cut may end in half a character.
    let text = match std::str::from_utf8(&answer.body) {
        Ok(text) => text,
        Err(error) if answer.is_cut && error.error_len().is_none() => {
            std::str::from_utf8(&answer.body[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) if answer.is_cut => {
            let most = answer.body.len();
            return Value::String(format!(
                "[{media_type} of more than {most} bytes, which are the most that is read; \
                 not shown]"
            ));
        }
        Err(_) => {
            let what = if media_type.is_empty() { "data" } else { media_type.as_str() };
            return Value::String(format!("[{} bytes of {what}, not shown]", answer.body.len()));
        }
    };
    Value::String(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(
        status: u16,
        content_type: Option<&str>,
        body: impl Into<Vec<u8>>,
        is_cut: bool,
    ) -> (bool, Value) {
        let answer = HttpResponse {
            status: StatusCode::from_u16(status).unwrap(),
            content_type: content_type.map(str::to_owned),
            body: body.into().into(),
            is_cut,
        };
        let result = result_of(&answer, &KnownSecrets::default());
        assert_eq!(result.status, Some(answer.status));
        (result.failed, result.output)
    }

    #[test]
    fn an_answer_is_json_or_the_text_that_it_is() {
        const COMPLETED: bool = false;
        let json = Some("application/vnd.api+json; charset=utf-8");
        assert_eq!(given(200, json, r#"{"a": [1]}"#, false), (COMPLETED, json!({"a": [1]})));
        assert_eq!(given(200, None, "12", false), (COMPLETED, json!(12)));
        assert_eq!(given(200, Some("text/plain"), "12", false), (COMPLETED, json!("12")));
        assert_eq!(given(200, json, "{", false), (COMPLETED, json!("{")));
        assert_eq!(given(204, None, "", false), (COMPLETED, json!({"status": 204})));
        assert_eq!(
            given(200, Some("image/png"), [0x89, 0xff], false),
            (COMPLETED, json!("[2 bytes of image/png, not shown]"))
        );
        let (status, cut) = given(200, json, [b"a".repeat(40_000), vec![0xc3]].concat(), true);
        let cut = cut.as_str().unwrap();
        assert!(
            status == COMPLETED
                && cut.len() < 32 * 1024
                && cut.ends_with("(longer than 40001 bytes; the rest was not read)")
        );
    }

    #[test]
    fn an_error_status_is_an_error_with_the_body() {
        const FAILED: bool = true;
        assert_eq!(
            given(500, None, "", false),
            (FAILED, json!({"error": "the server answered 500 Internal Server Error"}))
        );
        let body = json!({
            "error": "the server answered 404 Not Found",
            "body": {"detail": "no such city"}
        });
        assert_eq!(
            given(404, Some("application/problem+json"), r#"{"detail": "no such city"}"#, false),
            (FAILED, body)
        );
        let (_, long) = given(400, Some("text/plain"), "a".repeat(100_000), false);
        assert!(long.to_string().len() < 9_000);
    }
}
