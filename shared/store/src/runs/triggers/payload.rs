//! The payload of a delivery. Runs that repeat or replay another one share it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use smartspace_domain::{Time, ids::DeliveryId, triggers::Trigger};

/// The payload of a delivery, stored as JSON text.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PayloadRecord {
    pub(crate) service: String,
    #[serde(with = "crate::table::json_text")]
    pub(crate) payload: Value,
    pub(crate) at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at: Option<i64>,
}

impl PayloadRecord {
    /// The payload as the trigger of a run.
    pub(crate) fn trigger(self, delivery_id: DeliveryId) -> Trigger {
        Trigger::Service { service: self.service, payload: self.payload, delivery_id, at: self.at }
    }
}
