//! The signature schemes of webhooks.

use aws_lc_rs::hmac;
use base64::{Engine, prelude::BASE64_STANDARD};

use crate::support::{
    tokens::in_seconds,
    webhook_senders::{SECRET, sample_payload},
};

/// A way of signing requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Standard,
    Github,
    Stripe,
    Slack,
}

pub(crate) const SCHEMES: [Scheme; 4] =
    [Scheme::Standard, Scheme::Github, Scheme::Stripe, Scheme::Slack];

/// A signed webhook request. Tests may change it before they send it.
#[derive(Clone, Debug)]
pub(crate) struct SignedRequest {
    /// The headers. The last one is the signature.
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

impl Scheme {
    /// The name of the scheme in an agent's configuration, and of the service that uses it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Github => "github",
            Self::Stripe => "stripe",
            Self::Slack => "slack",
        }
    }

    /// A sample request, signed now. The scheme decides where the delivery key is: in a header or
    /// in the body.
    pub(crate) fn signed(self, key: &str) -> SignedRequest {
        self.signed_with(SECRET, key, sample_payload(key).to_string().as_bytes(), in_seconds(0))
    }

    /// A request with any body, signed with a secret at a time in seconds since 1970.
    pub(crate) fn signed_with(
        self,
        secret: &str,
        key: &str,
        body: &[u8],
        at: i64,
    ) -> SignedRequest {
        let time = at.to_string();
        let headers = match self {
            Self::Standard => {
                let secret =
                    BASE64_STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
                let signature = BASE64_STANDARD
                    .encode(mac(&secret, &[key.as_bytes(), b".", time.as_bytes(), b".", body]));
                vec![
                    ("webhook-id", key.to_owned()),
                    ("webhook-timestamp", time),
                    ("webhook-signature", format!("v1,{signature}")),
                ]
            }
            Self::Github => {
                let signature = hex(&mac(secret.as_bytes(), &[body]));
                vec![
                    ("x-github-delivery", key.to_owned()),
                    ("x-hub-signature-256", format!("sha256={signature}")),
                ]
            }
            Self::Stripe => {
                let signature = hex(&mac(secret.as_bytes(), &[time.as_bytes(), b".", body]));
                vec![("stripe-signature", format!("t={time},v1={signature}"))]
            }
            Self::Slack => {
                let signature =
                    hex(&mac(secret.as_bytes(), &[b"v0:", time.as_bytes(), b":", body]));
                vec![
                    ("x-slack-request-timestamp", time),
                    ("x-slack-signature", format!("v0={signature}")),
                ]
            }
        };
        SignedRequest { headers, body: body.to_vec() }
    }
}

impl SignedRequest {
    /// The same request with one more header.
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }
}

fn mac(secret: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), &parts.concat()).as_ref().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
