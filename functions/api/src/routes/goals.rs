//! `/v1/agents/{id}/goals`: what an agent works towards, for its operator.

use std::{collections::BTreeSet, sync::Arc};

use axum::{Json, extract::State, http::StatusCode};
use smartspace_domain::{
    Error,
    goals::{Goal, GoalChange},
    ids::EntityId,
};
use smartspace_store::{goals::SetGoal, kept::By as ChangedBy, pages::Page};

use super::{PageQuery, what_is_kept};
use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::Answer,
    auth::By,
    input::{Asked, Body, Id, KeptKey, TwoIds},
};

pub(super) fn routes() -> Routes {
    routes![list, set, delete]
}

/// List the goals of an agent
///
/// By id.
#[utoipa::path(
    get, path = "/v1/agents/{id}/goals", operation_id = "listGoals", tag = "agents",
    params(("id" = EntityId, Path), PageQuery),
    responses((status = 200, body = Page<Goal>))
)]
async fn list(
    State(api): State<Arc<Api>>,
    By(caller): By,
    Id(agent): Id<EntityId>,
    Asked(query): Asked<PageQuery>,
) -> Answer<Json<Page<Goal>>> {
    let store = what_is_kept(&api, caller, agent).await?;
    Ok(Json(store.goals(agent, &query.into()).await?))
}

/// Make or change a goal of an agent
///
/// What is left out, or null, stays as it is, but for `dueAt`, which null takes away; in a new one it has its default. It may be repeated.
#[utoipa::path(
    put, path = "/v1/agents/{id}/goals/{goalId}", operation_id = "setGoal", tag = "agents",
    params(
        ("id" = EntityId, Path),
        ("goalId" = String, Path, description = "Any characters but NUL, percent-encoded.", min_length = 1, max_length = 128, pattern = r"^[^\u0000]*$"),
    ),
    request_body = GoalChange,
    responses((status = 200, body = Goal), (status = 409, description = "It has as many goals as it may have."))
)]
async fn set(
    State(api): State<Arc<Api>>,
    By(caller): By,
    TwoIds(agent, KeptKey(id)): TwoIds<EntityId, KeptKey>,
    body: Body,
) -> Answer<Json<Goal>> {
    let store = what_is_kept(&api, caller, agent).await?;
    let goal = SetGoal { id, change: body.read()?, pointer: String::new() };
    let by = ChangedBy::Request(api.pipeline.token());
    let mut made = store.set_goals(agent, &[goal], &by, api.pipeline.now()).await?;
    Ok(Json(made.pop().ok_or_else(|| Error::Internal("a goal was not made".into()))?))
}

/// Drop a goal of an agent
///
/// It may be repeated.
#[utoipa::path(
    delete, path = "/v1/agents/{id}/goals/{goalId}", operation_id = "deleteGoal", tag = "agents",
    params(
        ("id" = EntityId, Path),
        ("goalId" = String, Path, description = "Any characters but NUL, percent-encoded.", min_length = 1, max_length = 128, pattern = r"^[^\u0000]*$"),
    ),
    responses((status = 204))
)]
async fn delete(State(api): State<Arc<Api>>, By(caller): By, TwoIds(agent, KeptKey(id)): TwoIds<EntityId, KeptKey>) -> Answer<StatusCode> {
    let store = what_is_kept(&api, caller, agent).await?;
    store.delete_goals(agent, &BTreeSet::from([id]), &ChangedBy::Request(api.pipeline.token())).await?;
    Ok(StatusCode::NO_CONTENT)
}
