//! Keeps answers out of caches, and browsers from guessing their types.

use axum::{
    body::Body,
    http::{HeaderValue, Response, header},
};

/// Adds the headers of an answer for one caller. A route whose answer may be stored says `public`
/// or `private` itself.
pub fn with_privacy(mut response: Response<Body>) -> Response<Body> {
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let has_own = headers
        .get(header::CACHE_CONTROL)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.starts_with("public") || value.starts_with("private"));
    // Streams of events come with `no-cache`, which lets a cache store them.
    if !has_own {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_that_says_so_is_stored() {
        for (own, sent) in [
            ("", "no-store"),
            ("no-cache", "no-store"),
            ("public, max-age=300", "public, max-age=300"),
            ("private, max-age=900", "private, max-age=900"),
        ] {
            let mut response = Response::new(Body::empty());
            if !own.is_empty() {
                response.headers_mut().insert(header::CACHE_CONTROL, own.parse().unwrap());
            }
            let response = with_privacy(response);
            assert_eq!(response.headers()[header::CACHE_CONTROL], sent);
            assert_eq!(response.headers()[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
        }
    }
}
