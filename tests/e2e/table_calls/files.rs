//! What files cost in calls of the table: announced, checked, named by a message, and drawn.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;
use smartspace_domain::{
    Time,
    access::Caller,
    attachments::{NewAttachment, ReturnedImage, Sha256Hex},
    entities::EntitySettings,
    ids::{EntityId, MessageId, SpaceId},
    jobs::Job,
    spaces::Role,
};
use smartspace_pipeline::Pipeline;
use smartspace_ports::{
    alarms::NoAlarms,
    cancel_signal::NoCancelSignal,
    clock::Clock,
    files::{FileKey, MemoryFiles},
    ids::RandomIds,
    queues::{Queue, QueueError},
};
use smartspace_store::messages::append::{Content, MessageSource, NewMessage};

use super::{at, counted::CountedStore, read};
use crate::support::files::PIXEL;

/// A queue that forgets its jobs.
struct Nowhere;

#[async_trait]
impl<J: Job> Queue<J> for Nowhere {
    async fn send(&self, _: Vec<J>) -> Result<(), QueueError> {
        Ok(())
    }
}

struct Now;

impl Clock for Now {
    fn now(&self) -> Time {
        at(1)
    }
}

/// A pipeline that counts calls of the table and sends no jobs.
pub(super) fn pipeline_of(counted: &CountedStore, storage: &Arc<MemoryFiles>) -> Pipeline {
    Pipeline {
        store: counted.store.clone(),
        runs: Arc::new(Nowhere),
        broadcasts: Arc::new(Nowhere),
        triggers: Arc::new(Nowhere),
        alarms: Arc::new(NoAlarms),
        cancel_signal: Arc::new(NoCancelSignal),
        clock: Arc::new(Now),
        files: storage.clone(),
        ids: Arc::new(RandomIds),
        is_rate_limited: false,
    }
}

#[tokio::test]
async fn a_file_takes_five_calls_besides_its_message() {
    let counted = CountedStore::new().await;
    let storage = Arc::new(MemoryFiles::default());
    let pipeline = pipeline_of(&counted, &storage);
    let space = SpaceId::new(at(0), 1);
    let sara = EntityId::new(at(0), 2);
    let settings: EntitySettings = read(json!({"type": "human", "name": "Sara"}));
    let store = &counted.store;
    store.spaces().create(space, read(json!({"name": "Team"})), None, at(0)).await.unwrap();
    let entity = store.entities().create(sara, settings, None, at(0)).await.unwrap();
    store.members().join(space, &entity, Role::Member, at(0)).await.unwrap();

    let new: NewAttachment = read(json!({
        "name": "a.png", "contentType": "image/png", "bytes": PIXEL.len(),
        "sha256": Sha256Hex::of(PIXEL).as_str(),
    }));
    let file = new.checked().unwrap();
    let starting = pipeline.start_upload(Caller::Entity(sara), None, space, &file, None);
    let (started, announced) = Box::pin(counted.cost_of(starting)).await;
    let id = started.unwrap().id;
    assert!(storage.put(FileKey { space, file: id }, PIXEL));
    let settling = pipeline.settle_file(space, id);
    let (settled, checked) = Box::pin(counted.cost_of(settling)).await;
    settled.unwrap();
    let message = |number: u128| NewMessage {
        id: MessageId::new(at(2), number),
        space,
        sender: sara,
        content: Content::Text("Look".parse().unwrap()),
        files: Vec::new(),
        reply_to: None,
        by: MessageSource::External { key: None, depth: 0, page: None },
    };
    // The first message of a process reads the roster.
    pipeline.post(&message(1)).await.unwrap();
    let (_, plain) = Box::pin(counted.cost_of(pipeline.post(&message(2)))).await;
    let naming = async {
        let files = pipeline.files_named(space, &[id]).await.unwrap();
        pipeline.post(&NewMessage { files, ..message(3) }).await.unwrap()
    };
    let (_, with_file) = Box::pin(counted.cost_of(naming)).await;
    let image = ReturnedImage { content_type: "image/png".into(), bytes: PIXEL.into() };
    let image = image.checked("draw").unwrap();
    let keeping = pipeline.keep_made(sara, space, image);
    let (kept, made) = Box::pin(counted.cost_of(keeping)).await;
    kept.unwrap();
    let calls = [announced, checked, made].map(|cost| cost.calls);
    assert_eq!(calls, [1, 4, 2]);
    // A read of the file; the transaction is one in either case.
    assert_eq!(with_file.calls, plain.calls + 1);
}
