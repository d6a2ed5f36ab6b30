//! Signatures of webhooks: whether the sender of a request knows the secret, and which key
//! identifies the delivery.
//!
//! Each signature scheme has its own file, and `claims` holds what they share. Signatures are
//! compared as texts in constant time, so another spelling of the same bytes (upper-case hex,
//! another base64) is refused.

mod claims;
mod github;
mod slack;
mod standard;
mod stripe;

use crate::{Time, agents::WebhookScheme};

/// A request of a service, unchanged.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Returns a header by its lower-case name. `None` also if its value is not text, or if it
    /// appears twice.
    pub header: &'a dyn Fn(&str) -> Option<&'a str>,
    /// The body, byte for byte.
    pub body: &'a [u8],
}

/// A request whose signature is valid.
#[derive(Debug, PartialEq, Eq)]
pub enum Verified {
    /// A delivery.
    Delivery {
        /// The key that identifies the delivery among those of its service. It is the same for each
        /// repetition, and has 1 to 255 visible ASCII characters.
        key: String,
        /// A second key that must be new too, for schemes that do not sign the key. So nobody can
        /// send a signed body again under another key. No `key` ever equals it.
        also: Option<String>,
    },
    /// Slack checks that the URL belongs to its user. The answer is this text.
    Challenge(String),
}

/// Why a signature is not valid. The text says what was expected. It shows no part of the request,
/// of a secret, or of the right signature.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unverified {
    /// A header is absent or empty, is not text, or appears twice.
    #[error("expected the header {0} once, with a value")]
    Missing(&'static str),
    /// A header or the body cannot be parsed.
    #[error("expected {expected} in {place}")]
    Malformed {
        /// The name of the header, or "the body".
        place: &'static str,
        /// What was expected there.
        expected: &'static str,
    },
    /// Signed more than five minutes ago.
    #[error(
        "expected a timestamp of the last 5 minutes, got an older one; \
         if the request is new, a clock is wrong"
    )]
    TooOld,
    /// Signed more than five minutes in the future.
    #[error("expected a timestamp of the last 5 minutes, got one in the future: a clock is wrong")]
    TooNew,
    /// None of the signatures was made with one of the secrets.
    #[error("expected a signature of the unchanged body by a secret of this service")]
    WrongSignature,
    /// None of the secrets can be used with this scheme.
    #[error(
        "expected a secret to check the signature with: \
         this service has none that its scheme can use"
    )]
    NoSecret,
}

/// Checks that a request was signed with one of the secrets, and not more than five minutes ago if
/// the scheme signs a time. Secrets that the scheme cannot use are skipped.
///
/// # Errors
/// Why the signature is not valid. Only [`Unverified::NoSecret`] is not the sender's fault.
pub fn verify(
    scheme: WebhookScheme,
    request: Request<'_>,
    secrets: &[&str],
    now: Time,
) -> Result<Verified, Unverified> {
    let usable: Vec<&str> =
        secrets.iter().copied().filter(|secret| check_secret(scheme, secret).is_ok()).collect();
    if usable.is_empty() {
        return Err(Unverified::NoSecret);
    }
    match scheme {
        WebhookScheme::Standard => standard::verify(request, &usable, now),
        WebhookScheme::Github => github::verify(request, &usable),
        WebhookScheme::Stripe => stripe::verify(request, &usable, now),
        WebhookScheme::Slack => slack::verify(request, &usable, now),
    }
}

/// Checks that a text can be a secret of this scheme.
///
/// # Errors
/// What is wrong with it, for operators. The text shows no part of the secret.
pub fn check_secret(scheme: WebhookScheme, secret: &str) -> Result<(), String> {
    if scheme == WebhookScheme::Standard {
        return standard::key(secret).map(drop).ok_or_else(|| {
            "expected whsec_ and base64 of at least one byte; \
             keys of asymmetric signatures (whpk_) are not supported"
                .to_owned()
        });
    }
    // A secret that is pasted into a file often ends with a line break, and then no signature is
    // valid.
    let is_clean =
        !secret.is_empty() && secret.trim() == secret && !secret.contains(|c: char| c.is_control());
    if is_clean {
        Ok(())
    } else {
        Err("expected a text without line breaks, and without blanks at its ends".to_owned())
    }
}

/// Signs a body as the service would, for tests and examples. Returns the headers to send with it.
///
/// `key` is the delivery's id. Stripe and Slack ignore it, because they put the id into the body.
/// Returns no headers if the scheme cannot use the secret or the body.
pub fn sign(
    scheme: WebhookScheme,
    secret: &str,
    key: &str,
    body: &[u8],
    at: Time,
) -> Vec<(&'static str, String)> {
    if check_secret(scheme, secret).is_err() {
        return Vec::new();
    }
    match scheme {
        WebhookScheme::Standard => standard::sign(secret, key, body, at),
        WebhookScheme::Github => github::sign(secret, key, body),
        WebhookScheme::Stripe => stripe::sign(secret, body, at),
        WebhookScheme::Slack => slack::sign(secret, body, at),
    }
}

#[cfg(test)]
mod tests;
