//! Runs: what agents did, and ending one.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode, response::IntoResponse};
use serde::Deserialize;
use smartspace_domain::{
    access::SpaceAction,
    ids::{EntityId, RunId, SpaceId},
    runs::{EndReason, Run, RunStatus},
};
use smartspace_store::{
    pages::{Ask, Page},
    steps,
};
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::PageQuery;
use crate::{
    Api,
    answers::Answer,
    auth::By,
    description::limit,
    input::{Asked, Id},
};

pub(super) fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::default().routes(routes!(of_space)).routes(routes!(of_agent)).routes(routes!(show)).routes(routes!(cancel))
}

/// List the runs that a space woke
///
/// Newest first, without steps.
#[utoipa::path(
    get, path = "/v1/spaces/{id}/runs", operation_id = "listRunsOfSpace", tag = "runs",
    params(("id" = SpaceId, Path), PageQuery),
    responses((status = 200, body = Page<Run>))
)]
async fn of_space(
    State(api): State<Arc<Api>>,
    By(caller): By,
    Id(space): Id<SpaceId>,
    Asked(query): Asked<PageQuery>,
) -> Answer<Json<Page<Run>>> {
    api.authorise(caller, SpaceAction::Read, space).await?;
    api.pipeline.store.space_record(space).await?;
    Ok(Json(api.pipeline.store.runs_of_space(space, &query.into()).await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct AgentRunsQuery {
    /// Only those in this state.
    status: Option<RunStatus>,
    /// What `nextCursor` of the page before said.
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
    By(caller): By,
    Id(agent): Id<EntityId>,
    Asked(query): Asked<AgentRunsQuery>,
) -> Answer<Json<Page<Run>>> {
    caller.must_be_operator()?;
    api.pipeline.store.entity(agent).await?;
    let ask = Ask { cursor: query.cursor, limit: query.limit };
    Ok(Json(api.pipeline.store.runs_of_agent(agent, query.status, &ask).await?))
}

/// Show a run with its steps
#[utoipa::path(
    get, path = "/v1/runs/{id}", operation_id = "showRun", tag = "runs",
    params(("id" = RunId, Path)),
    responses((status = 200, body = Run))
)]
async fn show(State(api): State<Arc<Api>>, By(caller): By, Id(id): Id<RunId>) -> Answer<Json<Run>> {
    caller.must_be_operator()?;
    let store = &api.pipeline.store;
    let (record, work) = futures::future::try_join(store.run_record(id), store.work(id)).await?;
    let run = store.run(&record).await?;
    Ok(Json(Run { steps: Some(steps::view(work)?), ..run }))
}

/// Cancel a run
#[utoipa::path(
    post, path = "/v1/runs/{id}/cancel", operation_id = "cancelRun", tag = "runs",
    params(("id" = RunId, Path)),
    responses((status = 202, body = Run), (status = 409, description = "It had ended."))
)]
async fn cancel(State(api): State<Arc<Api>>, By(caller): By, Id(id): Id<RunId>) -> Answer<impl IntoResponse> {
    caller.must_be_operator()?;
    let run = api.pipeline.cancel(id, EndReason::Cancel).await?;
    Ok((StatusCode::ACCEPTED, Json(run)))
}
