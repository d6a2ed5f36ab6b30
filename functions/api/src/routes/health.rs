//! `/healthz`: the process answers.

use std::sync::Arc;

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::Api;

pub(super) fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::default().routes(routes!(healthz))
}

#[derive(Serialize, ToSchema)]
struct Health {
    /// Always `ok`.
    status: &'static str,
}

/// Whether it answers
#[utoipa::path(
    get, path = "/healthz", operation_id = "showHealth", tag = "service", security(),
    responses((status = 200, body = Health))
)]
async fn healthz() -> Json<Health> {
    Json(Health { status: "ok" })
}
