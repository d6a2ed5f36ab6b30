//! The checks of configured requests: URLs, headers and bodies.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use url::Url;

use super::DUPLICATE;
use crate::{
    errors::Faults,
    templates::{self, TemplatePosition},
};

/// The longest configured body of a request, in bytes of JSON.
const BODY_BYTES: usize = 64 * 1024;

/// Headers that a configuration may not set: they belong to the connection, or Smartspace sets them
/// to identify the call.
const RESERVED_HEADERS: [&str; 13] = [
    "accept-encoding",
    "connection",
    "content-length",
    "host",
    "idempotency-key",
    "keep-alive",
    "proxy-authorization",
    "smartspace-chain-depth",
    "te",
    "traceparent",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Adds all faults of a URL. Scheme and host hold no placeholders, because an input must not choose
/// the server that a request goes to.
pub(super) fn check_url(url: &str, position: TemplatePosition, faults: &mut Faults) {
    let base = templates::base_of(url);
    let host = base.strip_prefix("https://").or_else(|| base.strip_prefix("http://"));
    let fine = host.is_some_and(|host| !host.contains(['{', '$', ' ', '@', '\\']))
        && Url::parse(base).is_ok();
    faults.check(
        fine && url.len() <= 2_048,
        "url",
        "expected http:// or https:// and a host without placeholders",
    );
    // Some URL parsers read a backslash as a slash, and drop line breaks.
    let is_plain = !url.contains('\\') && !url.contains(char::is_control);
    faults.check(is_plain, "url", "expected no backslash and no control characters");
    check_text(url, position, "url", faults);
}

pub(super) fn check_headers(
    headers: &BTreeMap<String, String>,
    position: TemplatePosition,
    faults: &mut Faults,
) {
    faults.within("headers", |faults| {
        let mut names = BTreeSet::new();
        for (name, value) in headers {
            faults.check(names.insert(name.to_ascii_lowercase()), name, DUPLICATE);
            let fine = !name.is_empty()
                && name
                    .chars()
                    .all(|char| char.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(char));
            faults.check(
                fine && !value.contains(char::is_control),
                name,
                "expected a header's name and value",
            );
            let is_reserved =
                RESERVED_HEADERS.iter().any(|reserved| reserved.eq_ignore_ascii_case(name));
            faults.check(
                !is_reserved,
                name,
                "expected another header: Smartspace or the connection sets this one",
            );
            check_text(value, position, name, faults);
        }
    });
}

fn check_text(text: &str, position: TemplatePosition, field: &str, faults: &mut Faults) {
    if let Some(fault) = templates::fault_of(text, position) {
        faults.check(false, field, fault);
    }
}

pub(super) fn check_body(body: &Value, faults: &mut Faults) {
    faults.check(
        body.to_string().len() <= BODY_BYTES,
        "body",
        format!("expected at most {BODY_BYTES} bytes"),
    );
    templates::texts_of_body(body, &mut |text, is_name| check_body_text(text, is_name, faults));
}

fn check_body_text(text: &str, is_name: bool, faults: &mut Faults) {
    if is_name {
        let fine = !text.contains("{{") && !text.contains("${secret.");
        faults.check(fine, "body", "expected no placeholder in the name of a field");
    } else {
        check_text(text, TemplatePosition::Value, "body", faults);
    }
}
