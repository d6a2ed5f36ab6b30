//! Items that must not block the sweep, and removals that take several jobs.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use aws_sdk_dynamodb::{Client, types::AttributeValue};
use serde_json::json;
use smartspace_domain::{
    Time,
    ids::{EntityId, RunId, SpaceId},
    jobs::{Job, RunJob, TriggerJob},
    spaces::Role,
};
use smartspace_embedded_table::{EmbeddedTable, NAME, client_on};
use smartspace_pipeline::Pipeline;
use smartspace_ports::{
    alarms::NoAlarms,
    cancel_signal::NoCancelSignal,
    clock::Clock,
    files::MemoryFiles,
    ids::RandomIds,
    queues::{Queue, QueueError},
};
use smartspace_store::{
    Store,
    table::{keys, schema},
};
use smartspace_sweep::Sweep;

use crate::crash::lost_answers::{
    at,
    due::{LATER, overdue},
    posted, read,
};

/// A queue that records its jobs.
#[derive(Debug)]
pub(super) struct Queued<J>(Mutex<Vec<J>>);

impl<J> Queued<J> {
    fn empty() -> Arc<Self> {
        Arc::new(Self(Mutex::default()))
    }

    /// The jobs so far, which are no longer recorded.
    pub(super) fn take(&self) -> Vec<J> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

#[async_trait]
impl<J: Job> Queue<J> for Queued<J> {
    async fn send(&self, jobs: Vec<J>) -> Result<(), QueueError> {
        self.0.lock().unwrap().extend(jobs);
        Ok(())
    }
}

#[derive(Debug)]
struct At(i64);

impl Clock for At {
    fn now(&self) -> Time {
        at(self.0)
    }
}

pub(super) async fn empty_table() -> (Client, Store) {
    let client = client_on(EmbeddedTable::in_memory().unwrap());
    schema::create_table(&client, NAME).await.unwrap();
    let store = Store::new(client.clone(), NAME, None, Arc::new(|| 4));
    (client, store)
}

/// A pipeline at this second, and the queues of its run and trigger jobs.
pub(super) fn pipeline(
    store: &Store,
    second: i64,
) -> (Pipeline, Arc<Queued<RunJob>>, Arc<Queued<TriggerJob>>) {
    let runs = Queued::empty();
    let triggers = Queued::empty();
    let pipeline = Pipeline {
        store: store.clone(),
        runs: runs.clone(),
        broadcasts: Queued::empty(),
        triggers: triggers.clone(),
        alarms: Arc::new(NoAlarms),
        cancel_signal: Arc::new(NoCancelSignal),
        clock: Arc::new(At(second)),
        files: Arc::new(MemoryFiles::default()),
        ids: Arc::new(RandomIds),
        is_rate_limited: false,
    };
    (pipeline, runs, triggers)
}

#[tokio::test(start_paused = true)]
async fn an_unreadable_item_blocks_no_other_and_a_time_without_milliseconds_is_read() {
    let (client, store) = empty_table().await;
    // In each part some items can't be parsed, and the times of some have no milliseconds.
    for number in 0..u128::from(keys::DUE_PARTS) * 4 {
        let run = RunId::new(at(1), number);
        let part = keys::due(run.part_of(keys::DUE_PARTS));
        for key in [keys::run_meta(run), keys::space_meta(SpaceId::new(at(1), number))] {
            let text = |text: &str| AttributeValue::S(text.to_owned());
            let put = client
                .put_item()
                .table_name(NAME)
                .item("PK", text(&key.pk))
                .item("SK", text(&key.sk));
            put.item("due", text(&part))
                .item("dueAt", text("2026-02-18T15:07:00Z"))
                .send()
                .await
                .unwrap();
        }
    }
    let (pipeline, runs, triggers) = pipeline(&store, LATER);
    let spaces = usize::from(keys::DUE_PARTS) * 4;
    assert_eq!(Sweep { pipeline }.handle().await, Ok(spaces));
    assert_eq!((runs.0.lock().unwrap().len(), triggers.0.lock().unwrap().len()), (0, spaces));
    assert_eq!(overdue(&store, LATER).await, [], "an item was not postponed");
}

#[tokio::test(start_paused = true)]
async fn a_deleted_space_with_very_many_messages_is_removed_by_several_jobs() {
    let (client, store) = empty_table().await;
    let space = SpaceId::new(at(0), 3);
    let person = EntityId::new(at(0), 1);
    let member = store
        .entities()
        .create(person, read(json!({"type": "human", "name": "Husam"})), None, at(0))
        .await
        .unwrap();
    store.spaces().create(space, read(json!({"name": "Team"})), None, at(0)).await.unwrap();
    store.members().join(space, &member, Role::Member, at(0)).await.unwrap();
    let hello = posted(5, space, person, "Hello", 1);
    store.messages().append(&hello, at(1)).await.unwrap();
    let items_of_space = async || {
        let query = client.query().table_name(NAME).key_condition_expression("PK = :pk");
        let query = query.expression_attribute_values(":pk", AttributeValue::S(keys::space(space)));
        query.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await.unwrap()
    };
    let is_message =
        |item: &&HashMap<String, AttributeValue>| item["SK"].as_s().unwrap().starts_with(keys::MSG);
    let message = items_of_space().await.iter().find(is_message).unwrap().clone();
    for seq in 2..=4_100_u64 {
        let mut copy = message.clone();
        copy.insert("SK".into(), AttributeValue::S(keys::numbered(space, keys::MSG, seq).sk));
        copy.insert("seq".into(), AttributeValue::N(seq.to_string()));
        client.put_item().table_name(NAME).set_item(Some(copy)).send().await.unwrap();
    }
    let (pipeline, _, triggers) = pipeline(&store, LATER);
    pipeline.delete_space(space).await.unwrap();
    let mut left = Vec::new();
    while let Some(job) = { triggers.0.lock().unwrap().pop() } {
        let TriggerJob::SettleSpace { space_id } = job else { panic!("{job:?}") };
        pipeline.settle_space(space_id).await.unwrap();
        left.push(items_of_space().await.len());
        let due =
            store.due().candidates(space.part_of(keys::DUE_PARTS), at(LATER), 10).await.unwrap();
        assert_eq!(due, [], "the space is due although its next job is queued");
    }
    assert!(left.len() == 2 && left[0] > 100 && left[1] == 0, "{left:?}");
}
