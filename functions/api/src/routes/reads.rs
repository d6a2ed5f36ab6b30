//! `/v1/spaces/{id}/read`: read positions.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use smartspace_domain::{
    access::{Caller, SpaceAction},
    ids::{EntityId, SpaceId},
    schemas,
    spaces::Looked,
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

/// The new read position.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReadBody {
    #[schema(schema_with = schemas::seq)]
    seq: u64,
    /// The member that has read. By default the caller. With the admin key and without a member it
    /// is the operator, who has a mark of its own.
    #[serde(default)]
    entity_id: Option<EntityId>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ReadResponse {
    /// The member. Null for the operator.
    #[schema(required)]
    entity_id: Option<EntityId>,
    /// The last message that it has read.
    seq: u64,
    /// How many tool cards there are up to it.
    cards: u64,
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
    let (entity_id, Looked { seq, cards }) = match (caller, entity_id) {
        (Caller::Operator, None) => (None, api.pipeline.store.spaces().look(space, seq).await?),
        (caller, entity) => {
            let entity = caller.speaks_as(entity)?;
            (Some(entity), api.pipeline.read_up_to(space, entity, seq).await?)
        }
    };
    Ok(Json(ReadResponse { entity_id, seq, cards }))
}
