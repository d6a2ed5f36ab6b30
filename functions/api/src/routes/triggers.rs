//! `/v1/agents/{id}/trigger`: the operator triggers an agent on behalf of a service.

use std::sync::Arc;

use axum::{Json, extract::State, http::HeaderMap, http::StatusCode, response::IntoResponse};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use smartspace_domain::{
    Error, Result,
    dispatch::Reason,
    ids::{DeliveryId, EntityId, RunId},
    json,
    limits::PAYLOAD_BYTES,
    names::ServiceName,
};
use smartspace_store::deliveries::{NewDelivery, Received};
use utoipa::ToSchema;

use super::store_for_agent;
use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::ApiResult,
    auth::Authenticated,
    description::{ChainDepth, IdempotencyKey},
    input::{Body, Id, depth},
};

pub(super) fn routes() -> Routes {
    routes![trigger]
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TriggerBody {
    /// The service that the payload comes from.
    #[schema(value_type = ServiceName)]
    service: String,
    /// Any JSON of at most 128 KiB. Whole numbers must fit 64 bits.
    payload: Value,
}

/// The outcome of a delivery.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReceivedResponse {
    /// The delivery. For a repeated delivery it is the first one.
    delivery_id: DeliveryId,
    /// The run that the delivery triggered.
    #[schema(required)]
    run_id: Option<RunId>,
    /// Why the delivery triggered nobody: `paused`, `chain_depth`, `rate` or `budget`.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Reason>,
}

/// 202: the delivery is stored, whether or not it triggered the agent.
pub(super) fn accepted(
    Received { id, run_id, reason, .. }: Received,
) -> (StatusCode, Json<ReceivedResponse>) {
    (StatusCode::ACCEPTED, Json(ReceivedResponse { delivery_id: id, run_id, reason }))
}

/// Checks the size of a payload.
pub(super) fn check_payload(bytes: usize) -> Result<()> {
    if bytes <= PAYLOAD_BYTES {
        Ok(())
    } else {
        Err(Error::TooLarge(format!(
            "expected a payload of at most {PAYLOAD_BYTES} bytes, got {bytes}"
        )))
    }
}

/// Trigger an agent on behalf of a service
///
/// For a service that signs its requests, use `/v1/hooks` instead. If the agent can't be triggered,
/// the payload is stored anyway and `reason` says why.
#[utoipa::path(
    post, path = "/v1/agents/{id}/trigger", operation_id = "triggerAgent", tag = "services",
    params(("id" = EntityId, Path), IdempotencyKey, ChainDepth),
    request_body = TriggerBody,
    responses((status = 202, body = ReceivedResponse))
)]
async fn trigger(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(agent): Id<EntityId>,
    headers: HeaderMap,
    body: Body,
) -> ApiResult<impl IntoResponse> {
    store_for_agent(&api, caller, agent).await?;
    let TriggerBody { service, payload } = body.read()?;
    let service = ServiceName::try_from(service).map_err(|error| error.at("/service"))?;
    if let Some(number) = json::beyond_64_bits(body.bytes()) {
        let large =
            format!("expected whole numbers of at most 64 bits, got {number}; send it as a string");
        return Err(Error::invalid("/payload", large).into());
    }
    let bytes = payload.to_string().len();
    check_payload(bytes)?;
    let post_key = body.key(&headers, caller, &format!("/v1/agents/{agent}/trigger"))?;
    let id = api.pipeline.delivery_id();
    let chain_depth = depth(&headers)?;
    let key = id.to_string();
    let new = NewDelivery {
        id,
        agent,
        service: service.into(),
        key,
        also: None,
        payload,
        bytes,
        chain_depth,
        post_key,
        by_hand: false,
    };
    Ok(accepted(api.pipeline.receive(&new).await?))
}
