//! What is sent along with each request to a server: what the agent's configuration says, with its secrets, and where the request comes from.

use http::{HeaderMap, HeaderName, HeaderValue};
use smartspace_domain::tools::McpServer;
use smartspace_edges::secrets::KnownSecrets;

/// What belongs to the connection or to the protocol, beside all that begins with `mcp-`: it is left out.
const OURS: [&str; 16] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "idempotency-key",
    "keep-alive",
    "last-event-id",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The headers of a server's configuration, for requests to `host`.
///
/// # Errors
/// A sentence where a secret is missing or may not go there, or where a header is none.
pub(super) fn of(server: &McpServer, host: &str, secrets: &KnownSecrets) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, text) in &server.headers {
        let known = HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("{name:?} is no name of a header"))?;
        if OURS.contains(&known.as_str()) || known.as_str().starts_with("mcp-") {
            continue;
        }
        let (filled, secret) = filled(text, host, secrets)?;
        let mut value = HeaderValue::from_str(&filled).map_err(|_| format!("the value of the header {known} can't be sent"))?;
        value.set_sensitive(secret);
        headers.insert(known, value);
    }
    Ok(headers)
}

/// A text with its secrets, and whether it has any.
fn filled(text: &str, host: &str, secrets: &KnownSecrets) -> Result<(String, bool), String> {
    const MARK: &str = "${secret.";
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(MARK) {
        let Some((name, after)) = after.split_once('}') else { break };
        let secret = secrets.get(name).ok_or_else(|| format!("the secret {name} is not set here"))?;
        if !secret.may_go_to(host) {
            return Err(format!("the secret {name} may not go to {host}"));
        }
        filled.push_str(before);
        filled.push_str(secret.reveal());
        rest = after;
    }
    let has_secrets = rest.len() < text.len();
    filled.push_str(rest);
    Ok((filled, has_secrets))
}
