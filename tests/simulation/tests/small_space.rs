//! A space in a table in memory, for tests that play single steps.

use std::sync::Arc;

use aws_sdk_dynamodb::Client;
use serde_json::Value;
use smartspace_domain::{
    Time,
    ids::{EntityId, MessageId, SpaceId},
    spaces::Role,
};
use smartspace_embedded_table::{EmbeddedTable, NAME};
use smartspace_store::{
    Store,
    messages::append::{Appended, Content, MessageSource, NewMessage},
    table::schema,
};

pub(crate) fn start() -> Time {
    Time::from_millis(1_771_427_220_000)
}

/// A space whose first member posts.
pub(crate) struct SmallSpace {
    pub(crate) client: Client,
    pub(crate) store: Store,
    pub(crate) id: SpaceId,
}

impl SmallSpace {
    /// Creates the space and its members, of which the first one is a person.
    pub(crate) async fn new(settings: Value, members: impl IntoIterator<Item = Value>) -> Self {
        let client = EmbeddedTable::in_memory().unwrap().client();
        schema::create_table(&client, NAME).await.unwrap();
        let store = Store::new(client.clone(), NAME, None, Arc::new(|| 4)).with_append_limit(None);
        let id = SpaceId::new(start(), 3);
        let settings = serde_json::from_value(settings).unwrap();
        store.spaces().create(id, settings, None, start()).await.unwrap();
        for (number, settings) in (1..).zip(members) {
            let member = EntityId::new(start(), number);
            let settings = serde_json::from_value(settings).unwrap();
            let entity = store.entities().create(member, settings, None, start()).await.unwrap();
            store.members().join(id, &entity, Role::Member, start()).await.unwrap();
        }
        Self { client, store, id }
    }

    /// Posts the message with this number.
    pub(crate) async fn post(&self, number: u128) -> Appended {
        let message = NewMessage {
            id: MessageId::new(start(), number),
            space: self.id,
            sender: EntityId::new(start(), 1),
            content: Content::Text(format!("message {number}").parse().unwrap()),
            files: Vec::new(),
            reply_to: None,
            by: MessageSource::External { key: None, depth: 0, page: None },
        };
        Box::pin(self.store.messages().append(&message, start())).await.unwrap()
    }
}
