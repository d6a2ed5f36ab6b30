//! The console: a page, its modules and its styles, built into the binary.
//!
//! The page loads all modules as one bundle. Each file is a Lambda invocation, and a browser would
//! request more files at once than the concurrency limit of a new AWS account allows.

use axum::{
    Router,
    body::Body,
    extract::Path,
    http::{HeaderMap, Response, StatusCode, header},
    response::IntoResponse,
    routing::get,
};
use base64::Engine;
use rust_embed::RustEmbed;
use smartspace_domain::Error;

use crate::{Api, answers::Refusal};

/// The page loads code from this origin only and can't be framed.
const POLICY: &str = "default-src 'self'; connect-src 'self' ws: wss:; style-src 'self'; \
                      img-src 'self' data:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

#[derive(RustEmbed)]
#[folder = "console/"]
struct Files;

pub(crate) fn routes() -> Router<std::sync::Arc<Api>> {
    let page = async |headers: HeaderMap| file("index.html", &headers);
    let part = async |Path(path): Path<String>, headers: HeaderMap| file(&path, &headers);
    Router::new().route("/", get(page)).route("/console/{*path}", get(part))
}

/// Whether the client already has the file with this tag (RFC 9110, 13.1.2). Weak tags match too: a
/// proxy that compresses makes tags weak.
fn is_cached(headers: &HeaderMap, etag: &str) -> bool {
    let lists =
        headers.get_all(header::IF_NONE_MATCH).into_iter().filter_map(|list| list.to_str().ok());
    lists
        .flat_map(|list| list.split(','))
        .map(str::trim)
        .any(|tag| tag == "*" || tag.trim_start_matches("W/") == etag)
}

fn file(path: &str, request_headers: &HeaderMap) -> Response<Body> {
    let Some(file) = Files::get(path) else {
        return Refusal(Error::NotFound("the console has no such file".into())).into_response();
    };
    let digest = file.metadata.sha256_hash();
    let etag =
        format!("\"{}\"", base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(&digest[..12]));
    let is_cached = is_cached(request_headers, &etag);
    let headers = [
        (header::ETAG, etag),
        (header::CONTENT_TYPE, file.metadata.mimetype().to_owned()),
        (header::CONTENT_SECURITY_POLICY, POLICY.to_owned()),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
        (header::REFERRER_POLICY, "no-referrer".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
    ];
    if is_cached {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    (StatusCode::OK, headers, file.data).into_response()
}
