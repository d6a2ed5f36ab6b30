//! The checks of configured headers.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    errors::Faults,
    templates::{self, TemplatePosition},
};

/// The fault of a name that is not the only one of its kind.
pub(crate) const DUPLICATE: &str = "expected each name only once";

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

/// Adds all faults of the field `headers`.
pub(crate) fn check_headers(
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

/// Adds the fault of a template, if it has one.
pub(crate) fn check_text(text: &str, position: TemplatePosition, field: &str, faults: &mut Faults) {
    if let Some(fault) = templates::fault_of(text, position) {
        faults.check(false, field, fault);
    }
}
