//! Restores request paths. API Gateway passes them decoded, except for `%25`; the router needs them
//! as they were sent.

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

/// Encodes a decoded path again. The result may differ from the path that was sent, but no route
/// sees a difference. Only the keys of memories and the ids of goals may contain a `/`.
pub fn as_sent(decoded: &str) -> String {
    let segments: Vec<&str> = decoded.splitn(6, '/').collect();
    let path = match segments[..] {
        ["", "v1", "agents", agent, kind @ ("memories" | "goals"), key] => {
            format!("/v1/agents/{agent}/{kind}/{}", key.replace('/', "%2F"))
        }
        _ => decoded.to_owned(),
    };
    let mut sent = String::with_capacity(path.len());
    let mut rest = path.as_str();
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
    fn a_decoded_path_is_encoded_again() {
        let agent = "/v1/agents/ent_01M7XDR3CMBCB1KEN4SY5W6Q5B";
        for (decoded, sent) in [
            ("/", "/"),
            ("/v1/spaces/spc_1/messages", "/v1/spaces/spc_1/messages"),
            (&format!("{agent}/memories"), &format!("{agent}/memories")),
            (
                &format!("{agent}/memories/who asks? #1/ä%25%zz"),
                &format!("{agent}/memories/who%20asks%3F%20%231%2F%C3%A4%25%25zz"),
            ),
            (&format!("{agent}/goals//"), &format!("{agent}/goals/%2F")),
            (&format!("{agent}/plans/a/b"), &format!("{agent}/plans/a/b")),
            ("/\u{0}\r\n{}%", "/%00%0D%0A%7B%7D%25"),
            ("no slash", "no%20slash"),
        ] {
            assert_eq!(as_sent(decoded), *sent, "{decoded}");
            // The result must always be a valid URI: the code that builds the request would panic
            // otherwise.
            assert!(
                format!("https://a.test{}", as_sent(decoded)).parse::<Uri>().is_ok()
                    || !decoded.starts_with('/'),
                "{decoded}"
            );
        }
    }
}
