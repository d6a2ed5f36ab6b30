//! `/healthz`: the process answers.

use std::sync::Arc;

use axum::Json;
use serde_json::{Value, json};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::Api;

pub(super) fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::default().routes(routes!(healthz))
}

#[utoipa::path(get, path = "/healthz")]
async fn healthz() -> Json<Value> {
    Json(json!({"status": "ok"}))
}
