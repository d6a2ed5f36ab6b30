//! Blocks of words: when they are built, read and deleted, and at how many calls of the table.

use std::sync::Arc;

use serde_json::json;
use smartspace_domain::{
    Error,
    access::Caller,
    entities::EntitySettings,
    ids::{EntityId, LeaseId, MessageId, SpaceId},
    search::{Block, Entry},
    spaces::Role,
};
use smartspace_ports::files::MemoryFiles;
use smartspace_store::{
    Store,
    messages::{
        Range,
        append::{Content, MessageSource, NewMessage},
        changing::{MessageChange, NewState},
    },
    search::{BlockBounds, BlocksRead, Built, FindRecord},
};

use super::{at, counted::CountedStore, files::pipeline_of, read};

/// A space in which Sara posts texts, one a second.
pub(super) async fn scene(
    store: &Store,
    texts: impl IntoIterator<Item = String>,
) -> (SpaceId, EntityId) {
    let space = SpaceId::new(at(0), 1);
    let sara = EntityId::new(at(0), 2);
    let settings: EntitySettings = read(json!({"type": "human", "name": "Sara"}));
    store.spaces().create(space, read(json!({"name": "Team"})), None, at(0)).await.unwrap();
    let entity = store.entities().create(sara, settings, None, at(0)).await.unwrap();
    store.members().join(space, &entity, Role::Member, at(0)).await.unwrap();
    for (number, text) in (1_u32..).zip(texts) {
        let now = at(i64::from(number));
        let message = NewMessage {
            id: MessageId::new(now, number.into()),
            space,
            sender: sara,
            content: Content::Text(text.parse().unwrap()),
            files: Vec::new(),
            reply_to: None,
            by: MessageSource::External { key: None, depth: 0, page: None },
        };
        store.messages().append(&message, now).await.unwrap();
    }
    (space, sara)
}

fn numbered(count: u32) -> impl Iterator<Item = String> {
    (1..=count).map(|number| format!("message word{number}"))
}

fn before(before: u64) -> BlockBounds {
    BlockBounds { before, bytes: 8 << 20, without_block: 1_000 }
}

async fn build(store: &Store, space: SpaceId, number: u64) -> Option<Built> {
    let draft = store.blocks().draft(space, number).await.unwrap()?;
    Some(store.blocks().store(draft).await.unwrap())
}

async fn change(store: &Store, space: SpaceId, seq: u64, to: NewState<'_>) {
    let change = MessageChange { space, seq, to, by: None };
    assert!(store.messages().change(&change, at(1_000)).await.unwrap().is_new);
}

fn numbers(read: &BlocksRead) -> Vec<u64> {
    read.blocks.iter().map(|(number, _)| *number).collect()
}

/// Many different words, which hardly compress.
fn noise(seed: u64, words: usize) -> String {
    let mut state = seed;
    let mut word = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("w{:016x}", state.rotate_right(29) ^ seed)
    };
    (0..words).map(|_| word()).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn a_block_is_read_by_one_query_and_its_absence_is_a_gap() {
    let counted = CountedStore::new().await;
    let store = &counted.store;
    let (space, _) = scene(store, numbered(250)).await;
    let (cold, cost) = counted.cost_of(store.blocks().read(space, before(251))).await;
    let cold = cold.unwrap();
    assert_eq!((numbers(&cold), cold.gaps, cold.from), (vec![], vec![1..=250], 1));
    assert_eq!(cost.calls, 1);
    assert_eq!(store.blocks().missing(space, 0, 1).await.unwrap(), [1, 0]);
    assert_eq!(build(store, space, 1).await, Some(Built::Now));
    assert_eq!(build(store, space, 1).await, Some(Built::Before));
    assert_eq!(build(store, space, 2).await, None, "it has 50 messages");
    assert_eq!(store.blocks().missing(space, 0, 1).await.unwrap(), [0]);
    let (warm, cost) = counted.cost_of(store.blocks().read(space, before(251))).await;
    let warm = warm.unwrap();
    assert_eq!((numbers(&warm), &warm.gaps), (vec![1], &vec![201..=250, 1..=100]));
    assert_eq!((warm.without_block(), warm.from, cost.calls), (150, 1, 1));
    let (_, block) = &warm.blocks[0];
    assert!(block.has_word("word101") && block.has_word("word200"));
    assert!(!block.has_word("word100") && !block.has_word("word201"));
    // A search that goes on with older messages.
    let older = store.blocks().read(space, before(151)).await.unwrap();
    assert_eq!((numbers(&older), older.gaps), (vec![1], vec![1..=100]));
    let none = store.blocks().read(space, before(1)).await.unwrap();
    assert_eq!((numbers(&none), none.gaps, none.from), (vec![], vec![], 1));
}

#[tokio::test]
async fn a_job_builds_what_is_missing_below_its_number_at_three_calls_a_block() {
    let counted = CountedStore::new().await;
    let pipeline = pipeline_of(&counted, &Arc::new(MemoryFiles::default()));
    let store = &counted.store;
    let (space, _) = scene(store, numbered(450)).await;
    let missing = async || store.blocks().missing(space, 0, 3).await.unwrap();
    assert!(store.blocks().claim_building(space, at(1_000)).await.unwrap());
    let (done, cost) = Box::pin(counted.cost_of(pipeline.index_messages(space, Some(2)))).await;
    // The head, the claim, the blocks that are stored, and the end of the claim; the state, the
    // messages and the write.
    assert_eq!((done, cost.calls, missing().await), (Ok(()), 4 + 2 * 3, vec![3, 2]));
    let (done, cost) = Box::pin(counted.cost_of(pipeline.index_messages(space, None))).await;
    assert_eq!((done, cost.calls, missing().await), (Ok(()), 4 + 2 * 3, vec![]));
    let (done, cost) = Box::pin(counted.cost_of(pipeline.index_messages(space, None))).await;
    assert_eq!((done, cost.calls), (Ok(()), 4));
    // A block that is deleted now does not wait for the end of a claim.
    assert_eq!(store.blocks().state(space).await.unwrap().building_until, None);
    let gaps = store.blocks().read(space, before(451)).await.unwrap().gaps;
    assert_eq!(gaps, [401..=450]);
}

#[tokio::test]
async fn an_edit_deletes_the_block_and_refuses_the_one_that_is_being_built() {
    let counted = CountedStore::new().await;
    let store = &counted.store;
    let (space, sara) = scene(store, numbered(200)).await;
    assert_eq!(build(store, space, 0).await, Some(Built::Now));
    assert_eq!(build(store, space, 1).await, Some(Built::Now));
    let text = "another text";
    change(store, space, 5, NewState::Edited { editor: sara, text, rev: None }).await;
    let edited = store.blocks().read(space, before(201)).await.unwrap();
    assert_eq!((numbers(&edited), edited.gaps), (vec![1], vec![1..=100]));
    let draft = store.blocks().draft(space, 0).await.unwrap().unwrap();
    change(store, space, 7, NewState::Deleted { caller: Caller::Entity(sara) }).await;
    assert_eq!(store.blocks().store(draft).await.unwrap(), Built::Outdated);
    assert_eq!(build(store, space, 0).await, Some(Built::Now));
    let built = store.blocks().read(space, before(201)).await.unwrap();
    let (_, block) = &built.blocks[1];
    assert!(block.has_word("another") && block.has_word("word8"));
    assert!(!block.has_word("word5") && !block.has_word("word7"));
    assert_eq!(store.blocks().state(space).await.unwrap().rev, 2);
}

#[tokio::test]
async fn one_search_starts_a_job_until_its_claim_ends_and_none_does_in_a_deleted_space() {
    let counted = CountedStore::new().await;
    let store = &counted.store;
    let (space, _) = scene(store, numbered(100)).await;
    let claim = |seconds| async move { store.blocks().claim_building(space, at(seconds)).await };
    assert!(claim(200).await.unwrap());
    assert!(!claim(214).await.unwrap());
    assert!(claim(215).await.unwrap());
    let until = store.blocks().renew_building(space, at(300)).await.unwrap();
    assert!(!claim(314).await.unwrap());
    store.blocks().end_building(space, at(290)).await.unwrap();
    assert!(!claim(314).await.unwrap(), "another job has renewed its claim");
    store.blocks().end_building(space, until).await.unwrap();
    assert!(claim(314).await.unwrap());
    store.blocks().pause_building(space, at(320)).await.unwrap();
    assert!(!claim(379).await.unwrap());
    assert_eq!(build(store, space, 0).await, Some(Built::Now));
    let draft = store.blocks().draft(space, 0).await.unwrap().unwrap();
    store.spaces().delete(space, &LeaseId::new(1), at(400)).await.unwrap();
    assert!(matches!(store.blocks().store(draft).await, Err(Error::NotFound(_))));
    assert!(!claim(400).await.unwrap());
    while !store.spaces().clear(space, 50).await.unwrap() {}
    let left = store.blocks().read(space, before(101)).await.unwrap();
    assert_eq!((left.bytes, numbers(&left)), (0, vec![]));
    assert_eq!(store.blocks().state(space).await.unwrap(), FindRecord::default());
}

#[tokio::test]
async fn a_large_block_is_stored_in_parts_and_deleted_with_them() {
    let counted = CountedStore::new().await;
    let store = &counted.store;
    let (space, sara) = scene(store, (1..=100).map(|seed| noise(seed, 900))).await;
    assert_eq!(build(store, space, 0).await, Some(Built::Now));
    let read = store.blocks().read(space, before(101)).await.unwrap();
    assert!(read.bytes > 600 << 10, "{}", read.bytes);
    let messages = store.messages().list(space, Range::After(0), 100).await.unwrap();
    let entries: Vec<_> = messages.iter().filter_map(Entry::of).collect();
    assert_eq!(read.blocks, [(0, Block::of(&entries))]);
    change(store, space, 50, NewState::Deleted { caller: Caller::Entity(sara) }).await;
    let read = store.blocks().read(space, before(101)).await.unwrap();
    assert_eq!((read.bytes, read.gaps), (0, vec![1..=100]));
    assert_eq!(build(store, space, 0).await, Some(Built::Now));
    let read = store.blocks().read(space, before(101)).await.unwrap();
    assert_eq!((numbers(&read), read.gaps), (vec![0], vec![]));
}
