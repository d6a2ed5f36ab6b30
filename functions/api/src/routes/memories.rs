//! `/v1/agents/{id}/memories`: the operator reads and changes an agent's memories.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use axum::{Json, extract::State, http::StatusCode};
use serde::Deserialize;
use smartspace_domain::{
    Error,
    ids::EntityId,
    memories::{Memory, MemoryKey, MemoryValue},
};
use smartspace_store::{agents::state::ChangedBy, table::pages::Page};
use utoipa::{PartialSchema, ToSchema};

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

/// The value of a memory.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct MemoryBody {
    #[schema(schema_with = MemoryValue::schema)]
    value: String,
}

/// List the memories of an agent
///
/// Sorted by key.
#[utoipa::path(
    get, path = "/v1/agents/{id}/memories", operation_id = "listMemories", tag = "agents",
    params(("id" = EntityId, Path), PageQuery),
    responses((status = 200, body = Page<Memory>))
)]
async fn list(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(agent): Id<EntityId>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<Memory>>> {
    let store = store_for_agent(&api, caller, agent).await?;
    Ok(Json(store.memories().list(agent, &query.into()).await?))
}

/// Set a memory of an agent
///
/// The call may be repeated.
#[utoipa::path(
    put, path = "/v1/agents/{id}/memories/{key}", operation_id = "setMemory", tag = "agents",
    params(
        ("id" = EntityId, Path),
        ("key" = inline(MemoryKey), Path,
         description = "Percent-encoded; any character except NUL."),
    ),
    request_body = MemoryBody,
    responses(
        (status = 200, body = Memory),
        (status = 409, description = "The agent has the maximum number of memories."),
    )
)]
async fn set(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    TwoIds(agent, key): TwoIds<EntityId, MemoryKey>,
    body: Body,
) -> ApiResult<Json<Memory>> {
    let store = store_for_agent(&api, caller, agent).await?;
    let MemoryBody { value } = body.read()?;
    let value = MemoryValue::try_from(value).map_err(|error| error.at("/value"))?;
    let by = ChangedBy::Request(api.pipeline.token());
    let mut made = store
        .memories()
        .set(agent, &BTreeMap::from([(key, value)]), &by, api.pipeline.now())
        .await?;
    Ok(Json(made.pop().ok_or_else(|| Error::Internal("the store returned no memory".into()))?))
}

/// Delete a memory of an agent
///
/// The call may be repeated.
#[utoipa::path(
    delete, path = "/v1/agents/{id}/memories/{key}", operation_id = "deleteMemory", tag = "agents",
    params(
        ("id" = EntityId, Path),
        ("key" = inline(MemoryKey), Path,
         description = "Percent-encoded; any character except NUL."),
    ),
    responses((status = 204))
)]
async fn delete(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    TwoIds(agent, key): TwoIds<EntityId, MemoryKey>,
) -> ApiResult<StatusCode> {
    let store = store_for_agent(&api, caller, agent).await?;
    store
        .memories()
        .delete(agent, &BTreeSet::from([key]), &ChangedBy::Request(api.pipeline.token()))
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
