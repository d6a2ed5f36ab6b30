//! Deliveries: the webhooks of services.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    Time,
    ids::{DeliveryId, RunId},
    stored,
};

/// A webhook of a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// The delivery's id.
    pub id: DeliveryId,
    /// The service's name.
    pub service: String,
    /// The key that identifies the delivery among those of its service. Null if the delivery was
    /// rejected before its key was known.
    #[schema(required)]
    pub key: Option<String>,
    /// What happened to the delivery.
    #[serde(deserialize_with = "stored::read")]
    pub status: DeliveryStatus,
    /// Why the delivery did not trigger the agent: `paused`, `chain_depth`, `rate` or `budget` if
    /// it was refused, a sentence if it was rejected, otherwise null.
    #[schema(required)]
    pub reason: Option<String>,
    /// The run that the delivery triggered. For a repeated delivery this is the run of the first
    /// one.
    #[schema(required)]
    pub run_id: Option<RunId>,
    /// The length of the payload, in bytes.
    pub bytes: usize,
    /// When the delivery was received.
    pub received_at: Time,
}

/// What happened to a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryStatus {
    /// It triggered the agent.
    Accepted,
    /// The service has sent it before.
    Repeated,
    /// It was stored, but did not trigger the agent.
    Refused,
    /// Its signature or its content is not valid, or no secret can be used. Nothing was stored of
    /// it.
    Rejected,
}
