//! Tools of the type `http`: the configured request, filled in with the input of the call, and its
//! answer.

use std::{collections::BTreeMap, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use serde_json::{Value, json};
use smartspace_domain::templates::{self, Filling};
use smartspace_egress::{Egress, HttpResponse, Outgoing, SendError, TraceContext};
use smartspace_ports::secrets::{KnownSecrets, Secret};
use url::Url;

use crate::tools::{
    calling::{Calling, Outcome},
    output::bounded_to,
};

/// How much of an error answer the model reads, in bytes of JSON.
const REFUSAL_BYTES: usize = 8 * 1024;

/// The longest address that the HTTP client can send, in bytes.
const ADDRESS_BYTES: usize = 60 * 1024;

/// The `Accept` header, unless one is configured.
const ACCEPTED: &str = "application/json, text/*;q=0.9, */*;q=0.8";

/// A request as it is configured.
#[derive(Debug)]
pub(crate) struct HttpTool {
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Option<Value>,
    /// For the whole call.
    pub(crate) limit: Duration,
}

impl HttpTool {
    /// The filled-in request of a call. The error is a text for the model about a bad input or a
    /// missing setting.
    pub(crate) async fn request(
        &self,
        calling: &Calling<'_>,
        input: &Value,
        repeatable: bool,
    ) -> Result<Outgoing, String> {
        let context = calling.context;
        let known = context.egress.secrets().await.map_err(|error| error.to_string())?;
        let secret = |name: &str| match known.get(name) {
            Some(secret) => Ok(secret.reveal().to_owned()),
            None => Err(format!(
                "the secret {name} is not set here; whoever runs Smartspace can set it"
            )),
        };
        let filling = Filling { input, secret: &secret };
        let address = templates::address(&self.url, &filling)?;
        if address.len() > ADDRESS_BYTES {
            return Err(format!(
                "the address is too long with this input; expected at most {ADDRESS_BYTES} bytes"
            ));
        }
        let url = Url::parse(&address)
            .map_err(|error| format!("the address of this tool can't be used: {error}"))?;
        let secrets = self.secrets(&known);
        let host = url.host_str().unwrap_or_default();
        if let Some((name, _)) = secrets.iter().find(|(_, secret)| !secret.may_go_to(host)) {
            return Err(format!(
                "the secret {name} may not go to {host}: whoever set it says to which hosts it may"
            ));
        }
        let trace = TraceContext { run: context.run.id, depth: context.run.chain_depth + 1 };
        Ok(Outgoing {
            method: Method::from_bytes(self.method.as_bytes())
                .map_err(|error| error.to_string())?,
            url,
            headers: self.headers(trace.headers(calling.begun.call_id), &filling)?,
            body: self
                .body
                .as_ref()
                .map(|body| templates::body(body, &filling))
                .transpose()?
                .map(|body| self.written(body).into()),
            limit: self.limit,
            repeatable,
            secrets: secrets.into_iter().map(|(_, secret)| secret.clone()).collect(),
        })
    }

    /// The body to send: JSON, or a plain text if the configured content type is not JSON.
    fn written(&self, body: Value) -> String {
        let configured =
            self.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let is_json =
            configured.is_none_or(|(_, value)| value.to_ascii_lowercase().contains("json"));
        match body {
            Value::String(text) if !is_json => text,
            body => body.to_string(),
        }
    }

    fn headers(&self, mut headers: HeaderMap, filling: &Filling<'_>) -> Result<HeaderMap, String> {
        headers.insert(header::ACCEPT, HeaderValue::from_static(ACCEPTED));
        if self.body.is_some() {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        for (name, template) in &self.headers {
            let wrong = |error: &dyn std::fmt::Display| {
                format!("the header {name} of this tool can't be sent: {error}")
            };
            let name: HeaderName = name.parse().map_err(|error| wrong(&error))?;
            let Some(value) =
                templates::header(template, filling).map_err(|error| wrong(&error))?
            else {
                headers.remove(name);
                continue;
            };
            let mut value =
                HeaderValue::from_bytes(value.as_bytes()).map_err(|error| wrong(&error))?;
            let hides = !templates::secrets_of(template).is_empty()
                || name == header::AUTHORIZATION
                || name == header::COOKIE;
            value.set_sensitive(hides);
            headers.insert(name, value);
        }
        Ok(headers)
    }

    /// The secrets that the request contains.
    fn secrets<'a>(&'a self, known: &'a KnownSecrets) -> Vec<(&'a str, &'a Secret)> {
        let mut names = templates::secrets_of(&self.url);
        names.extend(self.headers.values().flat_map(|value| templates::secrets_of(value)));
        if let Some(body) = &self.body {
            templates::texts_of_body(body, &mut |text, _| {
                names.extend(templates::secrets_of(text));
            });
        }
        names.into_iter().filter_map(|name| Some((name, known.get(name)?))).collect()
    }
}

/// Sends a request. Returns the outcome for the model.
pub(crate) async fn outcome(egress: &Egress, request: Outgoing) -> Outcome {
    let only_asks = matches!(request.method, Method::GET | Method::HEAD);
    match egress.send(request).await {
        Ok(answer) => match egress.secrets().await {
            Ok(known) => told(&answer, &known),
            Err(error) => Outcome::error(error.to_string()),
        },
        // If the text only said that it failed, the model might order twice.
        Err(SendError::Unknown(text)) if !only_asks => {
            Outcome::error(format!("{text}; whether the call took effect is not known"))
        }
        Err(error) => Outcome::error(error.to_string()),
    }
}

/// The outcome of an answer, without the secrets in it: a server may echo what it got.
fn told(answer: &HttpResponse, known: &KnownSecrets) -> Outcome {
    let mut said = said(answer);
    known.redact_json(&mut said);
    // Only after the redaction, which would not find half a secret.
    if answer.is_cut
        && let Value::String(text) = &mut said
    {
        text.truncate(text.floor_char_boundary(crate::tools::output::OUTPUT_MOST / 2));
        *text =
            format!("{text} … (longer than {} bytes; the rest was not read)", answer.body.len());
    }
    if answer.status.is_success() {
        return Outcome::completed(if said == "" {
            json!({"status": answer.status.as_u16()})
        } else {
            crate::tools::output::bounded(said)
        });
    }
    let error = format!("the server answered {}", answer.status);
    if said == "" {
        return Outcome::error(error);
    }
    Outcome {
        output: json!({"error": error, "body": bounded_to(said, REFUSAL_BYTES)}),
        ..Outcome::error("")
    }
}

/// A body as JSON, or else as text.
fn said(answer: &HttpResponse) -> Value {
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
        let outcome = told(&answer, &KnownSecrets::default());
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
    fn an_answer_that_says_no_is_an_error_with_what_it_says() {
        use CallStatus::Failed;
        assert_eq!(
            given(500, None, "", false),
            (Failed, json!({"error": "the server answered 500 Internal Server Error"}))
        );
        let body = json!({"error": "the server answered 404 Not Found", "body": {"detail": "no such city"}});
        assert_eq!(
            given(404, Some("application/problem+json"), r#"{"detail": "no such city"}"#, false),
            (Failed, body)
        );
        let (_, long) = given(400, Some("text/plain"), "a".repeat(100_000), false);
        assert!(long.to_string().len() < 9_000);
    }
}
