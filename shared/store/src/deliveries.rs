//! What services send. The delivery, what tells it from others, and the run that it wakes are one transaction, made before the service is answered.
//!
//! What the transaction checks, and why:
//! - the delivery's keys are new: whatever a service repeats, however late, is one run
//! - there is no delivery with this id: the token of a first try whose answer was lost is found there
//! - the agent is there, and not retired

use serde::{Deserialize, Serialize};
use serde_json::Value;
use smartspace_domain::{
    Time,
    deliveries::{Delivery, DeliveryStatus},
    dispatch::{Gate, Reason},
    ids::{DeliveryId, EntityId, RunId},
    shares::{Cause, Half},
    triggers::Trigger,
};

use crate::{
    Error, Result, Store,
    entities::no_such_entity,
    keys,
    pages::{Ask, Page},
    posted::PostKey,
    runs::{ActiveCause, ActiveRecord, RunRecord, WokenBy},
    table::{Query, WriteError, key_of},
    write::Write,
};

const LISTED: (&str, &str) = ("g2pk", "g2sk");
/// Pages of a list that are looked through for those that are asked for.
const PAGES: usize = 10;
/// How many a page holds then.
const LOOKED_AT: usize = 100;

/// What a payload may take as JSON's text, in bytes: an item of the table holds it whole. A control character takes six.
pub const PAYLOAD_KEPT_BYTES: usize = 350 * 1024;

/// What a service sent, to be kept.
#[derive(Clone, Debug)]
pub struct NewDelivery {
    /// Its id, made before the first try: the token by which a lost answer is known.
    pub id: DeliveryId,
    /// Whom it is for.
    pub agent: EntityId,
    /// The service.
    pub service: String,
    /// What tells it from others of the service.
    pub key: String,
    /// What must be new besides.
    pub also: Option<String>,
    /// What it says.
    pub payload: Value,
    /// How long that is, as it came.
    pub bytes: usize,
    /// How deep in a chain of agents' doings it is.
    pub chain_depth: u32,
    /// The caller's idempotency key.
    pub post_key: Option<PostKey>,
    /// An operator sends it again, by hand.
    pub by_hand: bool,
}

/// What came of a delivery.
#[derive(Clone, Debug)]
pub struct Received {
    /// The delivery; where it was repeated, the first one.
    pub id: DeliveryId,
    /// The run that it woke.
    pub run_id: Option<RunId>,
    /// Why it woke nobody.
    pub reason: Option<Reason>,
    /// The run, where it was woken just now: it is to be queued.
    pub woken: Option<Box<RunRecord>>,
}

/// A delivery, as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DeliveryRecord {
    agent_id: EntityId,
    #[serde(flatten)]
    delivery: Delivery,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<i64>,
    g2pk: String,
    g2sk: String,
}

/// What a service sent. As JSON's text: the table's own numbers, names and depth are others.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PayloadRecord {
    service: String,
    #[serde(with = "crate::json_text")]
    payload: Value,
    at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<i64>,
}

impl PayloadRecord {
    /// As what woke a run.
    pub(crate) fn trigger(self, delivery_id: DeliveryId) -> Trigger {
        Trigger::Service { service: self.service, payload: self.payload, delivery_id, at: self.at }
    }
}

/// What a key made; it never expires.
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
        Received { id: self.delivery_id, run_id: self.run_id, reason: self.reason, woken: None }
    }
}

impl Store {
    /// Keeps what a service sent and wakes the agent, once for each key. [`Error::NotFound`] where the agent is gone.
    pub async fn receive(&self, new: &NewDelivery, now: Time) -> Result<Received> {
        if let Some(made) = self.made_before::<DeliveryId>(new.post_key.as_ref(), now).await? {
            return self.received_before(made).await;
        }
        let cause = if new.by_hand { Cause::operator() } else { Cause::service(&new.service) };
        let (reason, half) = self.may_wake(new.agent, new.chain_depth, &cause, now).await?;
        let run_id = RunId::of_delivery(new.agent, &new.service, &new.key, now);
        let run = RunRecord::queued(run_id, new.agent, WokenBy::Delivery { delivery_id: new.id }, new.chain_depth, now);
        let run = reason.is_none().then(|| Box::new(run));
        let status = if run.is_some() { DeliveryStatus::Accepted } else { DeliveryStatus::Refused };
        let hook = HookRecord { delivery_id: new.id, run_id: run.as_ref().map(|run| run.id), reason };
        let record = self.delivery_record(new.agent, now, new.listed(status, hook.run_id, reason, now));
        let payload =
            PayloadRecord { service: new.service.clone(), payload: new.payload.clone(), at: now, expires_at: self.progress_expiry(now) };
        // What tells that it came before: its key, and another one where it has two.
        let places: Vec<_> =
            [Some(&new.key), new.also.as_ref()].into_iter().flatten().map(|key| keys::hook(new.agent, &new.service, key)).collect();
        let mut writes = vec![
            Write::put(keys::delivery(new.id), &record)?.if_absent(),
            Write::check(keys::entity_meta(new.agent)).when("attribute_exists(PK) AND attribute_not_exists(#retiredAt)"),
            Write::put(keys::payload(new.id), &payload)?,
        ];
        if let Some(run) = &run {
            let active = ActiveRecord::new(run, ActiveCause::Service { service_name: new.service.clone() });
            writes.push(Write::put(keys::run_meta(run.id), &**run)?.if_absent());
            writes.push(Write::put(keys::active_run(new.agent, run.id), &active)?);
        }
        for place in &places {
            writes.push(Write::put(place.clone(), &hook)?.if_absent());
        }
        writes.extend(new.post_key.as_ref().map(|key| key.write(&new.id.to_string(), now)).transpose()?);
        match self.table.transact(&writes).await {
            Ok(()) => {}
            Err(WriteError::Other(error)) => return Err(error),
            // Our own is there: the first try took effect and its answer was lost.
            Err(WriteError::Refused(refusal)) if refusal.names(&keys::delivery(new.id)) => {}
            Err(WriteError::Refused(refusal)) => {
                if let Some(made) = PostKey::made(new.post_key.as_ref(), &refusal)? {
                    return self.received_before(made).await;
                }
                if let Some(first) = places.iter().find_map(|place| refusal.there::<HookRecord>(place)) {
                    let first = first.received();
                    self.note_repetition(new, &first, now).await;
                    return Ok(first);
                }
                return Err(if refusal.names(&keys::entity_meta(new.agent)) {
                    no_such_entity()
                } else {
                    Error::Internal("a delivery could not be kept, and nothing that is there says why".into())
                });
            }
        }
        if let Some(half) = half {
            self.count_run(new.agent, half, &cause, now).await;
        }
        Ok(Received { id: new.id, run_id: hook.run_id, reason, woken: run })
    }

    /// What came of a delivery that has come before by one of these keys.
    pub async fn received_as(&self, agent: EntityId, service: &str, keys: &[&str]) -> Result<Option<Received>> {
        let places: Vec<_> = keys.iter().map(|key| keys::hook(agent, service, key)).collect();
        let mut items = self.table.get_all(&places).await?;
        for place in &places {
            if let Some(first) = items.take::<HookRecord>(place)? {
                return Ok(Some(first.received()));
            }
        }
        Ok(None)
    }

    /// Whether an agent may be woken by something that no space says, and from which half of its minute; else why not.
    pub(crate) async fn may_wake(
        &self,
        agent: EntityId,
        chain_depth: u32,
        cause: &Cause,
        now: Time,
    ) -> Result<(Option<Reason>, Option<Half>)> {
        let (gate, minute) = self.gate_and_minute(agent, now).await?;
        let Gate { paused, max_chain_depth, runs_per_minute, .. } = gate.ok_or_else(no_such_entity)?;
        let half = minute.room_of_agent(runs_per_minute, cause);
        let reason = if paused {
            Some(Reason::Paused)
        } else if chain_depth >= max_chain_depth {
            Some(Reason::ChainDepth)
        } else {
            half.is_none().then_some(Reason::Rate)
        };
        Ok((reason, half.filter(|_| reason.is_none())))
    }

    /// Notes a delivery that can't be known to come from its service. Nothing else is kept of it, and where nothing can be it is only said in the log.
    pub async fn note_rejection(&self, id: DeliveryId, agent: EntityId, service: &str, (bytes, reason): (usize, String), now: Time) {
        let (status, service) = (DeliveryStatus::Rejected, service.to_owned());
        let delivery = Delivery { id, service, key: None, status, reason: Some(reason), run_id: None, bytes, received_at: now };
        self.note(self.delivery_record(agent, now, delivery)).await;
    }

    /// Notes that a delivery came again.
    pub async fn note_repetition(&self, new: &NewDelivery, first: &Received, now: Time) {
        let delivery = new.listed(DeliveryStatus::Repeated, first.run_id, first.reason, now);
        self.note(self.delivery_record(new.agent, now, delivery)).await;
    }

    async fn note(&self, record: DeliveryRecord) {
        let id = record.delivery.id;
        let noted = async { self.table.write_always(Write::put(keys::delivery(id), &record)?).await };
        if let Err(error) = noted.await {
            tracing::warn!(delivery = %id, %error, "a delivery that woke nobody was not noted");
        }
    }

    fn delivery_record(&self, agent_id: EntityId, now: Time, delivery: Delivery) -> DeliveryRecord {
        let (g2pk, g2sk) = (keys::deliveries_of(agent_id), delivery.id.to_string());
        DeliveryRecord { agent_id, delivery, expires_at: self.run_expiry(now), g2pk, g2sk }
    }

    async fn received_before(&self, id: DeliveryId) -> Result<Received> {
        let record: Option<DeliveryRecord> = self.table.get(&keys::delivery(id)).await?;
        let delivery = record.ok_or_else(|| Error::NotFound("what this Idempotency-Key made is gone".into()))?.delivery;
        let reasons = [Reason::Paused, Reason::ChainDepth, Reason::Rate];
        let reason = reasons.into_iter().find(|reason| delivery.reason.as_deref() == Some(reason.as_str()));
        Ok(Received { id, run_id: delivery.run_id, reason, woken: None })
    }

    /// A delivery of an agent, and what it said: none where it was rejected.
    pub async fn delivery(&self, agent: EntityId, id: DeliveryId) -> Result<(Delivery, Option<Value>)> {
        let (meta, payload) = (keys::delivery(id), keys::payload(id));
        let mut items = self.table.get_all(&[meta.clone(), payload.clone()]).await?;
        let record: Option<DeliveryRecord> = items.take(&meta)?;
        let record = record.filter(|record| record.agent_id == agent);
        let record = record.ok_or_else(|| Error::NotFound("there is no such delivery".into()))?;
        let payload: Option<PayloadRecord> = items.take(&payload)?;
        Ok((record.delivery, payload.map(|payload| payload.payload)))
    }

    /// What services sent an agent, newest first; of one service, or in one state, where that is asked for.
    pub async fn deliveries(
        &self,
        agent: EntityId,
        service: Option<&str>,
        status: Option<DeliveryStatus>,
        ask: &Ask,
    ) -> Result<Page<Delivery>> {
        let (pk, limit) = (keys::deliveries_of(agent), ask.limit()?);
        let fits = |delivery: &Delivery| {
            service.is_none_or(|service| delivery.service == service) && status.is_none_or(|status| delivery.status == status)
        };
        let (mut items, mut next) = (Vec::new(), ask.after(LISTED, &pk)?);
        // Where only a few are asked for, several pages are looked through for them; not all, however few they are.
        for _ in 0..PAGES {
            let wants = if service.is_some() || status.is_some() { LOOKED_AT } else { limit };
            let query = Query::of_index("GSI2", LISTED, pk.clone()).newest_first().limit(wants).after(next);
            let page = self.table.page(query).await?;
            let wanted = page.items.iter().map(key_of).collect::<Result<Vec<_>>>()?;
            let mut found = self.table.get_all(&wanted).await?;
            for (key, entry) in wanted.iter().zip(page.items) {
                let record: Option<DeliveryRecord> = found.take(key)?;
                items.extend(record.map(|record| record.delivery).filter(fits).map(|delivery| (entry, delivery)));
            }
            next = page.next;
            if next.is_none() || items.len() >= limit {
                break;
            }
        }
        if items.len() > limit {
            items.truncate(limit);
            next = items.last().map(|(entry, _)| entry.clone());
        }
        Ok(Page::cut(items, next, "g2sk"))
    }
}

impl NewDelivery {
    fn listed(&self, status: DeliveryStatus, run_id: Option<RunId>, reason: Option<Reason>, received_at: Time) -> Delivery {
        let (service, key, reason) = (self.service.clone(), Some(self.key.clone()), reason.map(|reason| reason.as_str().to_owned()));
        Delivery { id: self.id, service, key, status, reason, run_id, bytes: self.bytes, received_at }
    }
}
