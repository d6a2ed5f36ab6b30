//! The headers from a server's configuration, with their secrets filled in.

use http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE},
};
use serde_json::Value;
use smartspace_domain::{
    templates::{self, PlaceholderValues},
    tools::McpServer,
};
use smartspace_ports::secrets::KnownSecrets;

use crate::{exchange::CONNECTION_HEADERS, trace_context::IDEMPOTENCY_KEY};

/// Headers that the MCP client sets itself, in addition to all names that start with `mcp-`. A
/// configuration can't set them, just like the headers of the connection.
const CLIENT_HEADERS: [HeaderName; 5] = [
    ACCEPT,
    CONTENT_ENCODING,
    CONTENT_TYPE,
    IDEMPOTENCY_KEY,
    HeaderName::from_static("last-event-id"),
];

/// The headers of a server's configuration, for requests to `host`.
///
/// # Errors
/// A text if a secret is missing or may not go to the host, or if a header is invalid.
pub(super) fn of(
    server: &McpServer,
    host: &str,
    secrets: &KnownSecrets,
) -> Result<HeaderMap, String> {
    let secret = |name: &str| secrets.value_for(name, host).map(str::to_owned);
    let mut headers = HeaderMap::new();
    for (name, text) in &server.headers {
        let known = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| format!("{name:?} is not a valid header name"))?;
        if CLIENT_HEADERS.contains(&known)
            || CONNECTION_HEADERS.contains(&known)
            || known.as_str().starts_with("mcp-")
        {
            continue;
        }
        let invalid =
            |error: &dyn std::fmt::Display| format!("the header {known} can't be sent: {error}");
        let filled =
            templates::header(text, &PlaceholderValues { input: &Value::Null, secret: &secret })
                .map_err(|error| invalid(&error))?;
        let Some(filled) = filled else { continue };
        let mut value = HeaderValue::from_str(&filled).map_err(|error| invalid(&error))?;
        value.set_sensitive(!templates::secrets_of(text).is_empty());
        headers.insert(known, value);
    }
    Ok(headers)
}
