//! The console: a page, its modules and its styles, built into the binary.

use axum::{
    Router,
    body::Body,
    extract::Path,
    http::{Response, StatusCode, header},
    response::IntoResponse,
    routing::get,
};
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
    Router::new().route("/", get(async || file("index.html"))).route("/console/{*path}", get(async |Path(path): Path<String>| file(&path)))
}

fn file(path: &str) -> Response<Body> {
    let Some(file) = Files::get(path) else {
        return Refusal(Error::NotFound("the console has no such file".into())).into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, file.metadata.mimetype().to_owned()),
        (header::CONTENT_SECURITY_POLICY, POLICY.to_owned()),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
        (header::REFERRER_POLICY, "no-referrer".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
    ];
    (StatusCode::OK, headers, file.data.into_owned()).into_response()
}
