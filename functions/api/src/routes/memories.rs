//! `/v1/agents/{id}/memories`: what an agent remembers, for its operator.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use axum::{Json, extract::State, http::StatusCode};
use serde::Deserialize;
use smartspace_domain::{
    Error,
    ids::EntityId,
    memories::{Memory, check_value},
};
use smartspace_store::{kept::By as ChangedBy, pages::Page};
use utoipa::ToSchema;

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

/// What is to be remembered.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct MemoryBody {
    /// 1 to 4,000 characters without NUL.
    #[schema(min_length = 1, max_length = 4000, pattern = r"^[^\u0000]*$")]
    value: String,
}

/// List what an agent remembers
///
/// By key.
#[utoipa::path(
    get, path = "/v1/agents/{id}/memories", operation_id = "listMemories", tag = "agents",
    params(("id" = EntityId, Path), PageQuery),
    responses((status = 200, body = Page<Memory>))
)]
async fn list(
    State(api): State<Arc<Api>>,
    By(caller): By,
    Id(agent): Id<EntityId>,
    Asked(query): Asked<PageQuery>,
) -> Answer<Json<Page<Memory>>> {
    let store = what_is_kept(&api, caller, agent).await?;
    Ok(Json(store.memories(agent, &query.into()).await?))
}

/// Set what an agent remembers under a key
///
/// It may be repeated.
#[utoipa::path(
    put, path = "/v1/agents/{id}/memories/{key}", operation_id = "setMemory", tag = "agents",
    params(
        ("id" = EntityId, Path),
        ("key" = String, Path, description = "Any characters but NUL, percent-encoded.", min_length = 1, max_length = 128, pattern = r"^[^\u0000]*$"),
    ),
    request_body = MemoryBody,
    responses((status = 200, body = Memory), (status = 409, description = "It has as many memories as it may have."))
)]
async fn set(
    State(api): State<Arc<Api>>,
    By(caller): By,
    TwoIds(agent, KeptKey(key)): TwoIds<EntityId, KeptKey>,
    body: Body,
) -> Answer<Json<Memory>> {
    let store = what_is_kept(&api, caller, agent).await?;
    let MemoryBody { value } = body.read()?;
    check_value(&value, "/value")?;
    let by = ChangedBy::Request(api.pipeline.token());
    let mut made = store.set_memories(agent, &BTreeMap::from([(key, value)]), &by, api.pipeline.now()).await?;
    Ok(Json(made.pop().ok_or_else(|| Error::Internal("a memory was not made".into()))?))
}

/// Let an agent forget what it remembers under a key
///
/// It may be repeated.
#[utoipa::path(
    delete, path = "/v1/agents/{id}/memories/{key}", operation_id = "deleteMemory", tag = "agents",
    params(
        ("id" = EntityId, Path),
        ("key" = String, Path, description = "Any characters but NUL, percent-encoded.", min_length = 1, max_length = 128, pattern = r"^[^\u0000]*$"),
    ),
    responses((status = 204))
)]
async fn delete(State(api): State<Arc<Api>>, By(caller): By, TwoIds(agent, KeptKey(key)): TwoIds<EntityId, KeptKey>) -> Answer<StatusCode> {
    let store = what_is_kept(&api, caller, agent).await?;
    store.delete_memories(agent, &BTreeSet::from([key]), &ChangedBy::Request(api.pipeline.token())).await?;
    Ok(StatusCode::NO_CONTENT)
}
