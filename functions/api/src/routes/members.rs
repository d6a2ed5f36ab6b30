//! `/v1/spaces/{id}/members/{entityId}`: joining and leaving.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use serde::Deserialize;
use smartspace_domain::{
    access::SpaceAction,
    ids::{EntityId, SpaceId},
    spaces::{Member, Role},
};
use utoipa::ToSchema;

use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::Answer,
    auth::By,
    input::{Body, TwoIds},
};

pub(super) fn routes() -> Routes {
    routes![join, leave]
}

/// Without `role` a new member is a plain one, and who is there already stays what it is.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct MemberBody {
    #[serde(default)]
    role: Option<Role>,
}

/// Add a member, or change its role
///
/// It may be repeated. Owners add people, and agents that are `open`.
#[utoipa::path(
    put, path = "/v1/spaces/{id}/members/{entityId}", operation_id = "addMember", tag = "spaces",
    params(("id" = SpaceId, Path), ("entityId" = EntityId, Path)),
    request_body = Option<MemberBody>,
    responses(
        (status = 200, body = Member),
        (status = 409, description = "Its name is taken there, the space is full, or the agent is in too many spaces."),
    )
)]
async fn join(
    State(api): State<Arc<Api>>,
    By(caller): By,
    TwoIds(space, entity): TwoIds<SpaceId, EntityId>,
    body: Body,
) -> Answer<Json<Member>> {
    api.pipeline.authorise(caller, SpaceAction::Govern, space).await?;
    let MemberBody { role } = body.read_or_nothing()?;
    let entity = api.pipeline.store.entity(entity).await?;
    Ok(Json(api.pipeline.admit(caller, space, &entity, role).await?))
}

/// Remove a member, or leave
///
/// It may be repeated.
#[utoipa::path(
    delete, path = "/v1/spaces/{id}/members/{entityId}", operation_id = "removeMember", tag = "spaces",
    params(("id" = SpaceId, Path), ("entityId" = EntityId, Path)),
    responses((status = 204))
)]
async fn leave(State(api): State<Arc<Api>>, By(caller): By, TwoIds(space, entity): TwoIds<SpaceId, EntityId>) -> Answer<StatusCode> {
    api.pipeline.store.space_record(space).await?;
    api.pipeline.dismiss(caller, space, entity).await?;
    Ok(StatusCode::NO_CONTENT)
}
