//! Sends the request of a call, and turns the answer into the outcome for the model.

use http::Method;
use serde_json::{Value, json};
use smartspace_domain::attachments::ReturnedImage;
use smartspace_egress::{Egress, HttpResponse, Outgoing, SendError};
use smartspace_ports::secrets::KnownSecrets;

use crate::tools::{
    calling::Outcome,
    configured::call_response::{self, CallResponse},
    output::{MAX_CONFIGURED_OUTPUT_BYTES, bounded, bounded_to},
};

/// How much of an error answer the model reads, in bytes of JSON.
const MAX_REFUSAL_BYTES: usize = 8 * 1024;

/// Sends a request. Returns the outcome for the model, and the picture if the answer is one.
pub(crate) async fn send(egress: &Egress, request: Outgoing) -> CallResponse {
    let is_safe = matches!(request.method, Method::GET | Method::HEAD);
    match egress.send(request).await {
        Ok(answer) if is_picture(&answer) => call_response::picture(ReturnedImage {
            content_type: answer.content_type.unwrap_or_default(),
            bytes: answer.body.into(),
        }),
        Ok(answer) => match egress.secrets().await {
            Ok(known) => outcome_of(&answer, &known).into(),
            Err(error) => Outcome::error(error.to_string()).into(),
        },
        // If the text only said that the call failed, the model might order twice.
        Err(SendError::Unknown(text)) if !is_safe => {
            Outcome::error(format!("{text}; whether the call took effect is not known")).into()
        }
        Err(error) => Outcome::error(error.to_string()).into(),
    }
}

/// Whether an answer is a whole picture.
fn is_picture(answer: &HttpResponse) -> bool {
    let is_stored = answer.content_type.as_deref().is_some_and(ReturnedImage::is_kept);
    is_stored && answer.status.is_success() && !answer.is_cut && !answer.body.is_empty()
}

/// The outcome of an answer. Secrets are removed from it, because a server may echo its request.
fn outcome_of(answer: &HttpResponse, known: &KnownSecrets) -> Outcome {
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
    if answer.status.is_success() {
        return Outcome::completed(if body == "" {
            json!({"status": answer.status.as_u16()})
        } else {
            bounded(body)
        });
    }
    let error = format!("the server answered {}", answer.status);
    if body == "" {
        return Outcome::error(error);
    }
    Outcome {
        output: json!({"error": error, "body": bounded_to(body, MAX_REFUSAL_BYTES)}),
        ..Outcome::error("")
    }
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
    use http::StatusCode;
    use smartspace_domain::steps::CallStatus;

    use super::*;

    fn given(
        status: u16,
        content_type: Option<&str>,
        body: impl Into<Vec<u8>>,
        is_cut: bool,
    ) -> (CallStatus, Value) {
        let answer = HttpResponse {
            status: StatusCode::from_u16(status).unwrap(),
            content_type: content_type.map(str::to_owned),
            body: body.into().into(),
            is_cut,
        };
        let outcome = outcome_of(&answer, &KnownSecrets::default());
        (outcome.status, outcome.output)
    }

    #[test]
    fn an_answer_is_json_or_the_text_that_it_is() {
        use CallStatus::Completed;
        let json = Some("application/vnd.api+json; charset=utf-8");
        assert_eq!(given(200, json, r#"{"a": [1]}"#, false), (Completed, json!({"a": [1]})));
        assert_eq!(given(200, None, "12", false), (Completed, json!(12)));
        assert_eq!(given(200, Some("text/plain"), "12", false), (Completed, json!("12")));
        assert_eq!(given(200, json, "{", false), (Completed, json!("{")));
        assert_eq!(given(204, None, "", false), (Completed, json!({"status": 204})));
        assert_eq!(
            given(200, Some("image/png"), [0x89, 0xff], false),
            (Completed, json!("[2 bytes of image/png, not shown]"))
        );
        let (status, cut) = given(200, json, [b"a".repeat(40_000), vec![0xc3]].concat(), true);
        let cut = cut.as_str().unwrap();
        assert!(
            status == Completed
                && cut.len() < 32 * 1024
                && cut.ends_with("(longer than 40001 bytes; the rest was not read)")
        );
    }

    #[test]
    fn an_error_status_is_an_error_with_the_body() {
        use CallStatus::Failed;
        assert_eq!(
            given(500, None, "", false),
            (Failed, json!({"error": "the server answered 500 Internal Server Error"}))
        );
        let body = json!({
            "error": "the server answered 404 Not Found",
            "body": {"detail": "no such city"}
        });
        assert_eq!(
            given(404, Some("application/problem+json"), r#"{"detail": "no such city"}"#, false),
            (Failed, body)
        );
        let (_, long) = given(400, Some("text/plain"), "a".repeat(100_000), false);
        assert!(long.to_string().len() < 9_000);
    }
}
