//! What reactions cost in calls of the table.

use std::sync::Arc;

use serde_json::json;
use smartspace_domain::{
    entities::EntitySettings,
    ids::{EntityId, MessageId, SpaceId},
    messages::Emoji,
    spaces::Role,
};
use smartspace_pipeline::reactions::ReactionChange;
use smartspace_ports::files::MemoryFiles;
use smartspace_store::messages::{
    Range,
    append::{Content, MessageSource, NewMessage},
};

use super::{at, counted::CountedStore, files::pipeline_of, read};

#[tokio::test]
async fn a_reaction_takes_three_calls_and_a_joined_frame_three_besides_its_receivers() {
    let counted = CountedStore::new().await;
    let pipeline = pipeline_of(&counted, &Arc::new(MemoryFiles::default()));
    let store = &counted.store;
    let space = SpaceId::new(at(0), 1);
    store.spaces().create(space, read(json!({"name": "Team"})), None, at(0)).await.unwrap();
    let mut people = Vec::new();
    for (number, name) in [(2, "Husam"), (3, "Sara")] {
        let settings: EntitySettings = read(json!({"type": "human", "name": name}));
        let id = EntityId::new(at(0), number);
        let entity = store.entities().create(id, settings, None, at(0)).await.unwrap();
        store.members().join(space, &entity, Role::Member, at(0)).await.unwrap();
        people.push(id);
    }
    let message = NewMessage {
        id: MessageId::new(at(1), 1),
        space,
        sender: people[0],
        content: Content::Text("Look".parse().unwrap()),
        files: Vec::new(),
        reply_to: None,
        by: MessageSource::External { key: None, depth: 0, page: None },
    };
    pipeline.post(&message).await.unwrap();
    let listed = async || {
        let listing = store.messages().list(space, Range::After(0), 10);
        let (listed, cost) = Box::pin(counted.cost_of(listing)).await;
        (listed.unwrap().pop().unwrap(), cost.calls)
    };
    assert_eq!(listed().await.1, 1, "a message without reactions reads nothing more");
    let changed = async || store.members().head(space).await.unwrap().unwrap().changed;
    let react = async |by: EntityId, on: bool| {
        let change = ReactionChange { seq: 1, emoji: Emoji::of("👍").unwrap(), on };
        let reacting = pipeline.react(space, by, change);
        let (state, cost) = Box::pin(counted.cost_of(reacting)).await;
        (state.unwrap().reactions_rev, cost.calls)
    };
    assert_eq!(react(people[0], true).await, (1, 3));
    assert_eq!(changed().await, 1, "readers that keep the message read it anew");
    assert_eq!(react(people[1], true).await, (2, 3));
    assert_eq!(react(people[1], true).await, (2, 1), "repeated, it only reads");
    assert_eq!(react(people[1], false).await, (3, 3));
    assert_eq!(changed().await, 1);
    let (message, calls) = listed().await;
    assert_eq!((message.reactions[0].entity_ids.clone(), calls), (vec![people[0]], 2));
    let (shown, cost) = Box::pin(counted.cost_of(pipeline.show_reactions(space))).await;
    assert_eq!((shown, cost.calls), (Ok(()), 3));
    let (shown, cost) = Box::pin(counted.cost_of(pipeline.show_reactions(space))).await;
    assert_eq!((shown, cost.calls), (Ok(()), 1), "nothing waits any longer");
}
