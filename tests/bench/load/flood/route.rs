//! The requests of a service and of a member, as each authenticates.

use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::hmac;
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use crate::product::{Caller, HOOK_SECRET, JWT_SECRET};

/// The route of a caller's requests.
pub(super) enum Route {
    /// A service's webhook; each request has a signature of its own.
    Webhook(String),
    /// A member's post, with a token.
    Post { path: String, token: String },
}

impl Route {
    /// Calls once. A different `number` makes a different request.
    pub(super) async fn call(&self, caller: &Caller, number: u64) -> Result<(u16, Value), String> {
        let body = json!({ "text": format!("This is number {number}.") }).to_string();
        match self {
            Self::Webhook(path) => {
                let id = format!("flood-{number}");
                let signature = format!("sha256={}", hex(&mac(HOOK_SECRET, &body)));
                let headers = [
                    ("x-github-delivery", id.as_str()),
                    ("x-hub-signature-256", signature.as_str()),
                ];
                caller.post(path, &headers, body).await
            }
            Self::Post { path, token } => {
                caller.post(path, &[("authorization", token)], body).await
            }
        }
    }
}

/// The `Authorization` header of an entity: a token (HS256) that is valid for an hour.
pub(crate) fn token(entity: &str) -> String {
    let until = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() + 3_600;
    let encoded = |part: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(part);
    let parts = [json!({ "alg": "HS256", "typ": "JWT" }), json!({ "sub": entity, "exp": until })]
        .map(|part| encoded(part.to_string().as_bytes()));
    let signed = parts.join(".");
    format!("Bearer {signed}.{}", encoded(&mac(JWT_SECRET, &signed)))
}

fn mac(secret: &str, text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), text.as_bytes())
        .as_ref()
        .to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
