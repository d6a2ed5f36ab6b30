//! The console: a page, its script and its styles, built into the binary from `clients/js/console`.
//!
//! The page loads all modules in a few bundles. Each file is a Lambda invocation, and a browser
//! would request more files at once than the concurrency limit of a new AWS account allows. The
//! files are compressed, and a browser keeps those that have a hash in their name.

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    extract::{Path, State},
    http::{HeaderMap, Response, StatusCode, header},
    response::IntoResponse,
    routing::get,
};
use base64::Engine;
use rust_embed::RustEmbed;
use smartspace_domain::Error;
use tower_http::compression::{CompressionLayer, predicate::SizeAbove};

use crate::{Api, answers::Refusal, socket_url::SocketUrl};

/// Smaller files are not compressed.
const SMALLEST_COMPRESSED: u16 = 2_048;

/// The page loads code from this origin only, connects to this deployment and its storage of files
/// only, and can't be framed. `'self'` does not include WebSockets in every browser, so their host
/// is named.
fn policy(url: &SocketUrl, storage: Option<&str>, headers: &HeaderMap) -> String {
    let socket = url.address(headers);
    let named = |address: Option<&str>| {
        address.and_then(origin_of).map(|origin| format!(" {origin}")).unwrap_or_default()
    };
    let socket = named(Some(&socket));
    let storage = named(storage);
    format!(
        "default-src 'self'; connect-src 'self'{socket}{storage}; style-src 'self'; \
         img-src 'self' data:{storage}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}

/// The scheme and host of an address. Returns `None` if the host has characters that could end the
/// directive: a caller chooses its `Host` header.
fn origin_of(address: &str) -> Option<&str> {
    let start = address.find("://")? + "://".len();
    let host = address[start..].split('/').next().filter(|host| !host.is_empty())?;
    let plain = |char: char| char.is_ascii_alphanumeric() || "-._:[]".contains(char);
    host.chars().all(plain).then(|| &address[..start + host.len()])
}

#[derive(RustEmbed)]
#[folder = "console/dist/"]
struct Files;

pub(crate) fn routes() -> Router<Arc<Api>> {
    let page =
        async |State(api): State<Arc<Api>>, headers: HeaderMap| file("index.html", &headers, &api);
    let part = async |State(api): State<Arc<Api>>, Path(path): Path<String>, headers: HeaderMap| {
        file(&path, &headers, &api)
    };
    Router::new()
        .route("/", get(page))
        .route("/console/{*path}", get(part))
        // A refusal is small, and gets the id of its request in a layer above this one.
        .layer(CompressionLayer::new().compress_when(SizeAbove::new(SMALLEST_COMPRESSED)))
}

/// How long a browser may keep a file without asking: a year if the name contains a hash of the
/// content, as in `app.GGQOZXJM.js`.
fn caching(path: &str) -> &'static str {
    let is_hash = |part: &str| part.len() == 8 && part.bytes().all(|it| it.is_ascii_alphanumeric());
    match path.split('.').nth(1) {
        Some(part) if is_hash(part) => "public, max-age=31536000, immutable",
        _ => "no-cache",
    }
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

fn file(path: &str, request_headers: &HeaderMap, api: &Api) -> Response<Body> {
    let policy = policy(&api.socket_url, api.pipeline.files.origin(), request_headers);
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
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::CACHE_CONTROL, caching(path).to_owned()),
        (header::REFERRER_POLICY, "no-referrer".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
    ];
    if is_cached {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    (StatusCode::OK, headers, file.data).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connects_to(url: &SocketUrl, headers: &[(&'static str, &'static str)]) -> String {
        let headers = headers.iter().copied().map(|(name, value)| {
            (header::HeaderName::from_static(name), header::HeaderValue::from_static(value))
        });
        let policy = policy(url, None, &headers.collect());
        let directive = policy.split("; ").find(|directive| directive.starts_with("connect-src"));
        directive.unwrap().to_owned()
    }

    #[test]
    fn only_names_with_a_hash_are_kept() {
        assert!(caching("app.GGQOZXJM.js").ends_with("immutable"));
        for path in ["index.html", "icon.svg", "app.js", "app.min.js", "GGQOZXJM"] {
            assert_eq!(caching(path), "no-cache", "{path}");
        }
    }

    #[test]
    fn the_console_reaches_the_storage_of_files() {
        let storage = Some("https://files.s3.eu-west-1.amazonaws.com");
        let policy = policy(&SocketUrl::OfHost("/v1/socket"), storage, &HeaderMap::new());
        let directive = |name: &str| policy.split("; ").find(|it| it.starts_with(name)).unwrap();
        assert_eq!(
            directive("connect-src"),
            "connect-src 'self' ws://localhost https://files.s3.eu-west-1.amazonaws.com"
        );
        assert_eq!(
            directive("img-src"),
            "img-src 'self' data: https://files.s3.eu-west-1.amazonaws.com"
        );
    }

    #[test]
    fn the_console_connects_to_its_own_deployment_only() {
        let fixed = SocketUrl::Fixed("wss://abc.execute-api.eu-west-1.amazonaws.com/live".into());
        assert_eq!(
            connects_to(&fixed, &[("host", "smartspace.example.com")]),
            "connect-src 'self' wss://abc.execute-api.eu-west-1.amazonaws.com"
        );
        let of_host = SocketUrl::OfHost("/v1/socket");
        let local = connects_to(&of_host, &[("host", "[::1]:8080")]);
        assert_eq!(local, "connect-src 'self' ws://[::1]:8080");
        let behind_tls = [("host", "a.example"), ("x-forwarded-proto", "https")];
        assert_eq!(connects_to(&of_host, &behind_tls), "connect-src 'self' wss://a.example");
        let hostile = connects_to(&of_host, &[("host", "a.example *; script-src *")]);
        assert_eq!(hostile, "connect-src 'self'");
    }
}
