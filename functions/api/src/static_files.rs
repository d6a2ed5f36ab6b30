//! Public files: the console and the description of the API. `build.rs` has compressed them, so a
//! request costs no more than its bytes.

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderValue, Response, StatusCode, header},
    response::IntoResponse,
};

include!(concat!(env!("OUT_DIR"), "/static_files.rs"));

pub(crate) struct StaticFile {
    pub(crate) name: &'static str,
    content_type: &'static str,
    /// A hash of the content.
    tag: &'static str,
    plain: &'static [u8],
    /// `None` for a small file.
    gzip: Option<&'static [u8]>,
}

impl StaticFile {
    /// The answer to a request with these headers. Caches may store it as `caching` says.
    pub(crate) fn answer(&self, request: &HeaderMap, caching: &'static str) -> Response<Body> {
        let compressed = self.gzip.filter(|_| accepts_gzip(request));
        let form = if compressed.is_some() { "-gzip" } else { "" };
        let mut headers = HeaderMap::new();
        // Each form has a tag of its own (RFC 9110, 8.8.3).
        if let Ok(tag) = HeaderValue::from_str(&format!("\"{}{form}\"", self.tag)) {
            headers.insert(header::ETAG, tag);
        }
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        if self.is_cached(request) {
            return (StatusCode::NOT_MODIFIED, headers).into_response();
        }
        if compressed.is_some() {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        (headers, Bytes::from_static(compressed.unwrap_or(self.plain))).into_response()
    }

    /// Whether the client already has a form of the file (RFC 9110, 13.1.2). Weak tags match too: a
    /// proxy that compresses makes tags weak.
    fn is_cached(&self, request: &HeaderMap) -> bool {
        let is_ours = |tag: &str| {
            let tag = tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"'));
            tag.is_some_and(|tag| tag.strip_suffix("-gzip").unwrap_or(tag) == self.tag)
        };
        members(request, &header::IF_NONE_MATCH)
            .any(|tag| tag == "*" || is_ours(tag.trim_start_matches("W/")))
    }
}

/// Whether the client takes gzip. A client that does not say gets the plain form, although it may
/// take any (RFC 9110, 12.5.3): many such clients show or store what they get.
pub(crate) fn accepts_gzip(request: &HeaderMap) -> bool {
    let weight = |name: &str| {
        members(request, &header::ACCEPT_ENCODING).find_map(|member| {
            let (coding, parameters) = member.split_once(';').unwrap_or((member, ""));
            if !coding.trim().eq_ignore_ascii_case(name) {
                return None;
            }
            let weight = parameters.trim().strip_prefix("q=");
            Some(weight.map_or(1.0, |weight| weight.parse::<f32>().unwrap_or(0.0)))
        })
    };
    weight("gzip").or_else(|| weight("*")).is_some_and(|weight| weight > 0.0)
}

/// The members of a header that is a list.
pub(crate) fn members<'a>(
    headers: &'a HeaderMap,
    name: &header::HeaderName,
) -> impl Iterator<Item = &'a str> {
    let lists = headers.get_all(name).into_iter().filter_map(|list| list.to_str().ok());
    lists.flat_map(|list| list.split(',')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;

    fn answered(name: &str, value: &str) -> Response<Body> {
        let request = HeaderMap::from_iter([(
            name.parse::<header::HeaderName>().unwrap(),
            HeaderValue::from_str(value).unwrap(),
        )]);
        DESCRIPTION.answer(&request, "public, max-age=300")
    }

    #[test]
    fn gzip_is_for_those_who_take_it() {
        let takes = |accepted: &str| answered("accept-encoding", accepted).headers().clone();
        for accepted in ["gzip", "br, GZIP;q=0.5", "*", "deflate, gzip;q=1.0, *;q=0.1"] {
            assert_eq!(takes(accepted)["content-encoding"], "gzip", "{accepted}");
        }
        for refused in ["", "identity", "br", "gzip;q=0", "*;q=0", "gzip;q=0, *", "xgzip"] {
            let headers = takes(refused);
            assert_eq!(headers.get("content-encoding"), None, "{refused}");
            assert_eq!(headers["vary"], "accept-encoding");
        }
    }

    #[tokio::test]
    async fn the_plain_form_is_the_whole_description_and_the_other_much_shorter() {
        let length = async |accepted| {
            let body = answered("accept-encoding", accepted).into_body();
            to_bytes(body, usize::MAX).await.unwrap()
        };
        let plain = length("identity").await;
        let committed = include_bytes!("../../../docs/reference/openapi.json");
        let parsed = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).unwrap();
        assert_eq!(parsed(&plain), parsed(committed));
        assert!(plain.len() < committed.len());
        assert!(length("gzip").await.len() * 5 < plain.len());
    }

    #[test]
    fn a_client_that_has_either_form_gets_no_body() {
        let tag = DESCRIPTION.tag;
        for known in [
            format!("\"{tag}\""),
            format!("\"{tag}-gzip\""),
            format!("\"x\", W/\"{tag}\""),
            "*".to_owned(),
        ] {
            let answer = answered("if-none-match", &known);
            assert_eq!(answer.status(), 304, "{known}");
            assert_eq!(answer.headers()["cache-control"], "public, max-age=300");
        }
        for unknown in ["\"x\"", tag, ""] {
            assert_eq!(answered("if-none-match", unknown).status(), 200, "{unknown}");
        }
    }
}
