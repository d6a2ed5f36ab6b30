//! `/v1/agents/{id}/deliveries`: lists what services sent to an agent, and replays a delivery.

use std::sync::Arc;

use axum::{Json, extract::State, http::HeaderMap, response::IntoResponse};
use serde::Deserialize;
use smartspace_domain::{
    deliveries::{Delivery, DeliveryStatus},
    ids::{DeliveryId, EntityId},
};
use smartspace_store::table::pages::{Page, PageRequest};
use utoipa::IntoParams;

use super::{
    store_for_agent,
    triggers::{ReceivedResponse, accepted},
};
use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::ApiResult,
    auth::Authenticated,
    description::{ChainDepth, IdempotencyKey, limit},
    input::{Body, Id, Query, TwoIds, depth},
};

pub(super) fn routes() -> Routes {
    routes![list, replay]
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct DeliveriesQuery {
    /// Only deliveries of this service.
    service: Option<String>,
    /// Only deliveries with this status.
    status: Option<DeliveryStatus>,
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
    #[param(schema_with = limit)]
    limit: Option<usize>,
}

/// List the deliveries of an agent
///
/// Newest first, without payloads. With a filter, a page may hold fewer than `limit` deliveries
/// although there are more: read on until `nextCursor` is missing.
#[utoipa::path(
    get, path = "/v1/agents/{id}/deliveries", operation_id = "listDeliveries", tag = "services",
    params(("id" = EntityId, Path), DeliveriesQuery),
    responses((status = 200, body = Page<Delivery>))
)]
async fn list(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(agent): Id<EntityId>,
    Query(query): Query<DeliveriesQuery>,
) -> ApiResult<Json<Page<Delivery>>> {
    let store = store_for_agent(&api, caller, agent).await?;
    let DeliveriesQuery { service, status, cursor, limit } = query;
    Ok(Json(
        store
            .deliveries()
            .list(agent, service.as_deref(), status, &PageRequest { cursor, limit })
            .await?,
    ))
}

/// Replay a delivery
///
/// Creates a new delivery with a new run, even if the first delivery triggered nobody. A rejected
/// delivery can't be replayed, because its payload was not stored.
#[utoipa::path(
    post, path = "/v1/agents/{id}/deliveries/{deliveryId}/replay",
    operation_id = "replayDelivery", tag = "services",
    params(("id" = EntityId, Path), ("deliveryId" = DeliveryId, Path), IdempotencyKey, ChainDepth),
    responses(
        (status = 202, body = ReceivedResponse),
        (status = 409, description = "The payload of this delivery was not stored."),
        (status = 422, description = "The key was used before with another body.")
    )
)]
async fn replay(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    TwoIds(agent, delivery): TwoIds<EntityId, DeliveryId>,
    headers: HeaderMap,
    body: Body,
) -> ApiResult<impl IntoResponse> {
    store_for_agent(&api, caller, agent).await?;
    let key =
        body.key(&headers, caller, &format!("/v1/agents/{agent}/deliveries/{delivery}/replay"))?;
    Ok(accepted(api.pipeline.replay(agent, delivery, depth(&headers)?, key).await?))
}
