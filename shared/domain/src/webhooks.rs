//! Signatures of services' webhooks: whether a request came from who knows the secret, and what tells it from other deliveries.
//!
//! Each way of signing has a file of its own; `claims` has what they share. Signatures are compared as texts, in constant time: whatever is spelt
//! in another way than the service spells it (hex in upper case, another base64) is refused.

mod claims;
mod github;
mod slack;
mod standard;
mod stripe;

use crate::{Time, agents::WebhookScheme};

/// A request of a service, as it came.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// A header by its lower-case name; none also where it is no text or comes twice.
    pub header: &'a dyn Fn(&str) -> Option<&'a str>,
    /// The body, byte for byte.
    pub body: &'a [u8],
}

/// A request whose signature holds.
#[derive(Debug, PartialEq, Eq)]
pub enum Verified {
    /// A delivery.
    Delivery {
        /// What tells it from the service's other ones, the same for each repetition: 1 to 255 visible ASCII characters.
        key: String,
        /// What must be new besides, where the key is not under the signature: who repeats a body under another key brings nothing new. No key
        /// is ever equal to it.
        also: Option<String>,
    },
    /// Slack asks whether this address is ours: answer with this text.
    Challenge(String),
}

/// Why a request's signature does not hold. The text says what was expected, and shows nothing of the request, of a secret, or of the right signature.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unverified {
    /// A header is absent, empty, no text, or comes twice.
    #[error("expected the header {0} once, with a value")]
    Missing(&'static str),
    /// What is there can't be read.
    #[error("expected {expected} in {place}")]
    Malformed {
        /// Where: a header, or "the body".
        place: &'static str,
        /// What was expected there.
        expected: &'static str,
    },
    /// Signed more than five minutes ago.
    #[error("expected a timestamp of the last 5 minutes, got an older one; if the request is new, a clock is wrong")]
    TooOld,
    /// Signed more than five minutes in the future.
    #[error("expected a timestamp of the last 5 minutes, got one that is yet to come: a clock is wrong")]
    TooNew,
    /// No secret gives one of its signatures.
    #[error("expected a signature of the body as it was sent, by a secret of this service")]
    WrongSignature,
    /// There is no secret that could be one of this scheme.
    #[error("expected a secret to check the signature with: this service has none that its scheme can use")]
    NoSecret,
}

/// Whether one of the secrets signed the request, within five minutes of now where the scheme signs a time. A secret that its scheme can't use is skipped.
///
/// # Errors
/// Why it counts as nobody's. That is always the caller's doing, but for [`Unverified::NoSecret`].
pub fn verify(scheme: WebhookScheme, request: Request<'_>, secrets: &[&str], now: Time) -> Result<Verified, Unverified> {
    let usable: Vec<&str> = secrets.iter().copied().filter(|secret| check_secret(scheme, secret).is_ok()).collect();
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

/// Whether a text can be a webhook's secret under this scheme.
///
/// # Errors
/// What is wrong with it, for operators; the text shows nothing of the secret.
pub fn check_secret(scheme: WebhookScheme, secret: &str) -> Result<(), String> {
    if scheme == WebhookScheme::Standard {
        return standard::key(secret).map(drop).ok_or_else(|| {
            "expected whsec_ and base64 of at least one byte; keys of asymmetric signatures (whpk_) are not supported".to_owned()
        });
    }
    // What is pasted into a file often ends with a line break, and then no signature ever fits.
    let is_clean = !secret.is_empty() && secret.trim() == secret && !secret.contains(|c: char| c.is_control());
    if is_clean { Ok(()) } else { Err("expected a text without line breaks, and without blanks at its ends".to_owned()) }
}

/// Signs a body as the service would, and gives the headers to send with it: for tests and examples. The key is the delivery's id; Stripe's and Slack's stand
/// in their bodies, so they ignore it. No headers where the secret, or the body, can't be signed under this scheme.
pub fn sign(scheme: WebhookScheme, secret: &str, key: &str, body: &[u8], at: Time) -> Vec<(&'static str, String)> {
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
