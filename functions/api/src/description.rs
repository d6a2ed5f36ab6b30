//! `/openapi.json`: what this API is, for machines. Made from the routes themselves ([`crate::routes`]), so that the two can't part.

use std::sync::{Arc, LazyLock};

use axum::{http::header, response::IntoResponse};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::Api;

static TEXT: LazyLock<String> = LazyLock::new(|| crate::routes::described().into_openapi().to_json().unwrap_or_default());

pub(crate) fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::default().routes(routes!(openapi))
}

#[utoipa::path(get, path = "/openapi.json")]
async fn openapi() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], TEXT.as_str())
}
