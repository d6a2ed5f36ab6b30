//! Decisions that are made after their message was stored: what they count is part of the space's
//! minute, whoever else counts at the same time.

use std::sync::Arc;

use serde_json::json;
use smartspace::embedded_table::{EmbeddedTable, NAME};
use smartspace_domain::{
    Time,
    dispatch::{Reason, Routing},
    ids::{EntityId, MessageId, SpaceId},
    spaces::Role,
};
use smartspace_store::{
    Store,
    messages::{
        MessageRecord,
        append::{Content, Late, MessageSource, NewMessage, Stored},
    },
    table::schema,
};

fn start() -> Time {
    Time::from_millis(1_771_427_220_000)
}

/// A person and five agents in a space with a router. The person's messages may trigger four runs
/// a minute.
struct Office {
    store: Store,
    space: SpaceId,
    person: EntityId,
}

impl Office {
    async fn new() -> Self {
        let client = EmbeddedTable::in_memory().unwrap().client();
        schema::create_table(&client, NAME).await.unwrap();
        let store = Store::new(client, NAME, None, Arc::new(|| 4)).with_append_limit(None);
        let (space, person) = (SpaceId::new(start(), 3), EntityId::new(start(), 1));
        let settings = json!({
            "name": "Office",
            "triggerPolicy": "router",
            "router": {"model": {"provider": "openai", "name": "m"}},
            "budget": {"runsPerMinute": 6},
        });
        let settings = serde_json::from_value(settings).unwrap();
        store.spaces().create(space, settings, None, start()).await.unwrap();
        let agent = json!({"model": {"provider": "openai", "name": "m"}});
        let agents = (2..7).map(
            |number| json!({"type": "agent", "name": format!("Agent {number}"), "agent": agent}),
        );
        let members = [json!({"type": "human", "name": "Husam"})].into_iter().chain(agents);
        for (number, settings) in (1..).zip(members) {
            let id = EntityId::new(start(), number);
            let settings = serde_json::from_value(settings).unwrap();
            let entity = store.entities().create(id, settings, None, start()).await.unwrap();
            store.members().join(space, &entity, Role::Member, start()).await.unwrap();
        }
        Self { store, space, person }
    }

    async fn post(&self, number: u64) -> MessageRecord {
        let message = NewMessage {
            id: MessageId::new(start(), number.into()),
            space: self.space,
            sender: self.person,
            content: Content::Text("Hello".parse().unwrap()),
            by: MessageSource::External { key: None, depth: 0 },
        };
        Box::pin(self.store.messages().append(&message, start())).await.unwrap();
        self.store.messages().record(self.space, number).await.unwrap().unwrap()
    }

    /// Decides that everyone is triggered, because the router does not answer.
    async fn decide(&self, message: &MessageRecord) -> Late {
        let messages = self.store.messages();
        messages.decide_late(self.space, message, Routing::Failed, start()).await.unwrap()
    }

    async fn store(&self, late: &Late) -> Stored {
        self.store.messages().store_decision(late, None, start()).await.unwrap()
    }
}

fn refused(late: &Late) -> usize {
    let dispatch = &late.decided.dispatch;
    dispatch.iter().filter(|entry| entry.reason == Some(Reason::Rate)).count()
}

#[tokio::test]
async fn a_late_decision_keeps_to_the_runs_of_the_minute() {
    let office = Office::new().await;
    let message = office.post(1).await;
    assert!(!message.is_decided());
    let late = office.decide(&message).await;
    assert_eq!((late.decided.taken.len(), refused(&late)), (4, 1));
    assert_eq!(office.store(&late).await, Stored::Now);
    assert_eq!(office.store(&late).await, Stored::Before);
    let next = office.post(2).await;
    let dispatch = next.dispatch.unwrap();
    assert!(dispatch.iter().all(|entry| entry.reason == Some(Reason::Rate)), "{dispatch:?}");
}

#[tokio::test]
async fn a_late_decision_is_made_again_if_another_message_has_used_runs() {
    let office = Office::new().await;
    let first = office.post(1).await;
    let outdated = office.decide(&first).await;
    let second = office.post(2).await;
    assert_eq!(office.store(&outdated).await, Stored::Outdated);
    let late = office.decide(&first).await;
    assert_eq!(late.decided.taken.len(), 3, "one run is counted for the second message");
    assert_eq!(office.store(&late).await, Stored::Now);
    let late = office.decide(&second).await;
    assert_eq!((late.decided.taken.len(), refused(&late)), (1, 4));
    assert_eq!(office.store(&late).await, Stored::Now);
}
