//! Deliveries: the webhook requests of services to agents.

mod new_delivery;
mod receiving;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use smartspace_domain::{
    Time,
    deliveries::{Delivery, DeliveryStatus},
    ids::{DeliveryId, EntityId},
};

pub use self::new_delivery::{NewDelivery, Received};
use crate::{
    Deliveries, Error, Result,
    runs::triggers::PayloadRecord,
    table::{
        Query,
        indexes::Index,
        key_of, keys,
        pages::{Page, PageRequest},
        write::Write,
    },
};

/// How many pages of the index a filtered list reads at most.
const FILTERED_PAGES: usize = 10;
/// How many items each of these pages has.
const FILTERED_PAGE_ITEMS: usize = 100;

/// The largest payload as JSON text, in bytes. One item of the table must hold it. A control
/// character takes six bytes.
pub const PAYLOAD_KEPT_BYTES: usize = 350 * 1024;

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

impl Deliveries<'_> {
    /// Notes a delivery that can't be verified to come from its service. Nothing else of it is
    /// stored. A failure to note it is only logged.
    pub async fn note_rejection(
        self,
        id: DeliveryId,
        agent: EntityId,
        service: &str,
        bytes: usize,
        reason: String,
        now: Time,
    ) {
        let delivery = Delivery {
            id,
            service: service.to_owned(),
            key: None,
            status: DeliveryStatus::Rejected,
            reason: Some(reason),
            run_id: None,
            bytes,
            received_at: now,
        };
        self.note(self.delivery_record(agent, now, delivery)).await;
    }

    /// Notes that a service repeated a delivery.
    pub async fn note_repetition(self, new: &NewDelivery, first: &Received, now: Time) {
        let delivery = new.listed(DeliveryStatus::Repeated, first.run_id, first.reason, now);
        self.note(self.delivery_record(new.agent, now, delivery)).await;
    }

    async fn note(self, record: DeliveryRecord) {
        let id = record.delivery.id;
        let noted =
            async { self.store.table.write_always(Write::put(keys::delivery(id), &record)?).await };
        if let Err(error) = noted.await {
            tracing::warn!(
                delivery = %id,
                %error,
                "a delivery that woke nobody could not be noted"
            );
        }
    }

    fn delivery_record(self, agent_id: EntityId, now: Time, delivery: Delivery) -> DeliveryRecord {
        DeliveryRecord {
            agent_id,
            expires_at: self.store.run_expiry(now),
            g2pk: keys::deliveries_of(agent_id),
            g2sk: delivery.id.to_string(),
            delivery,
        }
    }

    /// A delivery of an agent, and its payload. A rejected delivery has none.
    pub async fn get(self, agent: EntityId, id: DeliveryId) -> Result<(Delivery, Option<Value>)> {
        let meta_key = keys::delivery(id);
        let payload_key = keys::payload(id);
        let mut items = self.store.table.get_all(&[meta_key.clone(), payload_key.clone()]).await?;
        let record: Option<DeliveryRecord> = items.take(&meta_key)?;
        let record = record.filter(|record| record.agent_id == agent);
        let record = record.ok_or_else(|| Error::NotFound("there is no such delivery".into()))?;
        let payload: Option<PayloadRecord> = items.take(&payload_key)?;
        Ok((record.delivery, payload.map(|payload| payload.payload)))
    }

    /// The deliveries of an agent, newest first, optionally filtered by service and by status.
    pub async fn list(
        self,
        agent: EntityId,
        service: Option<&str>,
        status: Option<DeliveryStatus>,
        request: &PageRequest,
    ) -> Result<Page<Delivery>> {
        let pk = keys::deliveries_of(agent);
        let limit = request.limit()?;
        let fits = |delivery: &Delivery| {
            service.is_none_or(|service| delivery.service == service)
                && status.is_none_or(|status| delivery.status == status)
        };
        let is_filtered = service.is_some() || status.is_some();
        let page_items = if is_filtered { FILTERED_PAGE_ITEMS } else { limit };
        let mut items = Vec::new();
        let mut next = request.after(Index::LISTS.keys, &pk)?;
        // A filter may match few deliveries of a page, so several pages are read. Their number is
        // limited even if that finds fewer deliveries than were asked for.
        for _ in 0..FILTERED_PAGES {
            let query = Query::of_index(Index::LISTS, pk.clone())
                .newest_first()
                .limit(page_items)
                .after(next);
            let page = self.store.table.page(query).await?;
            let wanted = page.items.iter().map(key_of).collect::<Result<Vec<_>>>()?;
            let mut found = self.store.table.get_all(&wanted).await?;
            for (key, entry) in wanted.iter().zip(page.items) {
                let record: Option<DeliveryRecord> = found.take(key)?;
                items.extend(
                    record
                        .map(|record| record.delivery)
                        .filter(fits)
                        .map(|delivery| (entry, delivery)),
                );
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
        Ok(Page::cut(items, next, Index::LISTS.keys.sk))
    }
}
