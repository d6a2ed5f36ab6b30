//! `/v1/spaces/{id}/members/{entityId}`: adds and removes members.

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
    answers::ApiResult,
    auth::Authenticated,
    input::{Body, TwoIds},
};

pub(super) fn routes() -> Routes {
    routes![join, leave]
}

/// The role of the member. Without `role`, a new member gets `member` and an existing one keeps its
/// role.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct MemberBody {
    #[serde(default)]
    role: Option<Role>,
}

/// Add a member, or change its role
///
/// An owner may add people, and agents that are `open`. The call may be repeated.
#[utoipa::path(
    put, path = "/v1/spaces/{id}/members/{entityId}",
    operation_id = "addMember", tag = "spaces",
    params(("id" = SpaceId, Path), ("entityId" = EntityId, Path)),
    request_body = Option<MemberBody>,
    responses(
        (status = 200, body = Member),
        (status = 409, description = "The name is taken in this space, the space is full, or \
            the entity is in too many spaces."),
    )
)]
async fn join(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    TwoIds(space, entity): TwoIds<SpaceId, EntityId>,
    body: Body,
) -> ApiResult<Json<Member>> {
    api.pipeline.authorise(caller, SpaceAction::Govern, space).await?;
    let MemberBody { role } = body.read_or_nothing()?;
    let entity = api.pipeline.store.entities().get(entity).await?;
    Ok(Json(api.pipeline.admit(caller, space, &entity, role).await?))
}

/// Remove a member, or leave a space
///
/// The call may be repeated.
#[utoipa::path(
    delete, path = "/v1/spaces/{id}/members/{entityId}",
    operation_id = "removeMember", tag = "spaces",
    params(("id" = SpaceId, Path), ("entityId" = EntityId, Path)),
    responses((status = 204))
)]
async fn leave(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    TwoIds(space, entity): TwoIds<SpaceId, EntityId>,
) -> ApiResult<StatusCode> {
    api.pipeline.store.spaces().record(space).await?;
    api.pipeline.dismiss(caller, space, entity).await?;
    Ok(StatusCode::NO_CONTENT)
}
