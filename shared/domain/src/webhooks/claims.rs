//! Code that all schemes share: it parses the claims of a request, and compares its signatures with
//! those of the secrets.

use std::fmt::Write as _;

use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

use crate::Time;
use crate::webhooks::{Request, Unverified};

/// How many seconds a timestamp may be in the past or in the future.
const TOLERANCE: i64 = 300;
/// How many entries a header of signatures may have. Services send one for each secret, and have
/// two secrets while one replaces the other.
const MOST_SIGNATURES: usize = 32;

/// The header with this name.
pub(super) fn header<'a>(request: Request<'a>, name: &'static str) -> Result<&'a str, Unverified> {
    (request.header)(name).filter(|value| !value.is_empty()).ok_or(Unverified::Missing(name))
}

/// The entries of a header of signatures, split at `separator`.
pub(super) fn entries<'a>(
    place: &'static str,
    value: &'a str,
    separator: char,
) -> Result<Vec<&'a str>, Unverified> {
    let entries: Vec<&str> = value.split(separator).take(MOST_SIGNATURES + 1).collect();
    if entries.len() > MOST_SIGNATURES {
        return Err(Unverified::Malformed { place, expected: "at most 32 signatures" });
    }
    Ok(entries)
}

/// A timestamp in seconds, not too far from now. It has only digits and no leading zeros: it is
/// signed as text, so each time must have only one spelling.
pub(super) fn seconds(place: &'static str, text: &str, now: Time) -> Result<i64, Unverified> {
    let is_plain =
        text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    let seconds: Option<i64> = if is_plain { text.parse().ok() } else { None };
    let seconds = seconds.ok_or(Unverified::Malformed {
        place,
        expected: "a timestamp in whole seconds since 1970",
    })?;
    let age = now.as_seconds().saturating_sub(seconds);
    match age {
        _ if age > TOLERANCE => Err(Unverified::TooOld),
        _ if age < -TOLERANCE => Err(Unverified::TooNew),
        _ => Ok(seconds),
    }
}

/// Checks that one of the signatures was made with one of the secrets. The time that this takes
/// does not depend on how much of a signature is right.
pub(super) fn compare(
    signatures: &[&str],
    secrets: &[&str],
    signature: impl Fn(&str) -> Option<String>,
) -> Result<(), Unverified> {
    let mut found = Choice::from(0);
    for right in secrets.iter().filter_map(|secret| signature(secret)) {
        for claimed in signatures {
            found |= claimed.as_bytes().ct_eq(right.as_bytes());
        }
    }
    if found.into() { Ok(()) } else { Err(Unverified::WrongSignature) }
}

/// The HMAC-SHA256 of the joined parts, in lower-case hex.
pub(super) fn hmac_hex(secret: &str, parts: &[&[u8]]) -> Option<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok()?;
    for part in parts {
        mac.update(part);
    }
    Some(hex(&mac.finalize().into_bytes()))
}

/// The SHA-256 of the joined parts, in lower-case hex.
pub(super) fn hash(parts: &[&[u8]]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part);
    }
    hex(&digest.finalize())
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Whether a text can be the key of a delivery: 1 to 255 visible ASCII characters.
pub(super) fn is_key(text: &str) -> bool {
    (1..=255).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// A field of a JSON object, if it can be the key of a delivery.
pub(super) fn key_of(json: &Value, field: &str) -> Option<String> {
    json.get(field)?.as_str().filter(|text| is_key(text)).map(str::to_owned)
}
