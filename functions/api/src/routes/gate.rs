//! `/v1/spaces/{id}/gate`: what the dials of a space's gate would have done.

use std::sync::Arc;

use axum::{Json, extract::State};
use smartspace_domain::{access::SpaceAction, gate::GateReport, ids::SpaceId};

use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::ApiResult,
    auth::Authenticated,
    input::Id,
};

pub(super) fn routes() -> Routes {
    routes![show]
}

/// Report what the gate would have done
///
/// Looks at the last 500 messages that have scores, among the last 2,000 of the space. Each dial
/// counts as without a model.
#[utoipa::path(
    get, path = "/v1/spaces/{id}/gate", operation_id = "showGate", tag = "spaces",
    params(("id" = SpaceId, Path)),
    responses((status = 200, body = GateReport))
)]
async fn show(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(space): Id<SpaceId>,
) -> ApiResult<Json<GateReport>> {
    api.pipeline.authorise(caller, SpaceAction::Govern, space).await?;
    let store = &api.pipeline.store;
    let router = store.spaces().record(space).await?.settings.router.unwrap_or_default();
    Ok(Json(store.messages().gate_report(space, router.max_agents).await?))
}
