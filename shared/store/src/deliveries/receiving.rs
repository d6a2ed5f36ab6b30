//! Receiving a delivery. The delivery, its keys, and the run that it triggers are stored in one
//! transaction before the service gets its answer.
//!
//! The checks of the transaction, and their reasons:
//! - the keys of the delivery are new: a service that repeats a delivery, however late, triggers
//!   one run
//! - no delivery with this id exists: if the answer to the first try was lost, its delivery is
//!   there
//! - the agent exists and is not retired

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    deliveries::DeliveryStatus,
    dispatch::Reason,
    ids::{DeliveryId, EntityId, RunId},
};

use crate::{
    Deliveries, Error, Result,
    deliveries::{
        DeliveryRecord,
        new_delivery::{NewDelivery, Received},
    },
    entities::{no_such_entity, not_retired},
    idempotency::PostKey,
    runs::{ActiveCause, ActiveRecord, RunRecord, triggers::PayloadRecord},
    table::{WriteError, keys, refusal::Refusal, write::Write},
};

/// The outcome of the first delivery with a key. It never expires.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct HookRecord {
    delivery_id: DeliveryId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run_id: Option<RunId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<Reason>,
}

impl HookRecord {
    fn received(self) -> Received {
        Received { id: self.delivery_id, run_id: self.run_id, reason: self.reason, triggered: None }
    }
}

impl Deliveries<'_> {
    /// Stores a delivery and triggers the agent, once for each key. Fails with [`Error::NotFound`]
    /// if the agent does not exist.
    pub async fn receive(self, new: &NewDelivery, now: Time) -> Result<Received> {
        let post_key = new.post_key.as_ref();
        let made = self.store.idempotency().made_before::<DeliveryId>(post_key, now).await?;
        if let Some(made) = made {
            return self.received_before(made).await;
        }
        let user = new.quota_user();
        let (reason, bucket) =
            self.store.quota().may_wake(new.agent, new.chain_depth, &user, now).await?;
        let run = reason.is_none().then(|| Box::new(new.run(now).traced(self.store)));
        let run_id = run.as_ref().map(|run| run.id);
        let hook = HookRecord { delivery_id: new.id, run_id, reason };
        let writes = self.receive_writes(new, &hook, run.as_deref(), now)?;
        match self.store.table.transact(&writes).await {
            Ok(()) => {}
            Err(WriteError::Other(error)) => return Err(error),
            // The first try took effect and its answer was lost.
            Err(WriteError::Refused(refusal)) if refusal.names(&keys::delivery(new.id)) => {}
            Err(WriteError::Refused(refusal)) => return self.refused(new, &refusal, now).await,
        }
        if let Some(bucket) = bucket {
            self.store.quota().count_run(new.agent, bucket, &user, now).await;
        }
        Ok(Received { id: new.id, run_id, reason, triggered: run })
    }

    fn receive_writes(
        self,
        new: &NewDelivery,
        hook: &HookRecord,
        run: Option<&RunRecord>,
        now: Time,
    ) -> Result<Vec<Write>> {
        let status = if run.is_some() { DeliveryStatus::Accepted } else { DeliveryStatus::Refused };
        let listed = new.listed(status, hook.run_id, hook.reason, now);
        let record = self.delivery_record(new.agent, now, listed);
        let payload = PayloadRecord {
            service: new.service.clone(),
            payload: new.payload.clone(),
            at: now,
            expires_at: self.store.work_expiry(now),
        };
        let mut writes = vec![
            Write::put(keys::delivery(new.id), &record)?.if_absent(),
            not_retired(new.agent),
            Write::put(keys::payload(new.id), &payload)?,
        ];
        if let Some(run) = run {
            let active =
                ActiveRecord::new(run, ActiveCause::Service { service_name: new.service.clone() });
            writes.push(Write::put(keys::run_meta(run.id), run)?.if_absent());
            writes.push(Write::put(keys::active_run(new.agent, run.id), &active)?);
        }
        for key in new.hook_keys() {
            writes.push(Write::put(key, hook)?.if_absent());
        }
        if let Some(key) = &new.post_key {
            writes.push(key.write(&new.id.to_string(), now)?);
        }
        Ok(writes)
    }

    /// The outcome of a delivery whose transaction was refused.
    async fn refused(self, new: &NewDelivery, refusal: &Refusal, now: Time) -> Result<Received> {
        if let Some(made) = PostKey::made(new.post_key.as_ref(), refusal)? {
            return self.received_before(made).await;
        }
        let first = new.hook_keys().iter().find_map(|key| refusal.existing::<HookRecord>(key));
        if let Some(first) = first {
            let first = first.received();
            self.note_repetition(new, &first, now).await;
            return Ok(first);
        }
        if refusal.names(&keys::entity_meta(new.agent)) {
            return Err(no_such_entity());
        }
        Err(Error::Internal(
            "a delivery could not be stored, and no failed condition explains why".into(),
        ))
    }

    /// The outcome of an earlier delivery with one of these keys.
    pub async fn received_as(
        self,
        agent: EntityId,
        service: &str,
        keys: &[&str],
    ) -> Result<Option<Received>> {
        let item_keys: Vec<_> = keys.iter().map(|key| keys::hook(agent, service, key)).collect();
        let mut items = self.store.table.get_all(&item_keys).await?;
        for item_key in &item_keys {
            if let Some(first) = items.take::<HookRecord>(item_key)? {
                return Ok(Some(first.received()));
            }
        }
        Ok(None)
    }

    /// The outcome of the delivery that the same idempotency key made before.
    async fn received_before(self, id: DeliveryId) -> Result<Received> {
        let record: Option<DeliveryRecord> = self.store.table.get(&keys::delivery(id)).await?;
        let record = record.ok_or_else(|| {
            Error::NotFound("the delivery that this Idempotency-Key made no longer exists".into())
        })?;
        let delivery = record.delivery;
        let reasons = [Reason::Paused, Reason::ChainDepth, Reason::Rate, Reason::Budget];
        let reason =
            reasons.into_iter().find(|reason| delivery.reason.as_deref() == Some(reason.as_str()));
        Ok(Received { id, run_id: delivery.run_id, reason, triggered: None })
    }
}
