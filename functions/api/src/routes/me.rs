//! `/v1/me`: the caller.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Serialize;
use smartspace_domain::{
    access::{Caller, Capability},
    entities::Entity,
};
use utoipa::ToSchema;

use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::ApiResult,
    auth::Credential,
};

pub(super) fn routes() -> Routes {
    routes![show]
}

/// The holder of a credential.
#[derive(Debug, Serialize, ToSchema)]
struct Me {
    /// The operator, who has the admin key, or an entity, which has a token.
    kind: CallerKind,
    /// The entity. Absent for the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    entity: Option<Entity>,
    /// The spaces that the caller may read.
    spaces: SpaceCount,
    /// What the caller may do outside of its own name and messages.
    capabilities: Vec<Capability>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum CallerKind {
    /// The holder of the admin key.
    Operator,
    /// A person or an agent.
    Entity,
}

#[derive(Debug, Serialize, ToSchema)]
struct SpaceCount {
    /// How many there are.
    count: usize,
}

/// Show the caller
///
/// Who the holder of the credential is, and what it may do.
#[utoipa::path(
    get, path = "/v1/me", operation_id = "showMe", tag = "entities",
    responses((status = 200, body = Me))
)]
async fn show(
    State(api): State<Arc<Api>>,
    Credential { caller, .. }: Credential,
) -> ApiResult<Json<Me>> {
    let store = &api.pipeline.store;
    let (kind, entity, count) = match caller {
        Caller::Operator => (CallerKind::Operator, None, store.spaces().count().await?),
        Caller::Entity(id) => {
            let (entity, count) = futures::try_join!(
                store.entities().get(id),
                store.relationships().count_spaces(id)
            )?;
            (CallerKind::Entity, Some(entity.seen_by(caller)), count)
        }
    };
    let capabilities = caller.capabilities(entity.as_ref());
    Ok(Json(Me { kind, entity, spaces: SpaceCount { count }, capabilities }))
}
