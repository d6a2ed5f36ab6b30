//! Deliveries of services: stores a delivery with the run that it triggers, then queues the run.

use smartspace_domain::{
    Error, Result,
    ids::{DeliveryId, EntityId},
    rates,
};
use smartspace_store::{
    deliveries::{NewDelivery, Received},
    idempotency::PostKey,
};

use crate::Pipeline;

impl Pipeline {
    /// Stores a delivery and triggers the agent, once per idempotency key.
    pub async fn receive(&self, new: &NewDelivery) -> Result<Received> {
        let received = self.store.deliveries().receive(new, self.now()).await?;
        self.queue_runs(received.triggered.iter().map(|run| run.job()).collect()).await;
        Ok(received)
    }

    /// The result of the first delivery with the same key, or `None` if the delivery is new.
    ///
    /// Repetitions have a rate limit of their own: somebody who replays a recorded delivery must
    /// not block new ones. Only some of many repetitions are noted.
    pub async fn repeated(&self, new: &NewDelivery) -> Result<Option<Received>> {
        let keys: Vec<&str> =
            [Some(new.key.as_str()), new.also.as_deref()].into_iter().flatten().collect();
        let Some(first) =
            self.store.deliveries().received_as(new.agent, &new.service, &keys).await?
        else {
            return Ok(None);
        };
        let counter = format!("{} {} repeated", new.agent, new.service);
        self.count(&counter, rates::SERVICE).await?;
        let notes = format!("{counter}, noted");
        if self.store.rates().count_call(&notes, rates::NOTED, self.now()).await.is_ok() {
            self.store.deliveries().note_repetition(new, &first, self.now()).await;
        }
        Ok(Some(first))
    }

    /// Replays a delivery: creates a new one with a new run at the chain depth of the request. At
    /// depth 0 it counts as a person's. Fails with [`Error::Conflict`] if the payload was not
    /// stored.
    pub async fn replay(
        &self,
        agent: EntityId,
        delivery: DeliveryId,
        chain_depth: u32,
        key: Option<PostKey>,
    ) -> Result<Received> {
        let (first, payload) = self.store.deliveries().get(agent, delivery).await?;
        let not_stored = || {
            Error::Conflict(
                format!("the payload of this delivery was not stored: it was {:?}", first.status)
                    .to_lowercase(),
            )
        };
        let payload = payload.ok_or_else(not_stored)?;
        let id = self.delivery_id();
        let new = NewDelivery {
            id,
            agent,
            service: first.service,
            key: id.to_string(),
            also: None,
            payload,
            bytes: first.bytes,
            chain_depth,
            post_key: key,
            by_hand: chain_depth == 0,
        };
        self.receive(&new).await
    }

    /// An id for a new delivery.
    pub fn delivery_id(&self) -> DeliveryId {
        DeliveryId::new(self.now(), self.ids.random())
    }
}
