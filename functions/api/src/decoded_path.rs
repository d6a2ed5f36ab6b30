//! Paths as API Gateway hands them on: decoded, but for `%25`. A router wants them as they were sent.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// What can't stand in a path as it is. `%` is looked at by itself.
const ODD: &AsciiSet = &CONTROLS
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

/// The path as it was sent, as far as our routes tell the difference: the keys of what an agent keeps are the only segments that may hold a `/`.
pub fn as_sent(decoded: &str) -> String {
    let segments: Vec<&str> = decoded.splitn(6, '/').collect();
    let path = match segments[..] {
        ["", "v1", "agents", agent, kept @ ("memories" | "goals"), key] => format!("/v1/agents/{agent}/{kept}/{}", key.replace('/', "%2F")),
        _ => decoded.to_owned(),
    };
    let mut sent = String::with_capacity(path.len());
    let mut rest = path.as_str();
    while let Some(place) = rest.find('%') {
        let is_escape = rest.as_bytes().get(place + 1..place + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        sent.extend(utf8_percent_encode(&rest[..place], ODD));
        sent.push_str(if is_escape { "%" } else { "%25" });
        rest = &rest[place + 1..];
    }
    sent.extend(utf8_percent_encode(rest, ODD));
    sent
}

#[cfg(test)]
mod tests {
    use axum::http::Uri;

    use super::*;

    #[test]
    fn what_a_path_held_is_there_again() {
        let agent = "/v1/agents/ent_01M7XDR3CMBCB1KEN4SY5W6Q5B";
        for (decoded, sent) in [
            ("/", "/"),
            ("/v1/spaces/spc_1/messages", "/v1/spaces/spc_1/messages"),
            (&format!("{agent}/memories"), &format!("{agent}/memories")),
            (&format!("{agent}/memories/who asks? #1/ä%25%zz"), &format!("{agent}/memories/who%20asks%3F%20%231%2F%C3%A4%25%25zz")),
            (&format!("{agent}/goals//"), &format!("{agent}/goals/%2F")),
            (&format!("{agent}/plans/a/b"), &format!("{agent}/plans/a/b")),
            ("/\u{0}\r\n{}%", "/%00%0D%0A%7B%7D%25"),
            ("no slash", "no%20slash"),
        ] {
            assert_eq!(as_sent(decoded), *sent, "{decoded}");
            // Whatever a stranger sends is an address: what builds the request from it would panic otherwise.
            assert!(format!("https://a.test{}", as_sent(decoded)).parse::<Uri>().is_ok() || !decoded.starts_with('/'), "{decoded}");
        }
    }
}
