//! The console: a page, its modules and its styles, built into the binary. The page loads the modules as one file: each file is an invocation, and
//! a browser would ask for more of them at once than a new account of AWS has room for.

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

/// Nothing of others runs in the page, and nobody else shows it.
const POLICY: &str = "default-src 'self'; connect-src 'self' ws: wss:; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

#[derive(RustEmbed)]
#[folder = "console/"]
struct Files;

pub(crate) fn routes() -> Router<std::sync::Arc<Api>> {
    let page = async |asked: HeaderMap| file("index.html", &asked);
    let part = async |Path(path): Path<String>, asked: HeaderMap| file(&path, &asked);
    Router::new().route("/", get(page)).route("/console/{*path}", get(part))
}

/// Whether the asker has the file with this tag already (RFC 9110, 13.1.2): a proxy that compresses makes tags weak.
fn knows(asked: &HeaderMap, etag: &str) -> bool {
    let lists = asked.get_all(header::IF_NONE_MATCH).into_iter().filter_map(|list| list.to_str().ok());
    lists.flat_map(|list| list.split(',')).map(str::trim).any(|tag| tag == "*" || tag.trim_start_matches("W/") == etag)
}

fn file(path: &str, asked: &HeaderMap) -> Response<Body> {
    let Some(file) = Files::get(path) else {
        return Refusal(Error::NotFound("the console has no such file".into())).into_response();
    };
    let digest = file.metadata.sha256_hash();
    let etag = format!("\"{}\"", base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(&digest[..12]));
    let is_known = knows(asked, &etag);
    let headers = [
        (header::ETAG, etag),
        (header::CONTENT_TYPE, file.metadata.mimetype().to_owned()),
        (header::CONTENT_SECURITY_POLICY, POLICY.to_owned()),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
        (header::REFERRER_POLICY, "no-referrer".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
    ];
    if is_known {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    (StatusCode::OK, headers, file.data).into_response()
}
