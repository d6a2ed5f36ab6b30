//! `/v1/agents/{id}/goals`: the operator reads and changes an agent's goals.

use std::{collections::BTreeSet, sync::Arc};

use axum::{Json, extract::State, http::StatusCode};
use smartspace_domain::{
    Error,
    goals::{Goal, GoalChange},
    ids::EntityId,
    memories::MemoryKey,
};
use smartspace_store::{
    agents::{goals::SetGoal, state::ChangedBy},
    table::pages::Page,
};

use super::{PageQuery, store_for_agent};
use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::ApiResult,
    auth::Authenticated,
    input::{Body, Id, Query, TwoIds},
};

pub(super) fn routes() -> Routes {
    routes![list, set, delete]
}

/// List the goals of an agent
///
/// Sorted by id.
#[utoipa::path(
    get, path = "/v1/agents/{id}/goals", operation_id = "listGoals", tag = "agents",
    params(("id" = EntityId, Path), PageQuery),
    responses((status = 200, body = Page<Goal>))
)]
async fn list(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(agent): Id<EntityId>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<Goal>>> {
    let store = store_for_agent(&api, caller, agent).await?;
    Ok(Json(store.goals().list(agent, &query.into()).await?))
}

/// Create or change a goal of an agent
///
/// A field that is missing or null keeps its value, or gets its default in a new goal. A null
/// `dueAt` removes the due date. The call may be repeated.
#[utoipa::path(
    put, path = "/v1/agents/{id}/goals/{goalId}", operation_id = "setGoal", tag = "agents",
    params(
        ("id" = EntityId, Path),
        ("goalId" = inline(MemoryKey), Path,
         description = "Percent-encoded; any character except NUL."),
    ),
    request_body = GoalChange,
    responses(
        (status = 200, body = Goal),
        (status = 409, description = "The agent has the maximum number of goals."),
    )
)]
async fn set(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    TwoIds(agent, id): TwoIds<EntityId, MemoryKey>,
    body: Body,
) -> ApiResult<Json<Goal>> {
    let store = store_for_agent(&api, caller, agent).await?;
    let goal = SetGoal { id: id.into(), change: body.read()?, pointer: String::new() };
    let by = ChangedBy::Request(api.pipeline.token());
    let mut made = store.goals().set(agent, &[goal], &by, api.pipeline.now()).await?;
    Ok(Json(made.pop().ok_or_else(|| Error::Internal("the store returned no goal".into()))?))
}

/// Delete a goal of an agent
///
/// The call may be repeated.
#[utoipa::path(
    delete, path = "/v1/agents/{id}/goals/{goalId}", operation_id = "deleteGoal", tag = "agents",
    params(
        ("id" = EntityId, Path),
        ("goalId" = inline(MemoryKey), Path,
         description = "Percent-encoded; any character except NUL."),
    ),
    responses((status = 204))
)]
async fn delete(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    TwoIds(agent, id): TwoIds<EntityId, MemoryKey>,
) -> ApiResult<StatusCode> {
    let store = store_for_agent(&api, caller, agent).await?;
    store
        .goals()
        .delete(agent, &BTreeSet::from([id]), &ChangedBy::Request(api.pipeline.token()))
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
