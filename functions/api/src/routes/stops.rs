//! Stops: of a chain in a space, and of everything in it.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Serialize;
use smartspace_domain::{ids::SpaceId, system_lines::SystemLine};
use smartspace_pipeline::stops::Stopped;
use utoipa::ToSchema;

use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::ApiResult,
    auth::Authenticated,
    input::{Id, IdAndSeq},
};

pub(super) fn routes() -> Routes {
    routes![stop_chain, stop_space]
}

/// What a stop has done.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct StopResponse {
    /// How many runs this request has canceled.
    canceled_runs: usize,
    /// The line that reports the stop. If it was stopped before, the line of that stop.
    line: SystemLine,
}

impl From<Stopped> for StopResponse {
    fn from(stopped: Stopped) -> Self {
        Self { canceled_runs: stopped.canceled_runs, line: stopped.line }
    }
}

/// Stop a chain
///
/// The chain is what one message has set off: the runs that it has triggered, their messages, and
/// so on. Its active runs that messages of this space triggered are canceled, for the operator
/// those of other spaces, too. Later messages of the chain wake nobody in this space. For people
/// who are members, but not for guests. May be repeated.
#[utoipa::path(
    post, path = "/v1/spaces/{id}/messages/{seq}/chain/cancel",
    operation_id = "stopChain", tag = "messages",
    params(("id" = SpaceId, Path), ("seq" = u64, Path)),
    responses((status = 200, body = StopResponse))
)]
async fn stop_chain(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    IdAndSeq(space, seq): IdAndSeq<SpaceId>,
) -> ApiResult<Json<StopResponse>> {
    Ok(Json(Box::pin(api.pipeline.stop_chain(caller, space, seq)).await?.into()))
}

/// Stop everything in a space
///
/// The space is paused, and all active runs that its messages triggered are canceled. For people
/// who are members, but not for guests; an owner ends the pause with `paused: false`. May be
/// repeated.
#[utoipa::path(
    post, path = "/v1/spaces/{id}/stop", operation_id = "stopSpace", tag = "spaces",
    params(("id" = SpaceId, Path)),
    responses((status = 200, body = StopResponse))
)]
async fn stop_space(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(space): Id<SpaceId>,
) -> ApiResult<Json<StopResponse>> {
    Ok(Json(Box::pin(api.pipeline.stop_space(caller, space)).await?.into()))
}
