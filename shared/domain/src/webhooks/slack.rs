//! Slack ("Verifying requests from Slack", docs.slack.dev): `x-slack-signature` over
//! `v0:timestamp:body`.

use std::borrow::Cow;

use serde_json::Value;
use url::form_urlencoded;

use crate::webhooks::{Request, Unverified, Verified, claims};
use crate::{Time, json};

const TIMESTAMP: &str = "x-slack-request-timestamp";
const SIGNATURE: &str = "x-slack-signature";

pub(super) fn verify(
    request: Request<'_>,
    secrets: &[&str],
    now: Time,
) -> Result<Verified, Unverified> {
    let timestamp = claims::header(request, TIMESTAMP)?;
    let claimed = claims::header(request, SIGNATURE)?;
    claims::seconds(TIMESTAMP, timestamp, now)?;
    if !claimed.starts_with("v0=") {
        return Err(Unverified::Malformed { place: SIGNATURE, expected: "v0=<hex>" });
    }
    claims::compare(&[claimed], secrets, |secret| signature(secret, timestamp, request.body))?;

    let id = if is_json(request.body) {
        let event = json::parse(request.body).unwrap_or_default();
        if let Some(challenge) = challenge(&event) {
            return Ok(Verified::Challenge(challenge.to_owned()));
        }
        claims::key_of(&event, "event_id")
    } else {
        trigger_id(request.body)
    };
    let key = id.unwrap_or_else(|| claims::hash(&[timestamp.as_bytes(), b":", request.body]));
    Ok(Verified::Delivery { key, also: None })
}

pub(super) fn sign(secret: &str, body: &[u8], at: Time) -> Vec<(&'static str, String)> {
    let timestamp = at.as_seconds().to_string();
    let Some(signature) = signature(secret, &timestamp, body) else { return Vec::new() };
    vec![(TIMESTAMP, timestamp), (SIGNATURE, signature)]
}

fn signature(secret: &str, timestamp: &str, body: &[u8]) -> Option<String> {
    claims::hmac_hex(secret, &[b"v0:", timestamp.as_bytes(), b":", body])
        .map(|hex| format!("v0={hex}"))
}

/// Whether a body is JSON and not a form. If JSON were parsed as a form, a text that people write
/// (`&trigger_id=…`) could become its key. In a form such text is encoded.
fn is_json(body: &[u8]) -> bool {
    body.trim_ascii_start().first().is_some_and(|first| b"{[\"".contains(first))
}

/// The answer to Slack's check that the URL belongs to its user.
fn challenge(event: &Value) -> Option<&str> {
    if event.get("type")?.as_str()? == "url_verification" {
        event.get("challenge")?.as_str()
    } else {
        None
    }
}

/// The id of a slash command, or of an interaction. An interaction is a form whose field `payload`
/// is JSON.
fn trigger_id(form: &[u8]) -> Option<String> {
    let field = |wanted: &str| {
        form_urlencoded::parse(form).find(|(name, _)| name == wanted).map(|(_, value)| value)
    };
    let of_command = field("trigger_id").map(Cow::into_owned).filter(|id| claims::is_key(id));
    of_command
        .or_else(|| claims::key_of(&json::parse(field("payload")?.as_bytes()).ok()?, "trigger_id"))
}
