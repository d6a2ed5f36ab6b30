//! A delivery to be stored, and the outcome of storing it.

use serde_json::Value;
use smartspace_domain::{
    Time,
    deliveries::{Delivery, DeliveryStatus},
    dispatch::Reason,
    ids::{DeliveryId, EntityId, RunId},
    quota::QuotaUser,
};

use crate::{
    idempotency::PostKey,
    runs::{RunRecord, TriggeredBy},
    table::keys,
};

/// A delivery to be stored.
#[derive(Clone, Debug)]
pub struct NewDelivery {
    /// Its id, made before the first try: the token that detects a lost answer.
    pub id: DeliveryId,
    /// The agent that receives it.
    pub agent: EntityId,
    pub service: String,
    /// Its key, unique among the deliveries of the service.
    pub key: String,
    /// Another key that must be new too.
    pub also: Option<String>,
    pub payload: Value,
    /// The size of the payload, as the service sent it.
    pub bytes: usize,
    pub chain_depth: u32,
    pub post_key: Option<PostKey>,
    /// Whether an operator sends it again by hand.
    pub by_hand: bool,
}

/// The outcome of a delivery.
#[derive(Clone, Debug)]
pub struct Received {
    /// The delivery. If a service repeats one, this is the first one.
    pub id: DeliveryId,
    /// The run that it triggered.
    pub run_id: Option<RunId>,
    /// Why it triggered no run.
    pub reason: Option<Reason>,
    /// The run, if it was created just now. The caller queues it.
    pub triggered: Option<Box<RunRecord>>,
}

impl NewDelivery {
    pub(super) fn quota_user(&self) -> QuotaUser {
        if self.by_hand { QuotaUser::operator() } else { QuotaUser::service(&self.service) }
    }

    pub(super) fn run(&self, now: Time) -> RunRecord {
        RunRecord::queued(
            RunId::of_delivery(self.agent, &self.service, &self.key, now),
            self.agent,
            TriggeredBy::Delivery { delivery_id: self.id },
            self.chain_depth,
            now,
        )
    }

    /// The table keys of its delivery keys.
    pub(super) fn hook_keys(&self) -> Vec<keys::Key> {
        [Some(&self.key), self.also.as_ref()]
            .into_iter()
            .flatten()
            .map(|key| keys::hook(self.agent, &self.service, key))
            .collect()
    }

    pub(super) fn listed(
        &self,
        status: DeliveryStatus,
        run_id: Option<RunId>,
        reason: Option<Reason>,
        received_at: Time,
    ) -> Delivery {
        Delivery {
            id: self.id,
            service: self.service.clone(),
            key: Some(self.key.clone()),
            status,
            reason: reason.map(|reason| reason.as_str().to_owned()),
            run_id,
            bytes: self.bytes,
            received_at,
        }
    }
}
