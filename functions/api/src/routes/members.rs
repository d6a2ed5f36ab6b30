//! `/v1/spaces/{id}/members/{entityId}`: joining and leaving.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Path, State},
    http::StatusCode,
    routing::put,
};
use smartspace_domain::{
    Error, Result,
    access::SpaceAction,
    ids::{EntityId, SpaceId},
    spaces::{Member, Role},
};

use crate::{Api, answers::Answer, auth::By, input::id};

pub(super) fn routes() -> Router<Arc<Api>> {
    Router::new().route("/v1/spaces/{id}/members/{entityId}", put(join).delete(leave))
}

type Place = Path<(String, String)>;

fn place(Path((space, entity)): Place) -> Result<(SpaceId, EntityId)> {
    Ok((id(&space)?, id(&entity)?))
}

async fn join(State(api): State<Arc<Api>>, By(caller): By, path: Place) -> Answer<Json<Member>> {
    let (space, entity) = place(path)?;
    api.authorise(caller, SpaceAction::Govern, space).await?;
    let store = &api.pipeline.store;
    let entity = store.entity(entity).await?;
    let role = store.member(space, entity.id).await?.map_or(Role::Member, |member| member.role);
    api.pipeline.join(space, &entity, role).await?;
    let member = store.member(space, entity.id).await?.ok_or_else(|| Error::Conflict("it left again at the same time".into()))?;
    Ok(Json(member.view()))
}

async fn leave(State(api): State<Arc<Api>>, By(caller): By, path: Place) -> Answer<StatusCode> {
    let (space, entity) = place(path)?;
    api.authorise(caller, SpaceAction::Govern, space).await?;
    api.pipeline.store.space_record(space).await?;
    api.pipeline.leave(space, entity).await?;
    Ok(StatusCode::NO_CONTENT)
}
