//! `/v1/agents/{id}/card`: what an open agent says of itself to those who may bring it into a
//! space.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Serialize;
use smartspace_domain::{entities::Entity, ids::EntityId};
use utoipa::ToSchema;

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

/// What an agent says of itself.
#[derive(Debug, Serialize, ToSchema)]
struct AgentCard {
    /// The agent's id.
    id: EntityId,
    /// Its name.
    name: String,
    /// What it is for; empty if nobody has said.
    description: String,
}

/// Show what an open agent says of itself
///
/// Any entity may read this, so that it can bring the agent into a space of its own. Agents that
/// are not `open` are 404 to entities.
#[utoipa::path(
    get, path = "/v1/agents/{id}/card", operation_id = "showAgentCard", tag = "agents",
    params(("id" = EntityId, Path)),
    responses((status = 200, body = AgentCard))
)]
async fn show(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(id): Id<EntityId>,
) -> ApiResult<Json<AgentCard>> {
    let entity = api.pipeline.store.entities().get(id).await?;
    caller.may_see_card_of(&entity)?;
    let Entity { id, name, agent, .. } = entity;
    let description = agent.map(|agent| agent.description).unwrap_or_default();
    Ok(Json(AgentCard { id, name, description }))
}
