//! `/healthz`: the process answers.

use std::sync::Arc;

use axum::{Json, Router, routing::get};
use serde_json::{Value, json};

use crate::Api;

pub(super) fn routes() -> Router<Arc<Api>> {
    Router::new().route("/healthz", get(healthz))
}

async fn healthz() -> Json<Value> {
    Json(json!({"status": "ok"}))
}
