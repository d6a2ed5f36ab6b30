//! Compresses long answers, and sends none to a client that has it already. A page of messages
//! becomes a fifth as long, which is most of what the console waits for on a slow network.
//!
//! The tag of an answer is a hash of what it says, so it is weak: the same for all its encodings.
//! Answers with the same content have the same tag, also those to different queries.
//!
//! An answer that holds a secret beside text that others choose must not become shorter when that
//! text repeats the secret: its length would show it to whoever sees the encrypted connection
//! (BREACH). Only those who make secrets see them, with `POST`, so only answers to `GET` are
//! compressed, and of these not the ones that are [`Uncompressed`].

use std::io::Write;

use axum::{
    body::{Body, HttpBody, to_bytes},
    extract::Request,
    http::{HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::Response,
};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use flate2::{Compression, write::GzEncoder};
use sha2::{Digest, Sha256};

use crate::static_files::{accepts_gzip, members};

/// A shorter answer needs one packet anyway.
const SHORTEST_BYTES: u64 = 1024;
const LEVEL: u32 = 3;
/// So many bytes of a hash that no two answers of a client share them.
const TAG_BYTES: usize = 16;

/// Says, as an extension of an answer, that the answer holds a secret.
#[derive(Clone, Copy)]
pub(crate) struct Uncompressed;

/// Compresses a long answer in JSON for a client that takes gzip, and leaves it out for a client
/// that has it.
pub(crate) async fn compress(request: Request, next: Next) -> Response {
    let is_read = request.method() == Method::GET;
    let takes_gzip = accepts_gzip(request.headers());
    let known: Vec<_> =
        members(request.headers(), &header::IF_NONE_MATCH).map(ToOwned::to_owned).collect();
    let response = next.run(request).await;
    if is_read && is_compressible(&response) {
        shortened(response, takes_gzip, &known).await
    } else {
        response
    }
}

/// Whether the answer is long JSON without a secret. Files have their own form for each encoding,
/// with a tag, and streams have no length.
fn is_compressible(response: &Response) -> bool {
    let headers = response.headers();
    let is_json =
        headers.get(header::CONTENT_TYPE).is_some_and(|it| it.as_bytes() == b"application/json");
    is_json
        && response.status() == StatusCode::OK
        && response.body().size_hint().exact().is_some_and(|bytes| bytes >= SHORTEST_BYTES)
        && !headers.contains_key(header::CONTENT_ENCODING)
        && !headers.contains_key(header::ETAG)
        && response.extensions().get::<Uncompressed>().is_none()
}

/// The answer for a client that has what these tags name.
async fn shortened(response: Response, takes_gzip: bool, known: &[String]) -> Response {
    let (mut parts, body) = response.into_parts();
    // All of it is in memory already.
    let Ok(plain) = to_bytes(body, usize::MAX).await else {
        return Response::from_parts(parts, Body::empty());
    };
    let headers = &mut parts.headers;
    headers.append(header::VARY, HeaderValue::from_static("accept-encoding"));
    let tag = tag(&plain);
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    if known.contains(&tag) {
        headers.remove(header::CONTENT_TYPE);
        headers.remove(header::CONTENT_LENGTH);
        parts.status = StatusCode::NOT_MODIFIED;
        return Response::from_parts(parts, Body::empty());
    }
    let gzip = if takes_gzip { gzip(&plain).ok() } else { None };
    let Some(gzip) = gzip else {
        return Response::from_parts(parts, plain.into());
    };
    headers.remove(header::CONTENT_LENGTH);
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    Response::from_parts(parts, gzip.into())
}

fn tag(plain: &[u8]) -> String {
    let hash = Sha256::digest(plain);
    format!("W/\"{}\"", BASE64_URL_SAFE_NO_PAD.encode(&hash[..TAG_BYTES]))
}

fn gzip(plain: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 3), Compression::new(LEVEL));
    encoder.write_all(plain)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use axum::{Extension, Json, Router, body::Bytes, middleware, routing::get};
    use flate2::read::GzDecoder;
    use serde_json::{Value, json};
    use tower::ServiceExt;

    use super::*;

    fn page(bytes: usize) -> Value {
        json!({ "text": "a word and ".repeat(bytes / 11) })
    }

    fn routes() -> Router {
        let long = async || Json(page(30_000));
        let secret = async || (Extension(Uncompressed), Json(page(30_000)));
        let tagged = async || ([(header::ETAG, "\"x\"")], Json(page(30_000)));
        let text = async || "a word ".repeat(1000);
        let stream = async || {
            let pieces = futures::stream::iter([Ok::<_, std::io::Error>(vec![b' '; 5000])]);
            ([(header::CONTENT_TYPE, "application/json")], Body::from_stream(pieces))
        };
        Router::new()
            .route("/long", get(long).post(long))
            .route("/short", get(async || Json(page(500))))
            .route("/secret", get(secret))
            .route("/tagged", get(tagged))
            .route("/text", get(text))
            .route("/stream", get(stream))
            .layer(middleware::from_fn(compress))
    }

    async fn answer(method: Method, path: &str, accepted: &str) -> (Response<()>, Bytes) {
        answer_to(method, path, accepted, "").await
    }

    async fn answer_to(
        method: Method,
        path: &str,
        accepted: &str,
        known: &str,
    ) -> (Response<()>, Bytes) {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::ACCEPT_ENCODING, accepted)
            .header(header::IF_NONE_MATCH, known)
            .body(Body::empty())
            .unwrap();
        let (parts, body) = routes().oneshot(request).await.unwrap().into_parts();
        (Response::from_parts(parts, ()), to_bytes(body, usize::MAX).await.unwrap())
    }

    #[tokio::test]
    async fn long_json_is_compressed_for_those_who_take_it() {
        let (response, body) = answer(Method::GET, "/long", "gzip, br").await;
        assert_eq!(response.headers()[header::CONTENT_ENCODING], "gzip");
        assert_eq!(response.headers()[header::VARY], "accept-encoding");
        let length = response.headers().get(header::CONTENT_LENGTH);
        assert!(length.is_none_or(|length| *length == body.len().to_string()), "{length:?}");
        assert!(body.len() < 3000, "{} bytes", body.len());
        let mut plain = String::new();
        GzDecoder::new(&body[..]).read_to_string(&mut plain).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&plain).unwrap(), page(30_000));

        let (response, body) = answer(Method::GET, "/long", "identity").await;
        assert_eq!(response.headers().get(header::CONTENT_ENCODING), None);
        assert_eq!(response.headers()[header::VARY], "accept-encoding");
        assert_eq!(serde_json::from_slice::<Value>(&body).unwrap(), page(30_000));
    }

    #[tokio::test]
    async fn secrets_short_answers_files_and_streams_stay_as_they_are() {
        for (method, path) in [
            (Method::POST, "/long"),
            (Method::GET, "/short"),
            (Method::GET, "/secret"),
            (Method::GET, "/tagged"),
            (Method::GET, "/text"),
            (Method::GET, "/stream"),
        ] {
            let (response, body) = answer(method, path, "gzip").await;
            assert_eq!(response.headers().get(header::CONTENT_ENCODING), None, "{path}");
            assert_ne!(body.first(), Some(&0x1f), "{path}");
        }
    }

    #[tokio::test]
    async fn what_a_client_has_is_not_sent_again() {
        let (first, _) = answer(Method::GET, "/long", "gzip").await;
        let tag = first.headers()[header::ETAG].to_str().unwrap().to_owned();
        assert!(tag.starts_with("W/\""), "{tag}");
        for accepted in ["gzip", "identity"] {
            let known = format!("W/\"another\", {tag}");
            let (again, body) = answer_to(Method::GET, "/long", accepted, &known).await;
            assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{accepted}");
            assert_eq!(again.headers()[header::ETAG], tag.as_str());
            assert_eq!(again.headers().get(header::CONTENT_ENCODING), None);
            assert_eq!(body.len(), 0);
            let (changed, _) = answer_to(Method::GET, "/long", accepted, "W/\"another\"").await;
            assert_eq!(changed.status(), StatusCode::OK);
        }
        let (secret, _) = answer(Method::GET, "/secret", "gzip").await;
        assert_eq!(secret.headers().get(header::ETAG), None);
    }
}
