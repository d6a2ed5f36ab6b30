//! What is sent along with each request to a server: what the agent's configuration says, with its secrets, and where the request comes from.

use http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE},
};
use serde_json::Value;
use smartspace_domain::{
    templates::{self, Filling},
    tools::McpServer,
};
use smartspace_edges::secrets::KnownSecrets;

use crate::{request::OF_THE_CONNECTION, trail::IDEMPOTENCY_KEY};

/// What belongs to the protocol, beside all that begins with `mcp-`, and to what a call is known by. As what belongs to the connection it is left out.
const OURS: [HeaderName; 5] = [ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, IDEMPOTENCY_KEY, HeaderName::from_static("last-event-id")];

/// The headers of a server's configuration, for requests to `host`.
///
/// # Errors
/// A sentence where a secret is missing or may not go there, or where a header is none.
pub(super) fn of(server: &McpServer, host: &str, secrets: &KnownSecrets) -> Result<HeaderMap, String> {
    let secret = |name: &str| {
        let secret = secrets.get(name).ok_or_else(|| format!("the secret {name} is not set here"))?;
        if !secret.may_go_to(host) {
            return Err(format!("the secret {name} may not go to {host}"));
        }
        Ok(secret.reveal().to_owned())
    };
    let mut headers = HeaderMap::new();
    for (name, text) in &server.headers {
        let known = HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("{name:?} is no name of a header"))?;
        if OURS.contains(&known) || OF_THE_CONNECTION.contains(&known) || known.as_str().starts_with("mcp-") {
            continue;
        }
        let wrong = |error: &dyn std::fmt::Display| format!("the header {known} can't be sent: {error}");
        let filled = templates::header(text, &Filling { input: &Value::Null, secret: &secret }).map_err(|error| wrong(&error))?;
        let Some(filled) = filled else { continue };
        let mut value = HeaderValue::from_str(&filled).map_err(|error| wrong(&error))?;
        value.set_sensitive(!templates::secrets_of(text).is_empty());
        headers.insert(known, value);
    }
    Ok(headers)
}
