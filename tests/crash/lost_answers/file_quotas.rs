//! What files count, and their deletion: exact whatever fails in between.

use std::sync::Arc;

use smartspace_domain::{
    access::Caller,
    attachments::{
        ByteLimit, FileLimits, FileSpec, MESSAGES_OF_FILE, PENDING_FILES, PENDING_FILES_OF_GUEST,
        too_many_pending,
    },
    ids::{EntityId, LeaseId, SpaceId},
    messages::Part,
    spaces::Role,
};
use smartspace_pipeline::Pipeline;
use smartspace_ports::files::{FileKey, MemoryFiles};
use smartspace_store::{
    Error, Store,
    attachments::FileRecord,
    messages::{
        Range,
        append::{Content, NewMessage},
    },
};

use crate::crash::lost_answers::{
    at,
    faults::{Fault, assert_same_success},
    files::{TEXT, id, spec, used_by, used_in},
    post_key, posted,
    studio::Studio,
    sweep::pipeline,
};

/// The bytes of the file that is announced.
const BYTES: u64 = TEXT.len() as u64;

pub(super) async fn announce(store: &Store, space: SpaceId, number: u128, by: EntityId) {
    let file = FileRecord::new(id(number), space, &spec(), Some(by), at(1));
    store.attachments().create(&file, None).await.unwrap();
    store.attachments().checked(&file, &Ok(None)).await.unwrap();
}

async fn send(studio: &Studio, number: u128, file: u128) {
    let Studio { store, space, person, .. } = studio;
    let file = store.attachments().get(*space, id(file)).await.unwrap();
    let message = posted(number, *space, *person, "Look", 5);
    let message = NewMessage { content: Content::Files, files: vec![file], ..message };
    store.messages().append(&message, at(5)).await.unwrap();
}

/// Which files of the messages with files are shown as deleted.
async fn deleted(store: &Store, space: SpaceId) -> Vec<bool> {
    let messages = store.messages().list(space, Range::After(0), 100).await.unwrap();
    let parts = messages.into_iter().flat_map(|message| message.parts);
    let files = parts.filter_map(|part| match part {
        Part::File(file) => Some(file.deleted),
        _ => None,
    });
    files.collect()
}

/// Two files are announced. One is sent twice and deleted.
async fn path_of_a_deletion(fault: Option<(usize, Fault)>) -> (String, usize) {
    let studio = Box::pin(Studio::with_fault(fault)).await;
    let (store, space, person) = (&studio.store, studio.space, studio.person);
    for number in [1, 2] {
        announce(store, space, number, person).await;
    }
    send(&studio, 1, 1).await;
    send(&studio, 2, 1).await;
    send(&studio, 3, 2).await;
    let files = store.attachments();
    let file = files.get(space, id(1)).await.unwrap();
    assert_eq!(file.named.len(), 2);
    files.drop_any(&file, at(6)).await.unwrap();
    assert!(matches!(files.get(space, id(1)).await, Err(Error::NotFound(_))));
    for _ in 0..2 {
        for seq in &file.named {
            files.show_deleted(&file, *seq, at(7)).await.unwrap().unwrap();
        }
        files.delete_dropped(&file).await.unwrap();
    }
    assert_eq!(deleted(store, space).await, [true, true, false]);
    // Each message drops its block of words once.
    assert_eq!(store.blocks().state(space).await.unwrap().rev, 2);
    assert_eq!(used_in(store, space).await, BYTES);
    assert_eq!(used_by(store, space, person).await, BYTES);
    studio.outcome().await
}

#[tokio::test(start_paused = true)]
async fn a_deletion_survives_a_fault_of_any_write() {
    assert_same_success(path_of_a_deletion, 11).await;
}

/// A space with files of two entities is deleted.
async fn path_of_a_deleted_space(fault: Option<(usize, Fault)>) -> (String, usize) {
    let studio = Box::pin(Studio::with_fault(fault)).await;
    let (store, space, person) = (&studio.store, studio.space, studio.person);
    for (number, by) in [(1, person), (2, studio.other), (3, person)] {
        announce(store, space, number, by).await;
    }
    send(&studio, 1, 1).await;
    store.spaces().delete(space, &LeaseId::new(1), at(8)).await.unwrap();
    let files = store.attachments();
    let left = files.left_in(space).await.unwrap();
    assert_eq!(left.len(), 3);
    for _ in 0..2 {
        files.delete_all(&left).await.unwrap();
    }
    assert_eq!(files.left_in(space).await.unwrap(), []);
    files.clear(space).await.unwrap();
    let elsewhere = SpaceId::new(at(8), 9);
    let settings = serde_json::from_value(serde_json::json!({"name": "Other"})).unwrap();
    store.spaces().create(elsewhere, settings, None, at(8)).await.unwrap();
    for entity in [person, studio.other] {
        let entity = store.entities().get(entity).await.unwrap();
        let role = smartspace_domain::spaces::Role::Member;
        store.members().join(elsewhere, &entity, role, at(8)).await.unwrap();
        assert_eq!(used_by(store, elsewhere, entity.id).await, 0);
    }
    studio.outcome().await
}

#[tokio::test(start_paused = true)]
async fn the_files_of_a_deleted_space_are_counted_out_once() {
    assert_same_success(path_of_a_deleted_space, 10).await;
}

/// How many files an entity may still announce. Announces them.
async fn may_announce(store: &Store, like: &FileRecord, most: u64) -> u64 {
    for number in 0..=most {
        let file = FileRecord { id: id(1_000 + u128::from(number)), ..like.clone() };
        if let Err(error) = store.attachments().create(&file, None).await {
            assert_eq!(error, too_many_pending(most));
            return number;
        }
    }
    panic!("more than {most} files may be announced");
}

/// A member with a sent file, a ready one, a refused one and a pending one is removed. Another
/// member has a file that it has not sent.
async fn path_of_a_departure(fault: Option<(usize, Fault)>) -> (String, usize) {
    let studio = Box::pin(Studio::with_fault(fault)).await;
    let (store, space, person) = (&studio.store, studio.space, studio.person);
    let files = store.attachments();
    for (number, by) in [(1, person), (2, person), (5, studio.other)] {
        announce(store, space, number, by).await;
    }
    let announced = |number| FileRecord::new(id(number), space, &spec(), Some(person), at(1));
    for number in [3, 4] {
        files.create(&announced(number), None).await.unwrap();
    }
    files.checked(&announced(3), &Err("no text".to_owned())).await.unwrap();
    send(&studio, 1, 1).await;
    let storage = Arc::new(MemoryFiles::default());
    let key = |number| FileKey { space, file: id(number) };
    for number in [1, 2, 5] {
        assert!(storage.put(key(number), TEXT));
    }
    let pipeline = Pipeline { files: storage.clone(), ..pipeline(store, 9).0 };
    for _ in 0..2 {
        Box::pin(pipeline.dismiss(Caller::Operator, space, person)).await.unwrap();
    }
    let outcome = studio.outcome().await;
    assert_eq!(storage.keys(), [key(1), key(5)]);
    for number in 1..=5 {
        let is_there = files.find_any(space, id(number)).await.unwrap().is_some();
        assert_eq!(is_there, [1, 5].contains(&number), "{number}");
    }
    let entity = store.entities().get(person).await.unwrap();
    store.members().join(space, &entity, Role::Member, at(10)).await.unwrap();
    assert_eq!(used_in(store, space).await, 2 * BYTES);
    assert_eq!(used_by(store, space, person).await, BYTES);
    assert_eq!(may_announce(store, &announced(6), PENDING_FILES).await, PENDING_FILES);
    outcome
}

#[tokio::test(start_paused = true)]
async fn the_unsent_files_of_a_former_member_are_counted_out_once() {
    assert_same_success(path_of_a_departure, 14).await;
}

#[tokio::test(start_paused = true)]
async fn pending_files_count_until_they_arrive_or_go() {
    let studio = Box::pin(Studio::with_fault(None)).await;
    let (store, space, person) = (&studio.store, studio.space, studio.person);
    let files = store.attachments();
    let announced = |number, by_guest| {
        let file = FileRecord::new(id(number), space, &spec(), Some(person), at(1));
        FileRecord { by_guest, ..file }
    };
    let like = announced(0, true);
    let most = PENDING_FILES_OF_GUEST;
    assert_eq!(may_announce(store, &like, most).await, most);
    let pending = |number: u128| announced(1_000 + number, true);
    files.checked(&pending(0), &Ok(None)).await.unwrap();
    files.checked(&pending(1), &Err("no text".to_owned())).await.unwrap();
    assert!(files.drop_unsent(&pending(2)).await.unwrap());
    files.delete_dropped(&pending(2)).await.unwrap();
    // Those that have arrived or were refused count out once.
    for number in [0, 1] {
        let file = files.get(space, id(1_000 + number)).await.unwrap();
        assert!(!files.checked(&file, &Ok(None)).await.unwrap());
        files.drop_any(&file, at(2)).await.unwrap();
        files.delete_dropped(&file).await.unwrap();
    }
    for number in 1..=4 {
        let created = files.create(&announced(number, true), None).await;
        let expected = if number < 4 { Ok(id(number)) } else { Err(too_many_pending(most)) };
        assert_eq!(created, expected);
    }
    // A member may announce more, and files of the operator count for nobody.
    let left = PENDING_FILES - most;
    for number in 0..left {
        let number = 100 + u128::from(number);
        files.create(&announced(number, false), None).await.unwrap();
    }
    let refused = files.create(&announced(99, false), None).await;
    assert_eq!(refused, Err(too_many_pending(PENDING_FILES)));
    let operators = FileRecord { created_by: None, ..announced(98, false) };
    files.create(&operators, None).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn each_limit_refuses_what_does_not_fit() {
    let studio = Box::pin(Studio::with_fault(None)).await;
    let (space, person) = (studio.space, studio.person);
    let none = ByteLimit(None);
    let all = FileLimits { per_space: none, per_entity: none, in_all: none };
    let most = ByteLimit(Some(2 * BYTES + 1));
    let text = |which: &str, used: u64, size: &str| {
        format!(
            "{which} have {used} bytes, and may have 19 bytes: there is no room for {size}; \
             delete files that are not needed"
        )
    };
    let in_all = studio.store.clone().with_file_limits(FileLimits { in_all: most, ..all });
    announce(&in_all, space, 1, person).await;
    announce(&in_all, space, 2, studio.other).await;
    for (limits, which, used) in [
        (FileLimits { per_space: most, ..all }, "the files of this space", 2 * BYTES),
        (FileLimits { in_all: most, ..all }, "the files of this deployment", 2 * BYTES),
        (
            FileLimits { per_entity: ByteLimit(Some(2 * BYTES + 1)), ..all },
            "the files that this entity has uploaded to all spaces",
            BYTES,
        ),
    ] {
        let store = studio.store.clone().with_file_limits(limits);
        let file = FileRecord::new(id(3), space, &spec(), Some(person), at(1));
        let larger = FileSpec { bytes: 2 * BYTES + 2, ..spec() };
        // Also one that is larger than the limit.
        let larger = FileRecord::new(id(4), space, &larger, Some(person), at(1));
        let refused = store.attachments().create(&larger, None).await;
        assert_eq!(refused, Err(Error::NoRoom(text(which, used, "20 bytes"))));
        let one = FileSpec { bytes: 2 * BYTES + 1 - used, ..spec() };
        let one = FileRecord::new(id(5), space, &one, Some(person), at(1));
        store.attachments().create(&one, None).await.unwrap();
        let refused = store.attachments().create(&file, None).await;
        assert_eq!(refused, Err(Error::NoRoom(text(which, 2 * BYTES + 1, "9 bytes"))));
        store.attachments().drop_any(&one, at(2)).await.unwrap();
        let one = store.attachments().find_any(space, one.id).await.unwrap().unwrap();
        store.attachments().delete_dropped(&one).await.unwrap();
    }
    // A file that was counted among all is counted out among all, also without that limit.
    let file = studio.store.attachments().get(space, id(1)).await.unwrap();
    assert!(file.counts_in_all);
    studio.store.attachments().drop_any(&file, at(2)).await.unwrap();
    studio.store.attachments().delete_dropped(&file).await.unwrap();
    let room = FileSpec { bytes: BYTES + 1, ..spec() };
    let room = FileRecord::new(id(6), space, &room, Some(person), at(2));
    in_all.attachments().create(&room, None).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_repeated_announcement_of_a_deleted_file_is_refused() {
    let studio = Box::pin(Studio::with_fault(None)).await;
    let files = studio.store.attachments();
    let (space, key) = (studio.space, post_key("k"));
    let announced = |number| FileRecord::new(id(number), space, &spec(), None, at(1));
    assert_eq!(files.create(&announced(1), Some(&key)).await, Ok(id(1)));
    assert_eq!(files.create(&announced(2), Some(&key)).await, Ok(id(1)));
    files.drop_any(&announced(1), at(2)).await.unwrap();
    let gone = "the file that this Idempotency-Key announced was deleted".to_owned();
    assert_eq!(files.create(&announced(3), Some(&key)).await, Err(Error::NotFound(gone)));
}

#[tokio::test(start_paused = true)]
async fn a_thousand_messages_may_name_a_file() {
    let studio = Box::pin(Studio::with_fault(None)).await;
    let Studio { store, space, person, .. } = &studio;
    let store = store.clone().with_append_limit(None);
    announce(&store, *space, 1, *person).await;
    let file = store.attachments().get(*space, id(1)).await.unwrap();
    let message = |number: usize| {
        let message = posted(number as u128 + 10, *space, *person, "Look", 5);
        NewMessage { content: Content::Files, files: vec![file.clone()], ..message }
    };
    for number in 0..MESSAGES_OF_FILE {
        store.messages().append(&message(number), at(5)).await.unwrap();
    }
    let refused = store.messages().append(&message(MESSAGES_OF_FILE), at(5)).await.unwrap_err();
    let why = "1,000 messages name it already; upload it again";
    let text = format!("the file can't be used: {why}");
    assert_eq!(refused, Error::invalid("/attachments/0", text));
}
