//! The checks of configured requests: URLs and bodies.

use serde_json::Value;
use url::Url;

use crate::{
    errors::Faults,
    headers::check_text,
    templates::{self, TemplatePosition},
};

/// The longest configured body of a request, in bytes of JSON.
const BODY_BYTES: usize = 64 * 1024;

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
