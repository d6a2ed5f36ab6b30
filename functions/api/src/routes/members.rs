//! `/v1/spaces/{id}/members/{entityId}`: joining and leaving.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use smartspace_domain::{
    Error,
    access::SpaceAction,
    ids::{EntityId, SpaceId},
    spaces::{Member, Role},
};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{Api, answers::Answer, auth::By, input::TwoIds};

pub(super) fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::default().routes(routes!(join, leave))
}

/// Add a member
///
/// It may be repeated.
#[utoipa::path(
    put, path = "/v1/spaces/{id}/members/{entityId}", operation_id = "addMember", tag = "spaces",
    params(("id" = SpaceId, Path), ("entityId" = EntityId, Path)),
    responses(
        (status = 200, body = Member),
        (status = 409, description = "Its name is taken there, the space is full, or the agent is in too many spaces."),
    )
)]
async fn join(State(api): State<Arc<Api>>, By(caller): By, TwoIds(space, entity): TwoIds<SpaceId, EntityId>) -> Answer<Json<Member>> {
    api.authorise(caller, SpaceAction::Govern, space).await?;
    let store = &api.pipeline.store;
    let entity = store.entity(entity).await?;
    let role = store.member(space, entity.id).await?.map_or(Role::Member, |member| member.role);
    api.pipeline.join(space, &entity, role).await?;
    let member = store.member(space, entity.id).await?.ok_or_else(|| Error::Conflict("it left again at the same time".into()))?;
    Ok(Json(member.view()))
}

/// Remove a member
///
/// It may be repeated.
#[utoipa::path(
    delete, path = "/v1/spaces/{id}/members/{entityId}", operation_id = "removeMember", tag = "spaces",
    params(("id" = SpaceId, Path), ("entityId" = EntityId, Path)),
    responses((status = 204))
)]
async fn leave(State(api): State<Arc<Api>>, By(caller): By, TwoIds(space, entity): TwoIds<SpaceId, EntityId>) -> Answer<StatusCode> {
    api.authorise(caller, SpaceAction::Govern, space).await?;
    api.pipeline.store.space_record(space).await?;
    api.pipeline.leave(space, entity).await?;
    Ok(StatusCode::NO_CONTENT)
}
