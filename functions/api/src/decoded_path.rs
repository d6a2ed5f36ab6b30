//! Restores request paths. API Gateway passes them decoded, except for `%25`; the router needs them
//! as they were sent.

use smartspace_web::encoded;

/// Encodes a decoded path again. The result may differ from the path that was sent, but no route
/// sees a difference. Only the keys of memories and the ids of goals may contain a `/`.
pub fn as_sent(decoded: &str) -> String {
    let segments: Vec<&str> = decoded.splitn(6, '/').collect();
    match segments[..] {
        ["", "v1", "agents", agent, kind @ ("memories" | "goals"), key] => {
            encoded(&format!("/v1/agents/{agent}/{kind}/{}", key.replace('/', "%2F")))
        }
        _ => encoded(decoded),
    }
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
