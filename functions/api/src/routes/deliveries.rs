//! `/v1/agents/{id}/deliveries`: what services sent an agent, and sending it again.

use std::sync::Arc;

use axum::{Json, extract::State, http::HeaderMap, response::IntoResponse};
use serde::Deserialize;
use smartspace_domain::{
    deliveries::{Delivery, DeliveryStatus},
    ids::{DeliveryId, EntityId},
};
use smartspace_store::pages::{Ask, Page};
use utoipa::IntoParams;

use super::{
    triggers::{ReceivedResponse, accepted},
    what_is_kept,
};
use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::Answer,
    auth::By,
    description::{ChainDepth, IdempotencyKey, limit},
    input::{Asked, Body, Id, TwoIds, depth},
};

pub(super) fn routes() -> Routes {
    routes![list, replay]
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct DeliveriesQuery {
    /// Only those of this service.
    service: Option<String>,
    /// Only those of which this became.
    status: Option<DeliveryStatus>,
    /// What `nextCursor` of the page before said.
    cursor: Option<String>,
    #[param(schema_with = limit)]
    limit: Option<usize>,
}

/// List what services sent an agent
///
/// Newest first, without payloads. A page may hold less than `limit` where only some are asked for; `nextCursor` says whether there are more.
#[utoipa::path(
    get, path = "/v1/agents/{id}/deliveries", operation_id = "listDeliveries", tag = "services",
    params(("id" = EntityId, Path), DeliveriesQuery),
    responses((status = 200, body = Page<Delivery>))
)]
async fn list(
    State(api): State<Arc<Api>>,
    By(caller): By,
    Id(agent): Id<EntityId>,
    Asked(query): Asked<DeliveriesQuery>,
) -> Answer<Json<Page<Delivery>>> {
    let store = what_is_kept(&api, caller, agent).await?;
    let DeliveriesQuery { service, status, cursor, limit } = query;
    Ok(Json(store.deliveries(agent, service.as_deref(), status, &Ask { cursor, limit }).await?))
}

/// Send a delivery again
///
/// It makes a new delivery, with a new run, also where the first one woke nobody. Of one that was rejected nothing was kept.
#[utoipa::path(
    post, path = "/v1/agents/{id}/deliveries/{deliveryId}/replay", operation_id = "replayDelivery", tag = "services",
    params(("id" = EntityId, Path), ("deliveryId" = DeliveryId, Path), IdempotencyKey, ChainDepth),
    responses(
        (status = 202, body = ReceivedResponse),
        (status = 409, description = "Nothing was kept of what it said."),
        (status = 422, description = "The key was used before with another body.")
    )
)]
async fn replay(
    State(api): State<Arc<Api>>,
    By(caller): By,
    TwoIds(agent, delivery): TwoIds<EntityId, DeliveryId>,
    headers: HeaderMap,
    body: Body,
) -> Answer<impl IntoResponse> {
    what_is_kept(&api, caller, agent).await?;
    let key = body.key(&headers, caller, &format!("/v1/agents/{agent}/deliveries/{delivery}/replay"))?;
    Ok(accepted(api.pipeline.replay(agent, delivery, depth(&headers)?, key).await?))
}
