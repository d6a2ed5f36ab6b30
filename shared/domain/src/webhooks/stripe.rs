//! Stripe ("Verify webhook signatures manually", docs.stripe.com): `stripe-signature: t=…,v1=…`
//! over `t.body`. Versions other than `v1` are ignored; Stripe sends a fake `v0` to test that. The
//! secret is used as Stripe shows it, with its `whsec_`.

use crate::webhooks::{Request, Unverified, Verified, claims};
use crate::{Time, json};

const SIGNATURE: &str = "stripe-signature";

pub(super) fn verify(
    request: Request<'_>,
    secrets: &[&str],
    now: Time,
) -> Result<Verified, Unverified> {
    let malformed = Unverified::Malformed { place: SIGNATURE, expected: "t=<seconds>,v1=<hex>" };
    let mut timestamps = Vec::new();
    let mut signatures = Vec::new();
    for entry in claims::entries(SIGNATURE, claims::header(request, SIGNATURE)?, ',')? {
        match entry.split_once('=') {
            Some(("t", timestamp)) => timestamps.push(timestamp),
            Some(("v1", signature)) => signatures.push(signature),
            _ => {}
        }
    }
    let [timestamp] = timestamps[..] else { return Err(malformed) };
    if signatures.is_empty() {
        return Err(malformed);
    }
    claims::seconds(SIGNATURE, timestamp, now)?;
    claims::compare(&signatures, secrets, |secret| signature(secret, timestamp, request.body))?;
    let id = json::parse(request.body).ok().and_then(|event| claims::key_of(&event, "id"));
    Ok(Verified::Delivery { key: id.unwrap_or_else(|| claims::hash(&[request.body])), also: None })
}

pub(super) fn sign(secret: &str, body: &[u8], at: Time) -> Vec<(&'static str, String)> {
    let timestamp = at.as_seconds().to_string();
    let Some(signature) = signature(secret, &timestamp, body) else { return Vec::new() };
    vec![(SIGNATURE, format!("t={timestamp},v1={signature}"))]
}

fn signature(secret: &str, timestamp: &str, body: &[u8]) -> Option<String> {
    claims::hmac_hex(secret, &[timestamp.as_bytes(), b".", body])
}
