//! Standard Webhooks 1.0 (`spec/standard-webhooks.md` in
//! github.com/standard-webhooks/standard-webhooks): `webhook-signature` over `id.timestamp.body`.
//!
//! The authors' library makes the signatures. Its own check is not used, because it reads the
//! system's clock, and accepts more than one spelling of a timestamp.

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use standardwebhooks::Webhook;

use crate::Time;
use crate::webhooks::{Request, Unverified, Verified, claims};

/// The names of the three headers.
struct HeaderNames {
    id: &'static str,
    timestamp: &'static str,
    signature: &'static str,
}

const NAMES: HeaderNames = HeaderNames {
    id: "webhook-id",
    timestamp: "webhook-timestamp",
    signature: "webhook-signature",
};
/// The names that Svix sends, where the scheme comes from, unless a customer asks for the
/// standard's names. Its libraries accept both.
const SVIX_NAMES: HeaderNames =
    HeaderNames { id: "svix-id", timestamp: "svix-timestamp", signature: "svix-signature" };

/// Padding is optional, because some services show their secrets without it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The bytes of a secret. `None` if it is not a secret of this scheme, or is empty: anyone could
/// sign with an empty secret.
pub(super) fn key(secret: &str) -> Option<Vec<u8>> {
    let key = BASE64.decode(secret.strip_prefix("whsec_").unwrap_or(secret)).ok()?;
    (!key.is_empty()).then_some(key)
}

pub(super) fn verify(
    request: Request<'_>,
    secrets: &[&str],
    now: Time,
) -> Result<Verified, Unverified> {
    let names = names(request);
    let id = claims::header(request, names.id)?;
    let timestamp = claims::header(request, names.timestamp)?;
    let signatures = claims::header(request, names.signature)?;
    // The specification allows no `.` in an id: with one, the same signed text could be split into
    // another id, time and body.
    if !claims::is_key(id) || id.contains('.') {
        return Err(Unverified::Malformed {
            place: names.id,
            expected: "1 to 255 visible ASCII characters without a full stop",
        });
    }
    let seconds = claims::seconds(names.timestamp, timestamp, now)?;
    let entries = claims::entries(names.signature, signatures, ' ')?;
    let signatures: Vec<&str> =
        entries.into_iter().filter(|entry| entry.starts_with("v1,")).collect();
    if signatures.is_empty() {
        return Err(Unverified::Malformed { place: names.signature, expected: "v1,<base64>" });
    }
    if std::str::from_utf8(request.body).is_err() {
        return Err(Unverified::Malformed { place: "the body", expected: "UTF-8" });
    }
    claims::compare(&signatures, secrets, |secret| signature(secret, id, seconds, request.body))?;
    Ok(Verified::Delivery { key: id.to_owned(), also: None })
}

pub(super) fn sign(secret: &str, id: &str, body: &[u8], at: Time) -> Vec<(&'static str, String)> {
    let Some(signature) = signature(secret, id, at.as_seconds(), body) else { return Vec::new() };
    vec![
        (NAMES.id, id.to_owned()),
        (NAMES.timestamp, at.as_seconds().to_string()),
        (NAMES.signature, signature),
    ]
}

/// The names that the request uses. They are never mixed: if there is any header with a standard
/// name, those of Svix are ignored.
fn names(request: Request<'_>) -> HeaderNames {
    let has_any = |names: &HeaderNames| {
        [names.id, names.timestamp, names.signature]
            .iter()
            .any(|name| (request.header)(name).is_some())
    };
    if !has_any(&NAMES) && has_any(&SVIX_NAMES) { SVIX_NAMES } else { NAMES }
}

/// `v1,<base64>`. `None` if the body is not UTF-8.
fn signature(secret: &str, id: &str, seconds: i64, body: &[u8]) -> Option<String> {
    Webhook::from_bytes(key(secret)?).ok()?.sign(id, seconds, body).ok()
}
