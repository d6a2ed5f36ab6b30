//! What services send: kept with the run that it wakes, then that is queued.

use smartspace_domain::{
    Error, Result,
    ids::{DeliveryId, EntityId},
    rates,
};
use smartspace_store::{
    deliveries::{NewDelivery, Received},
    posted::PostKey,
};

use crate::Pipeline;

impl Pipeline {
    /// Keeps what a service sent and wakes the agent, once for each key.
    pub async fn receive(&self, new: &NewDelivery) -> Result<Received> {
        let received = self.store.receive(new, self.now()).await?;
        self.queue_runs(received.woken.iter().map(|run| run.job()).collect()).await;
        Ok(received)
    }

    /// What comes again is answered as it was the first time, and counts by itself: whoever has overheard a delivery can't keep the next ones out. Of very many
    /// only some are noted. None where it is new.
    pub async fn repeated(&self, new: &NewDelivery) -> Result<Option<Received>> {
        let keys: Vec<&str> = [Some(new.key.as_str()), new.also.as_deref()].into_iter().flatten().collect();
        let Some(first) = self.store.received_as(new.agent, &new.service, &keys).await? else { return Ok(None) };
        let who = format!("{} {} repeated", new.agent, new.service);
        self.count(&who, rates::SERVICE).await?;
        if self.store.call_of(&format!("{who}, noted"), rates::NOTED, self.now()).await.is_ok() {
            self.store.note_repetition(new, &first, self.now()).await;
        }
        Ok(Some(first))
    }

    /// Sends a delivery again: a new one, with a new run, as deep in a chain of agents' doings as who asks for it; only what is in none counts as a person's.
    /// [`Error::Conflict`] where nothing was kept of what it said.
    pub async fn replay(&self, agent: EntityId, delivery: DeliveryId, chain_depth: u32, key: Option<PostKey>) -> Result<Received> {
        let (first, payload) = self.store.delivery(agent, delivery).await?;
        let kept_nothing =
            || Error::Conflict(format!("nothing was kept of what this delivery said: it was {:?}", first.status).to_lowercase());
        let payload = payload.ok_or_else(kept_nothing)?;
        let id = self.delivery_id();
        let (service, bytes) = (first.service, first.bytes);
        let new = NewDelivery {
            id,
            agent,
            service,
            key: id.to_string(),
            also: None,
            payload,
            bytes,
            chain_depth,
            post_key: key,
            by_hand: chain_depth == 0,
        };
        self.receive(&new).await
    }

    /// A new delivery's id.
    pub fn delivery_id(&self) -> DeliveryId {
        DeliveryId::new(self.now(), self.ids.random())
    }
}
