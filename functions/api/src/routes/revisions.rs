//! `/v1/agents/{id}/revisions`: what an agent was after each change, and how to return to that.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Serialize;
use smartspace_domain::{
    agents::revisions::{RevisedAgent, Revision, RevisionSource},
    entities::{Entity, EntitySettings},
    ids::EntityId,
};
use smartspace_store::entities::revisions::Made;
use utoipa::ToSchema;

use super::{
    entities::{apply, check_providers},
    store_for_agent,
};
use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::ApiResult,
    auth::Authenticated,
    input::{Id, TwoIds},
};

pub(super) fn routes() -> Routes {
    routes![list, show, restore]
}

/// The revisions of an agent.
#[derive(Serialize, ToSchema)]
struct Revisions {
    /// The newest first, 50 at most. Older ones are not kept.
    items: Vec<Revision>,
}

/// A revision, with what the agent was then.
#[derive(Serialize, ToSchema)]
struct ShownRevision {
    #[serde(flatten)]
    revision: Revision,
    #[serde(flatten)]
    revised: RevisedAgent,
}

/// List the revisions of an agent
///
/// For the operator. The last 50 are kept, the newest first.
#[utoipa::path(
    get, path = "/v1/agents/{id}/revisions", operation_id = "listRevisions", tag = "agents",
    params(("id" = EntityId, Path)),
    responses((status = 200, body = Revisions))
)]
async fn list(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(agent): Id<EntityId>,
) -> ApiResult<Json<Revisions>> {
    let store = store_for_agent(&api, caller, agent).await?;
    Ok(Json(Revisions { items: store.entities().revisions(agent).await? }))
}

/// Show a revision of an agent
///
/// For the operator. With the name and the configuration that the agent had then.
#[utoipa::path(
    get, path = "/v1/agents/{id}/revisions/{revision}", operation_id = "showRevision",
    tag = "agents",
    params(("id" = EntityId, Path), ("revision" = u64, Path)),
    responses((status = 200, body = ShownRevision))
)]
async fn show(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    TwoIds(agent, number): TwoIds<EntityId, u64>,
) -> ApiResult<Json<ShownRevision>> {
    let store = store_for_agent(&api, caller, agent).await?;
    let (revision, revised) = store.entities().revision(agent, number).await?;
    Ok(Json(ShownRevision { revision, revised }))
}

/// Restore a revision of an agent
///
/// For the operator. The name and the configuration become those of the revision, with a new
/// revision. If they are those already, nothing changes.
#[utoipa::path(
    post, path = "/v1/agents/{id}/revisions/{revision}/restore", operation_id = "restoreRevision",
    tag = "agents",
    params(("id" = EntityId, Path), ("revision" = u64, Path)),
    responses(
        (status = 200, body = Entity),
        (status = 409, description = "The name is taken in one of the agent's spaces, or the \
            agent was changed at the same time."),
        (status = 422, description = "The revision is no longer valid, because of a provider that \
            this deployment no longer has, for example."),
    )
)]
async fn restore(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    TwoIds(agent, number): TwoIds<EntityId, u64>,
) -> ApiResult<Json<Entity>> {
    let store = store_for_agent(&api, caller, agent).await?;
    let (_, RevisedAgent { name, agent: config }) =
        store.entities().revision(agent, number).await?;
    let record = store.entities().record(agent).await?;
    let settings = EntitySettings {
        kind: record.entity.kind,
        name,
        external_id: record.entity.external_id.clone(),
        agent: Some(config),
    };
    settings.check()?;
    check_providers(&api.providers, &settings)?;
    let made = Made {
        by: caller.into(),
        source: RevisionSource::Restore { restored_from: number },
        from_file: None,
    };
    Ok(Json(apply(&api, &record, settings, &made).await?))
}
