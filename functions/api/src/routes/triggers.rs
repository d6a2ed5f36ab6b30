//! `/v1/agents/{id}/trigger`: waking an agent in a service's name.

use std::sync::Arc;

use axum::{Json, extract::State, http::HeaderMap, http::StatusCode, response::IntoResponse};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use smartspace_domain::{
    Error, Result,
    agents::is_service_name,
    dispatch::Reason,
    ids::{DeliveryId, EntityId, RunId},
    json,
    limits::PAYLOAD_BYTES,
    schemas,
};
use smartspace_store::deliveries::{NewDelivery, Received};
use utoipa::ToSchema;

use super::what_is_kept;
use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::Answer,
    auth::By,
    description::{ChainDepth, IdempotencyKey},
    input::{Body, Id, depth},
};

pub(super) fn routes() -> Routes {
    routes![trigger]
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TriggerBody {
    /// The service in whose name.
    #[schema(value_type = schemas::ServiceName)]
    service: String,
    /// What it says: any JSON, at most 128 KiB, with whole numbers of 64 bits at most.
    payload: Value,
}

/// What came of a delivery.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReceivedResponse {
    /// The delivery; of one that came again the first.
    delivery_id: DeliveryId,
    /// The run that it woke.
    #[schema(required)]
    run_id: Option<RunId>,
    /// Why it woke nobody: `paused`, `chain_depth` or `rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Reason>,
}

/// It is kept, whether it woke anybody or not.
pub(super) fn accepted(Received { id, run_id, reason, .. }: Received) -> (StatusCode, Json<ReceivedResponse>) {
    (StatusCode::ACCEPTED, Json(ReceivedResponse { delivery_id: id, run_id, reason }))
}

/// Checks how long a payload is.
pub(super) fn check_payload(bytes: usize) -> Result<()> {
    if bytes <= PAYLOAD_BYTES {
        Ok(())
    } else {
        Err(Error::TooLarge(format!("a payload has at most {PAYLOAD_BYTES} bytes, this one {bytes}")))
    }
}

/// Wake an agent in a service's name
///
/// A service that signs what it sends is better off with `/v1/hooks`. An agent that can't be woken keeps it all the same, and the answer says why.
#[utoipa::path(
    post, path = "/v1/agents/{id}/trigger", operation_id = "triggerAgent", tag = "services",
    params(("id" = EntityId, Path), IdempotencyKey, ChainDepth),
    request_body = TriggerBody,
    responses((status = 202, body = ReceivedResponse))
)]
async fn trigger(
    State(api): State<Arc<Api>>,
    By(caller): By,
    Id(agent): Id<EntityId>,
    headers: HeaderMap,
    body: Body,
) -> Answer<impl IntoResponse> {
    what_is_kept(&api, caller, agent).await?;
    let TriggerBody { service, payload } = body.read()?;
    if !is_service_name(&service) {
        return Err(Error::invalid("/service", "expected a letter or digit and up to 63 of [A-Za-z0-9._-]").into());
    }
    if let Some(number) = json::beyond_64_bits(body.bytes()) {
        let large = format!("expected at most 8 bytes (64 bits) for a whole number, got {number}: send it as a text");
        return Err(Error::invalid("/payload", large).into());
    }
    let bytes = payload.to_string().len();
    check_payload(bytes)?;
    let post_key = body.key(&headers, caller, &format!("/v1/agents/{agent}/trigger"))?;
    let (id, chain_depth) = (api.pipeline.delivery_id(), depth(&headers)?);
    let key = id.to_string();
    let new = NewDelivery { id, agent, service, key, also: None, payload, bytes, chain_depth, post_key, by_hand: false };
    Ok(accepted(api.pipeline.receive(&new).await?))
}
