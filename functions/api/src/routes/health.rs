//! `/healthz`: liveness of the process.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use crate::annotated_routes::{Routes, routes};

pub(super) fn routes() -> Routes {
    routes![healthz]
}

#[derive(Serialize, ToSchema)]
struct Health {
    /// Always `ok`.
    status: &'static str,
}

/// Check that the service answers
///
/// Needs no credential, and reads nothing from the table.
#[utoipa::path(
    get, path = "/healthz", operation_id = "showHealth", tag = "service", security(),
    responses((status = 200, body = Health))
)]
async fn healthz() -> Json<Health> {
    Json(Health { status: "ok" })
}
