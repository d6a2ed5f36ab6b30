//! Runs: lists and shows what agents did, and cancels a run.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode, response::IntoResponse};
use serde::Deserialize;
use smartspace_domain::{
    Error, Result,
    access::{Caller, SpaceAction},
    ids::{EntityId, RunId, SpaceId},
    long_steps,
    runs::{EndReason, Run, RunStatus},
};
use smartspace_pipeline::access::KnownSpaces;
use smartspace_store::{
    runs::{RunRecord, no_such_run, steps},
    table::pages::{Ask, Page},
};
use utoipa::IntoParams;

use super::PageQuery;
use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::ApiResult,
    auth::Authenticated,
    description::limit,
    input::{Id, Query},
};

pub(super) fn routes() -> Routes {
    routes![of_space, of_agent, show, cancel]
}

/// List the runs that messages of a space triggered
///
/// Newest first, without steps.
#[utoipa::path(
    get, path = "/v1/spaces/{id}/runs", operation_id = "listRunsOfSpace", tag = "runs",
    params(("id" = SpaceId, Path), PageQuery),
    responses((status = 200, body = Page<Run>))
)]
async fn of_space(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(space): Id<SpaceId>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<Run>>> {
    api.pipeline.authorise(caller, SpaceAction::Read, space).await?;
    api.pipeline.store.spaces().record(space).await?;
    let Page { items, next_cursor } =
        api.pipeline.store.runs().of_space(space, &query.into()).await?;
    let mut known = KnownSpaces::of(caller);
    let mut shown = Vec::with_capacity(items.len());
    for run in items {
        shown.push(seen(&api, run, Some(space), &mut known).await?);
    }
    Ok(Json(Page { items: shown, next_cursor }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct AgentRunsQuery {
    /// Only runs with this status.
    status: Option<RunStatus>,
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
    #[param(schema_with = limit)]
    limit: Option<usize>,
}

/// List the runs of an agent
///
/// Newest first, without steps.
#[utoipa::path(
    get, path = "/v1/agents/{id}/runs", operation_id = "listRunsOfAgent", tag = "runs",
    params(("id" = EntityId, Path), AgentRunsQuery),
    responses((status = 200, body = Page<Run>))
)]
async fn of_agent(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(agent): Id<EntityId>,
    Query(query): Query<AgentRunsQuery>,
) -> ApiResult<Json<Page<Run>>> {
    caller.must_be_operator()?;
    api.pipeline.store.entities().get(agent).await?;
    let ask = Ask { cursor: query.cursor, limit: query.limit };
    Ok(Json(api.pipeline.store.runs().of_agent(agent, query.status, &ask).await?))
}

/// Show a run with its steps
///
/// Only the operator sees the steps. If all steps together are longer than 4 MB, their longest
/// texts are cut and say how much is missing. If that is not enough, lists and objects are cut as
/// JSON text, and then the prompts of the first steps are left out.
#[utoipa::path(
    get, path = "/v1/runs/{id}", operation_id = "showRun", tag = "runs",
    params(("id" = RunId, Path)),
    responses((status = 200, body = Run))
)]
async fn show(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(id): Id<RunId>,
) -> ApiResult<Json<Run>> {
    let store = &api.pipeline.store;
    let record = of_own_space(&api, caller, SpaceAction::Read, id).await?;
    if caller != Caller::Operator {
        let run = store.runs().get(&record).await?;
        return Ok(Json(seen(&api, run, record.space_id(), &mut KnownSpaces::of(caller)).await?));
    }
    let progress = store.steps().progress(id).await?;
    let run = store.runs().get(&record).await?;
    let ended = !run.status.is_active();
    Ok(Json(Run {
        steps: Some(long_steps::shown(steps::view(progress, ended)?, long_steps::MOST)),
        ..run
    }))
}

/// Cancel a run
#[utoipa::path(
    post, path = "/v1/runs/{id}/cancel", operation_id = "cancelRun", tag = "runs",
    params(("id" = RunId, Path)),
    responses(
        (status = 202, body = Run),
        (status = 409, description = "The run has already ended."),
    )
)]
async fn cancel(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(id): Id<RunId>,
) -> ApiResult<impl IntoResponse> {
    let record = of_own_space(&api, caller, SpaceAction::Cancel, id).await?;
    let run = api.pipeline.cancel(id, EndReason::Cancel).await?;
    let run = seen(&api, run, record.space_id(), &mut KnownSpaces::of(caller)).await?;
    Ok((StatusCode::ACCEPTED, Json(run)))
}

/// A run, if the caller may do `action` in the space that triggered it. A caller that is not a
/// member of that space gets the same answer as for a run that does not exist.
async fn of_own_space(
    api: &Api,
    caller: Caller,
    action: SpaceAction,
    id: RunId,
) -> Result<RunRecord> {
    let record = api.pipeline.store.runs().record(id).await?;
    let Some(space) = record.space_id() else {
        // A plan or a service triggered it.
        return if caller == Caller::Operator { Ok(record) } else { Err(no_such_run()) };
    };
    match api.pipeline.authorise(caller, action, space).await {
        Ok(()) => Ok(record),
        Err(Error::NotFound(_)) => Err(no_such_run()),
        Err(error) => Err(error),
    }
}

/// A run as the caller may see it. The space that the run is active in is shown to members of that
/// space only.
async fn seen(
    api: &Api,
    run: Run,
    triggered_in: Option<SpaceId>,
    known: &mut KnownSpaces,
) -> Result<Run> {
    Ok(match triggered_in.and_then(|space| run.known_by(space)) {
        Some(other) if !known.has(&api.pipeline, other).await? => run.without_active_space(),
        _ => run,
    })
}
