//! Tools of the type `http`: a request as it is configured, with the call's input filled in, and what came back.

use std::{collections::BTreeMap, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use serde_json::{Value, json};
use smartspace_domain::templates::{self, Filling};
use smartspace_edges::secrets::{KnownSecrets, Secret};
use smartspace_egress::{Answer, Egress, Outgoing, SendError, Trail};
use url::Url;

use super::{Calling, Outcome, bounded_to, outside};

/// What of an answer that says no is told, in bytes of JSON.
const REFUSAL_BYTES: usize = 8 * 1024;

/// An address, in bytes: no client can send a longer one.
const ADDRESS_BYTES: usize = 60 * 1024;

/// What is asked for where nothing is configured.
const ACCEPTED: &str = "application/json, text/*;q=0.9, */*;q=0.8";

/// A request as it is configured.
#[derive(Debug)]
pub(crate) struct HttpTool {
    pub(super) method: String,
    pub(super) url: String,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Option<Value>,
    /// For the whole call.
    pub(super) limit: Duration,
}

impl HttpTool {
    /// A call's request, all filled in; it may be sent again where it is `repeatable`. What is wrong with its input, or with the deployment, is for the model.
    pub(super) async fn request(&self, calling: &Calling<'_>, input: &Value, repeatable: bool) -> Result<Outgoing, String> {
        let worker = calling.worker;
        let known = worker.egress.secrets().await.map_err(|error| error.to_string())?;
        let secret = |name: &str| match known.get(name) {
            Some(secret) => Ok(secret.reveal().to_owned()),
            None => Err(format!("the secret {name} is not set here; whoever runs Smartspace can set it")),
        };
        let filling = Filling { input, secret: &secret };
        let address = templates::address(&self.url, &filling)?;
        if address.len() > ADDRESS_BYTES {
            return Err(format!("the address is too long with this input; expected at most {ADDRESS_BYTES} bytes"));
        }
        let url = Url::parse(&address).map_err(|error| format!("the address of this tool can't be used: {error}"))?;
        let secrets = self.secrets(&known);
        let host = url.host_str().unwrap_or_default();
        if let Some((name, _)) = secrets.iter().find(|(_, secret)| !secret.may_go_to(host)) {
            return Err(format!("the secret {name} may not go to {host}: whoever set it says to which hosts it may"));
        }
        let trail = Trail { run: worker.run.id, depth: worker.run.chain_depth + 1 };
        Ok(Outgoing {
            method: Method::from_bytes(self.method.as_bytes()).map_err(|error| error.to_string())?,
            url,
            headers: self.headers(trail.headers(calling.begun.call_id), &filling)?,
            body: self.body.as_ref().map(|body| templates::body(body, &filling)).transpose()?.map(|body| self.written(body).into()),
            limit: self.limit,
            repeatable,
            secrets: secrets.into_iter().map(|(_, secret)| secret.clone()).collect(),
        })
    }

    /// A body as it is sent: as JSON, but a text as it is where the configuration says that it is none.
    fn written(&self, body: Value) -> String {
        let configured = self.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let is_json = configured.is_none_or(|(_, value)| value.to_ascii_lowercase().contains("json"));
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
            let wrong = |error: &dyn std::fmt::Display| format!("the header {name} of this tool can't be sent: {error}");
            let name: HeaderName = name.parse().map_err(|error| wrong(&error))?;
            let Some(value) = templates::header(template, filling).map_err(|error| wrong(&error))? else {
                headers.remove(name);
                continue;
            };
            let mut value = HeaderValue::from_bytes(value.as_bytes()).map_err(|error| wrong(&error))?;
            let hides = !templates::secrets_of(template).is_empty() || name == header::AUTHORIZATION || name == header::COOKIE;
            value.set_sensitive(hides);
            headers.insert(name, value);
        }
        Ok(headers)
    }

    /// The secrets that are in it.
    fn secrets<'a>(&'a self, known: &'a KnownSecrets) -> Vec<(&'a str, &'a Secret)> {
        let mut names = templates::secrets_of(&self.url);
        names.extend(self.headers.values().flat_map(|value| templates::secrets_of(value)));
        if let Some(body) = &self.body {
            templates::texts_of_body(body, &mut |text, _| names.extend(templates::secrets_of(text)));
        }
        names.into_iter().filter_map(|name| Some((name, known.get(name)?))).collect()
    }
}

/// Sends a request: what the model is given of what came back.
pub(super) async fn outcome(egress: &Egress, request: Outgoing) -> Outcome {
    let only_asks = matches!(request.method, Method::GET | Method::HEAD);
    match egress.send(request).await {
        Ok(answer) => match egress.secrets().await {
            Ok(known) => told(&answer, &known),
            Err(error) => outside::unanswered(&error),
        },
        // Told plainly that it failed, a model would order twice.
        Err(SendError::Unknown(text)) if !only_asks => Outcome::error(format!("{text}; whether the call took effect is not known")),
        Err(error) => outside::unanswered(&error),
    }
}

/// An answer without the secrets in it: a server may say back what it was told.
fn told(answer: &Answer, known: &KnownSecrets) -> Outcome {
    let mut said = said(answer);
    known.redact_json(&mut said);
    // Behind that: half a secret is none that anybody finds.
    if answer.is_cut
        && let Value::String(text) = &mut said
    {
        text.truncate(text.floor_char_boundary(super::OUTPUT_MOST / 2));
        *text = format!("{text} … (longer than {} bytes; the rest was not read)", answer.body.len());
    }
    if answer.status.is_success() {
        return Outcome::completed(if said == "" { json!({"status": answer.status.as_u16()}) } else { super::bounded(said) });
    }
    let error = format!("the server answered {}", answer.status);
    if said == "" {
        return Outcome::error(error);
    }
    Outcome { output: json!({"error": error, "body": bounded_to(said, REFUSAL_BYTES)}), ..Outcome::error("") }
}

/// A body as JSON, or as the text that it is.
fn said(answer: &Answer) -> Value {
    let media_type = answer.content_type.as_deref().unwrap_or("").to_ascii_lowercase();
    let may_be_json = media_type.is_empty() || media_type.contains("json");
    if may_be_json
        && !answer.is_cut
        && let Ok(value) = smartspace_domain::json::parse(answer.body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&answer.body))
    {
        return value;
    }
    // Where it was cut there may be half a character.
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

    fn given(status: u16, content_type: Option<&str>, body: impl Into<Vec<u8>>, is_cut: bool) -> (CallStatus, Value) {
        let answer = Answer {
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
        assert_eq!(given(200, Some("image/png"), [0x89, 0xff], false), (Completed, json!("[2 bytes of image/png, not shown]")));
        let (status, cut) = given(200, json, [b"a".repeat(40_000), vec![0xc3]].concat(), true);
        let cut = cut.as_str().unwrap();
        assert!(status == Completed && cut.len() < 32 * 1024 && cut.ends_with("(longer than 40001 bytes; the rest was not read)"));
    }

    #[test]
    fn an_answer_that_says_no_is_an_error_with_what_it_says() {
        use CallStatus::Failed;
        assert_eq!(given(500, None, "", false), (Failed, json!({"error": "the server answered 500 Internal Server Error"})));
        let body = json!({"error": "the server answered 404 Not Found", "body": {"detail": "no such city"}});
        assert_eq!(given(404, Some("application/problem+json"), r#"{"detail": "no such city"}"#, false), (Failed, body));
        let (_, long) = given(400, Some("text/plain"), "a".repeat(100_000), false);
        assert!(long.to_string().len() < 9_000);
    }
}
