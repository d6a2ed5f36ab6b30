//! Encodes request paths again. API Gateway passes them decoded, except for `%25`.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// Characters that must be encoded in a path. `%` is handled separately.
const ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'{')
    .add(b'}')
    .add(b'\\')
    .add(b'^')
    .add(b'|')
    .add(b'[')
    .add(b']');

/// Encodes a decoded path again, so that it is a valid path of a URI.
pub fn encoded(path: &str) -> String {
    let mut sent = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(percent) = rest.find('%') {
        let is_escape = rest
            .as_bytes()
            .get(percent + 1..percent + 3)
            .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        sent.extend(utf8_percent_encode(&rest[..percent], ENCODED));
        sent.push_str(if is_escape { "%" } else { "%25" });
        rest = &rest[percent + 1..];
    }
    sent.extend(utf8_percent_encode(rest, ENCODED));
    sent
}

#[cfg(test)]
mod tests {
    use axum::http::Uri;

    use super::*;

    #[test]
    fn a_decoded_path_becomes_a_valid_uri() {
        for (decoded, sent) in [
            ("/", "/"),
            ("/v1/spaces/spc_1/messages", "/v1/spaces/spc_1/messages"),
            ("/who asks? #1%2F\u{e4}%25%zz", "/who%20asks%3F%20%231%2F%C3%A4%25%25zz"),
            ("/\u{0}\r\n{}%", "/%00%0D%0A%7B%7D%25"),
        ] {
            assert_eq!(encoded(decoded), *sent, "{decoded}");
            // The code that builds the request would panic otherwise.
            assert!(format!("https://a.test{}", encoded(decoded)).parse::<Uri>().is_ok());
        }
        assert_eq!(encoded("no slash"), "no%20slash");
    }
}
