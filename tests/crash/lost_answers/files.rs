//! Faults in the writes of files, and files that nobody sends.

use std::sync::Arc;

use serde_json::json;
use smartspace_domain::{
    attachments::{ByteLimit, FileLimits, FileSpec, NewAttachment, PictureSize, Sha256Hex},
    ids::{AttachmentId, EntityId, SpaceId},
};
use smartspace_pipeline::Pipeline;
use smartspace_ports::files::{FileKey, MemoryFiles};
use smartspace_store::{
    Store,
    attachments::FileRecord,
    messages::append::{Content, NewMessage},
};

use crate::crash::lost_answers::{
    at,
    faults::{Fault, assert_same_success},
    posted,
    studio::Studio,
    sweep::{empty_table, pipeline},
};

pub(super) const TEXT: &[u8] = b"Buy milk.";
/// A day and a minute, in seconds.
const LATER: i64 = 24 * 60 * 60 + 60;

pub(super) fn spec() -> FileSpec {
    let new = json!({
        "name": "a.txt", "contentType": "text/plain", "bytes": TEXT.len(),
        "sha256": Sha256Hex::of(TEXT).as_str(),
    });
    serde_json::from_value::<NewAttachment>(new).unwrap().checked().unwrap()
}

pub(super) fn id(number: u128) -> AttachmentId {
    AttachmentId::new(at(1), number)
}

/// How many bytes the files of a space count together: the refusal of another one says it.
pub(super) async fn used_in(store: &Store, space: SpaceId) -> u64 {
    let none = ByteLimit(Some(0));
    let full =
        store.clone().with_file_limits(FileLimits { per_space: none, ..FileLimits::DEFAULT });
    let file = FileRecord::new(id(99), space, &spec(), None, at(0));
    let refused = full.attachments().create(&file, None).await.unwrap_err().to_string();
    let used = refused.strip_prefix("the files of this space have ").unwrap();
    used.split(' ').next().unwrap().parse().unwrap()
}

/// The same for the files of an entity, which is a member of the space.
pub(super) async fn used_by(store: &Store, space: SpaceId, entity: EntityId) -> u64 {
    let none = ByteLimit(Some(0));
    let full =
        store.clone().with_file_limits(FileLimits { per_entity: none, ..FileLimits::DEFAULT });
    let file = FileRecord::new(id(99), space, &spec(), Some(entity), at(0));
    let refused = full.attachments().create(&file, None).await.unwrap_err().to_string();
    let used = refused.strip_prefix("the files that this entity has uploaded to all spaces have ");
    used.unwrap().split(' ').next().unwrap().parse().unwrap()
}

async fn get(store: &Store, space: SpaceId, number: u128) -> FileRecord {
    store.attachments().get(space, id(number)).await.unwrap()
}

/// Four files are announced. One is refused, one is sent, one is sent twice, and one is deleted.
/// Returns the contents of the table and the number of writes.
async fn path_of_files(fault: Option<(usize, Fault)>) -> (String, usize) {
    let studio = Box::pin(Studio::with_fault(fault)).await;
    let store = &studio.store;
    let (space, person) = (studio.space, studio.person);
    let files = store.attachments();
    for number in 1..=4 {
        let file = FileRecord::new(id(number), space, &spec(), Some(person), at(1));
        files.create(&file, None).await.unwrap();
    }
    let size = PictureSize { width: 3, height: 2 };
    for (number, found) in
        [(1, Err("no text".to_owned())), (2, Ok(None)), (3, Ok(Some(size))), (4, Ok(None))]
    {
        files.checked(&get(store, space, number).await, &found).await.unwrap();
    }
    for (number, sent) in [(1, vec![2, 3]), (2, vec![3])] {
        let mut named = Vec::new();
        for file in sent {
            named.push(get(store, space, file).await);
        }
        let message = posted(number, space, person, "Look", 5);
        let message = NewMessage { content: Content::Files, files: named, ..message };
        store.messages().append(&message, at(5)).await.unwrap();
    }
    let unsent = get(store, space, 4).await;
    assert!(files.drop_unsent(&unsent).await.unwrap());
    files.delete_dropped(&unsent).await.unwrap();
    let sent = get(store, space, 3).await;
    assert!(!files.drop_unsent(&sent).await.unwrap());
    let message = NewMessage { files: vec![unsent], ..posted(3, space, person, "Late", 6) };
    let refused = store.messages().append(&message, at(6)).await.unwrap_err();
    assert!(refused.to_string().contains("it was deleted"), "{refused}");
    // The refused one and the deleted one do not count.
    let sent = 2 * TEXT.len() as u64;
    assert_eq!(used_in(store, space).await, sent);
    assert_eq!(used_by(store, space, person).await, sent);
    studio.outcome().await
}

#[tokio::test(start_paused = true)]
async fn files_survive_a_fault_of_any_write() {
    assert_same_success(path_of_files, 12).await;
}

#[tokio::test(start_paused = true)]
async fn a_file_that_no_message_names_is_deleted_after_a_day() {
    let (_, store) = empty_table().await;
    let space = SpaceId::new(at(0), 3);
    let settings = serde_json::from_value(json!({"name": "Team"})).unwrap();
    store.spaces().create(space, settings, None, at(0)).await.unwrap();
    let storage = Arc::new(MemoryFiles::default());
    let with_files = |second| {
        let (pipeline, ..) = pipeline(&store, second);
        Pipeline { files: storage.clone(), ..pipeline }
    };
    // One was uploaded and one never was. Of a third one the space knows nothing.
    for number in [1, 2] {
        let file = FileRecord::new(id(number), space, &spec(), None, at(1));
        store.attachments().create(&file, None).await.unwrap();
    }
    let key = |number| FileKey { space, file: id(number) };
    for number in [1, 3] {
        assert!(storage.put(key(number), TEXT));
    }
    for second in [2, LATER - 120] {
        for number in 1..=3 {
            with_files(second).settle_file(space, id(number)).await.unwrap();
        }
        assert_eq!(storage.keys(), [key(1)]);
    }
    for _ in 0..2 {
        for number in 1..=3 {
            with_files(LATER).settle_file(space, id(number)).await.unwrap();
        }
        assert_eq!(storage.keys(), []);
        for number in [1, 2] {
            assert_eq!(store.attachments().find_any(space, id(number)).await.unwrap(), None);
        }
    }
    // Nothing counts any longer.
    assert_eq!(used_in(&store, space).await, 0);
}
