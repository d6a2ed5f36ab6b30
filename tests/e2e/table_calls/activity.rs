//! What the list of spaces by activity costs.

use serde_json::json;
use smartspace_domain::{
    access::Caller,
    entities::EntitySettings,
    ids::{EntityId, MessageId, SpaceId},
    spaces::Role,
};
use smartspace_store::{
    messages::append::{Appended, Content, MessageSource, NewMessage},
    table::pages::PageRequest,
};

use super::{at, counted::CountedStore, read};

/// A person in this many spaces, which are created a second after each other.
async fn scene(counted: &CountedStore, count: u128) -> (EntityId, Vec<SpaceId>) {
    let store = &counted.store;
    let sara = EntityId::new(at(0), 1);
    let settings: EntitySettings = read(json!({"type": "human", "name": "Sara"}));
    let entity = store.entities().create(sara, settings, None, at(0)).await.unwrap();
    let mut spaces = Vec::new();
    for number in 0..count {
        let (space, now) = (SpaceId::new(at(0), number), at(number as i64));
        store.spaces().create(space, read(json!({"name": "Team"})), None, now).await.unwrap();
        store.members().join(space, &entity, Role::Member, now).await.unwrap();
        spaces.push(space);
    }
    (sara, spaces)
}

async fn post(counted: &CountedStore, space: SpaceId, sender: EntityId, second: i64) -> Appended {
    let message = NewMessage {
        id: MessageId::new(at(second), 7),
        space,
        sender,
        content: Content::Text("Look".parse().unwrap()),
        files: Vec::new(),
        reply_to: None,
        by: MessageSource::External { key: None, depth: 0, page: None },
    };
    counted.store.messages().append(&message, at(second)).await.unwrap()
}

#[tokio::test]
async fn a_message_moves_its_space_once_a_minute_and_makes_no_call_more() {
    let counted = CountedStore::new().await;
    let (sara, spaces) = scene(&counted, 1).await;
    let mut moves = Vec::new();
    let mut calls = Vec::new();
    for second in [1, 2, 60, 61, 121] {
        let posting = post(&counted, spaces[0], sara, second);
        let (appended, cost) = Box::pin(counted.cost_of(posting)).await;
        moves.push(appended.moves_space);
        calls.push(cost.calls);
    }
    assert_eq!(moves, [true, false, false, true, true]);
    assert_eq!(calls[1..], [calls[1]; 4], "{calls:?}");
}

#[tokio::test]
async fn a_list_reads_the_places_and_three_items_of_each_space() {
    let counted = CountedStore::new().await;
    let (sara, spaces) = scene(&counted, 3).await;
    for (space, second) in spaces.iter().zip([30, 10, 20]) {
        post(&counted, *space, sara, second).await;
    }
    let expected = [0, 2, 1].map(|number: usize| spaces[number]);
    // The index or the heads, the settings and the rosters, and the last messages together.
    for (caller, calls) in [(Caller::Operator, 8), (Caller::Entity(sara), 9)] {
        let request = PageRequest::default();
        let listing = counted.store.spaces().list(caller, &request);
        let (page, cost) = Box::pin(counted.cost_of(listing)).await;
        let page = page.unwrap();
        let listed: Vec<_> = page.items.iter().map(|space| space.id).collect();
        assert_eq!((listed.as_slice(), page.next_cursor), (expected.as_slice(), None));
        assert_eq!(cost.calls, calls, "{caller:?}");
    }
}
