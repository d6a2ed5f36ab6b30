//! What services send.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    Time,
    dispatch::Reason,
    ids::{DeliveryId, RunId},
};

/// What a service sent, as the API shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// Its id.
    pub id: DeliveryId,
    /// The service.
    pub service: String,
    /// What tells it from others of the service; null where that is not known, since it was rejected.
    #[schema(required)]
    pub key: Option<String>,
    /// What became of it.
    pub status: DeliveryStatus,
    /// Why it woke nobody: of a refused one `paused`, `chain_depth` or `rate`, of a rejected one a sentence.
    #[schema(required)]
    pub reason: Option<String>,
    /// The run that it woke; of a repeated one the run of the first.
    #[schema(required)]
    pub run_id: Option<RunId>,
    /// How long its payload is.
    pub bytes: usize,
    /// When it came.
    pub received_at: Time,
}

/// What became of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryStatus {
    /// It woke the agent.
    Accepted,
    /// It had come before.
    Repeated,
    /// It is kept, and the agent was not woken.
    Refused,
    /// It is not known to come from the service, or is not what one can take; it was not kept.
    Rejected,
}

impl Reason {
    /// As the API writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Paused => "paused",
            Self::ChainDepth => "chain_depth",
            Self::Policy => "policy",
            Self::Rate => "rate",
            Self::Budget => "budget",
        }
    }
}
