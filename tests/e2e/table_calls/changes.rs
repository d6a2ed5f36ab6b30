//! What edits and deletions of messages cost in calls of the table.

use serde_json::json;
use smartspace_domain::{
    access::Caller,
    entities::EntitySettings,
    ids::{EntityId, LeaseId, MessageId, SpaceId},
    spaces::Role,
};
use smartspace_store::{
    messages::{
        append::{Content, MessageSource, NewMessage},
        changing::{Changed, MessageChange, NewState},
    },
    spaces::summaries::{SummaryClaim, SummaryRecord},
};

use super::{at, counted::CountedStore, read};

/// A space with a person, who has posted three messages.
async fn scene(counted: &CountedStore) -> (SpaceId, EntityId) {
    let space = SpaceId::new(at(0), 1);
    let sara = EntityId::new(at(0), 2);
    let settings: EntitySettings = read(json!({"type": "human", "name": "Sara"}));
    let store = &counted.store;
    store.spaces().create(space, read(json!({"name": "Team"})), None, at(0)).await.unwrap();
    let entity = store.entities().create(sara, settings, None, at(0)).await.unwrap();
    store.members().join(space, &entity, Role::Member, at(0)).await.unwrap();
    for number in 1..=3 {
        let message = NewMessage {
            id: MessageId::new(at(2), number),
            space,
            sender: sara,
            content: Content::Text("Look".parse().unwrap()),
            files: Vec::new(),
            reply_to: None,
            by: MessageSource::External { key: None, depth: 0, page: None },
        };
        store.messages().append(&message, at(2)).await.unwrap();
    }
    (space, sara)
}

fn edited(space: SpaceId, editor: EntityId, seq: u64, text: &str) -> MessageChange<'_> {
    MessageChange { space, seq, to: NewState::Edited { editor, text, rev: None }, by: None }
}

fn deleted(space: SpaceId, caller: Caller, seq: u64) -> MessageChange<'static> {
    MessageChange { space, seq, to: NewState::Deleted { caller }, by: None }
}

#[tokio::test]
async fn an_edit_takes_two_calls_and_so_does_a_deletion() {
    let counted = CountedStore::new().await;
    let (space, sara) = scene(&counted).await;
    let messages = counted.store.messages();
    let editing = edited(space, sara, 1, "Look here");
    let (changed, edit) = Box::pin(counted.cost_of(messages.change(&editing, at(3)))).await;
    assert!(changed.unwrap().is_new);
    let (again, same) = Box::pin(counted.cost_of(messages.change(&editing, at(4)))).await;
    assert!(!again.unwrap().is_new);
    let deleting = deleted(space, Caller::Entity(sara), 1);
    let (changed, deletion) = Box::pin(counted.cost_of(messages.change(&deleting, at(5)))).await;
    let Changed { message, before, is_new, .. } = changed.unwrap();
    assert!(is_new && message.parts.is_empty() && before.text == "Look here");
    assert_eq!([edit, same, deletion].map(|cost| cost.calls), [2, 1, 2]);
    let head = counted.store.members().head(space).await.unwrap().unwrap();
    assert_eq!((head.seq, head.changed), (3, 2));
    let log = messages.changes(space).await.unwrap();
    assert_eq!(log.since(0), Some(vec![1]));
}

#[tokio::test]
async fn a_summary_notes_edits_and_does_not_survive_a_deletion() {
    let counted = CountedStore::new().await;
    let (space, sara) = scene(&counted).await;
    let (messages, summaries) = (counted.store.messages(), counted.store.summaries());
    let mine = LeaseId::new(1);
    let claim = SummaryClaim { agent: sara, token: &mine, to: 2, until: at(60) };
    let summary = SummaryRecord {
        from: 1,
        to: 2,
        text: "They look.".into(),
        agent_id: sara,
        updated_at: at(4),
        edited: Vec::new(),
        claimed_until: None,
        claimed_to: None,
        by: mine.clone(),
    };
    // A worker that reads the message while it is edited stores nothing.
    assert!(summaries.claim(space, None, &claim, at(3)).await.unwrap());
    messages.change(&edited(space, sara, 2, "new"), at(3)).await.unwrap();
    assert!(!summaries.store(space, &summary).await.unwrap());
    // The edit of a later message is none of its business.
    assert!(summaries.claim(space, None, &claim, at(4)).await.unwrap());
    messages.change(&edited(space, sara, 3, "new"), at(4)).await.unwrap();
    assert!(summaries.store(space, &summary).await.unwrap());
    messages.change(&edited(space, sara, 1, "new"), at(5)).await.unwrap();
    let stored = summaries.get(space).await.unwrap().unwrap();
    assert_eq!(stored.edited, [1]);
    // The next one reads the new text.
    let next = LeaseId::new(2);
    let claim = SummaryClaim { token: &next, to: 3, ..claim };
    assert!(summaries.claim(space, Some(&stored), &claim, at(6)).await.unwrap());
    let longer = SummaryRecord { to: 3, by: next.clone(), ..summary.clone() };
    assert!(summaries.store(space, &longer).await.unwrap());
    assert_eq!(summaries.get(space).await.unwrap().unwrap().edited, [0_u64; 0]);
    // Nor may an old one come back after a deletion.
    messages.change(&deleted(space, Caller::Operator, 1), at(7)).await.unwrap();
    assert_eq!(summaries.get(space).await.unwrap(), None);
    assert!(!summaries.claim(space, Some(&longer), &claim, at(8)).await.unwrap());
    assert!(!summaries.store(space, &longer).await.unwrap());
}
