//! The console: a page, its script and its styles, built into the binary from `clients/js/console`.
//!
//! The page loads all modules in a few bundles. Each file is a Lambda invocation, and a browser
//! would request more files at once than the concurrency limit of a new AWS account allows. A
//! browser keeps the files that have a hash in their name.

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    extract::{Path, State},
    http::{HeaderMap, HeaderName, HeaderValue, Response, header},
    response::IntoResponse,
    routing::get,
};
use smartspace_domain::Error;

use crate::{Api, answers::Refusal, static_files};

/// What the page never asks a browser for.
const PERMISSIONS: &str = "camera=(), display-capture=(), geolocation=(), hid=(), microphone=(), \
                           payment=(), serial=(), usb=()";
/// How long a browser uses only HTTPS for this host.
const HSTS: &str = "max-age=31536000";

/// The page loads code from this origin only, connects to this deployment and its storage of files
/// only, and can't be framed. `'self'` does not include WebSockets in every browser, so their host
/// is named.
fn policy(api: &Addresses<'_>) -> String {
    let named =
        |address: &str| origin_of(address).map(|origin| format!(" {origin}")).unwrap_or_default();
    let socket = named(api.socket);
    let storage = api.storage.map(named).unwrap_or_default();
    format!(
        "default-src 'self'; connect-src 'self'{socket}{storage}; style-src 'self'; \
         img-src 'self' data:{storage}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}

/// The addresses that the page connects to besides its own.
struct Addresses<'a> {
    socket: &'a str,
    /// Where files are uploaded and downloaded.
    storage: Option<&'a str>,
}

/// The scheme and host of an address. Returns `None` if the host has characters that could end the
/// directive: a caller chooses its `Host` header.
fn origin_of(address: &str) -> Option<&str> {
    let start = address.find("://")? + "://".len();
    let host = address[start..].split('/').next().filter(|host| !host.is_empty())?;
    let plain = |char: char| char.is_ascii_alphanumeric() || "-._:[]".contains(char);
    host.chars().all(plain).then(|| &address[..start + host.len()])
}

pub(crate) fn routes() -> Router<Arc<Api>> {
    let page =
        async |State(api): State<Arc<Api>>, headers: HeaderMap| file("index.html", &headers, &api);
    let part = async |State(api): State<Arc<Api>>, Path(path): Path<String>, headers: HeaderMap| {
        file(&path, &headers, &api)
    };
    Router::new().route("/", get(page)).route("/console/{*path}", get(part))
}

/// How long caches may show a file without asking: a year if the name contains a hash of the
/// content, as in `app.GGQOZXJM.js`, and else a minute, so that a new version is soon seen.
fn caching(path: &str) -> &'static str {
    let is_hash = |part: &str| part.len() == 8 && part.bytes().all(|it| it.is_ascii_alphanumeric());
    match path.split('.').nth(1) {
        Some(part) if is_hash(part) => "public, max-age=31536000, immutable",
        _ => "public, max-age=60",
    }
}

fn file(path: &str, request_headers: &HeaderMap, api: &Api) -> Response<Body> {
    let Some(file) = static_files::CONSOLE.iter().find(|file| file.name == path) else {
        return Refusal(Error::NotFound("the console has no such file".into())).into_response();
    };
    let address = api.public_address.http(request_headers);
    let policy = policy(&Addresses {
        socket: &api.socket_url.address(&api.public_address, request_headers),
        // The local host is its own storage.
        storage: api.pipeline.files.origin().or(Some(&address)),
    });
    let mut response = file.answer(request_headers, caching(path));
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    let fixed = [
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), PERMISSIONS),
    ];
    // Browsers ignore it in answers over HTTP (RFC 6797, 8.1).
    let secure = address.starts_with("https://");
    let fixed =
        fixed.into_iter().chain(secure.then_some((header::STRICT_TRANSPORT_SECURITY, HSTS)));
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connects_to(socket: &str) -> String {
        let policy = policy(&Addresses { socket, storage: None });
        let directive = policy.split("; ").find(|directive| directive.starts_with("connect-src"));
        directive.unwrap().to_owned()
    }

    #[test]
    fn only_names_with_a_hash_are_kept() {
        assert!(caching("app.GGQOZXJM.js").ends_with("immutable"));
        for path in ["index.html", "icon.svg", "app.js", "app.min.js", "GGQOZXJM"] {
            assert_eq!(caching(path), "public, max-age=60", "{path}");
        }
    }

    #[test]
    fn the_console_reaches_the_storage_of_files() {
        let storage = Some("https://files.s3.eu-west-1.amazonaws.com");
        let policy = policy(&Addresses { socket: "ws://localhost/v1/socket", storage });
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
        assert_eq!(
            connects_to("wss://abc.execute-api.eu-west-1.amazonaws.com/live"),
            "connect-src 'self' wss://abc.execute-api.eu-west-1.amazonaws.com"
        );
        let local = connects_to("ws://[::1]:8080/v1/socket");
        assert_eq!(local, "connect-src 'self' ws://[::1]:8080");
        let hostile = connects_to("ws://a.example *; script-src */v1/socket");
        assert_eq!(hostile, "connect-src 'self'");
    }
}
