//! `/v1/spaces/{id}/read`: read positions.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Error,
    access::{Caller, SpaceAction},
    ids::{EntityId, SpaceId},
    schemas,
};
use utoipa::ToSchema;

use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::ApiResult,
    auth::Credential,
    input::{Body, Id},
};

pub(super) fn routes() -> Routes {
    routes![read]
}

/// The new read position. With the admin key, `entityId` is required: the operator has no position
/// of its own.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReadBody {
    #[schema(schema_with = schemas::seq)]
    seq: u64,
    /// The member that has read. Required with the admin key; otherwise the caller.
    #[serde(default)]
    entity_id: Option<EntityId>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ReadResponse {
    entity_id: EntityId,
    seq: u64,
}

/// Set a member's read position
///
/// The position only moves forward: a lower `seq` changes nothing.
#[utoipa::path(
    put, path = "/v1/spaces/{id}/read", operation_id = "markRead", tag = "messages",
    params(("id" = SpaceId, Path)),
    request_body = ReadBody,
    responses((status = 200, body = ReadResponse))
)]
async fn read(
    State(api): State<Arc<Api>>,
    Credential { caller, .. }: Credential,
    Id(space): Id<SpaceId>,
    body: Body,
) -> ApiResult<Json<ReadResponse>> {
    api.pipeline.authorise(caller, SpaceAction::Read, space).await?;
    let ReadBody { seq, entity_id } = body.read()?;
    let entity_id = match (caller, entity_id) {
        (Caller::Operator, None) => {
            return Err(Error::invalid(
                "/entityId",
                "required with the admin key: the member that has read",
            )
            .into());
        }
        (caller, entity) => caller.speaks_as(entity)?,
    };
    let seq = api.pipeline.read_up_to(space, entity_id, seq).await?;
    Ok(Json(ReadResponse { entity_id, seq }))
}
