//! Runs a scenario once for each of its writes, with the answer to the write lost, with the write
//! refused before its effect, and with a conflict. Each time the table must end with the same
//! contents. [`faults`] injects them.
//!
//! Each other file has one part of the store. In [`races`] another process writes in between.

mod agent_state;
mod approvals;
mod deliveries;
mod due;
mod empty_spaces;
mod external_calls;
mod faults;
mod file_quotas;
mod files;
mod firing_plans;
mod forms;
mod interruption;
mod messages;
mod owners;
mod plans;
mod races;
mod reading_and_deleting;
mod stopped;
mod stops;
mod studio;
mod sweep;

use std::future::ready;

use serde_json::json;
use smartspace_domain::{
    Time,
    entities::Entity,
    ids::{CallId, EntityId, LeaseId, MessageId, RunId, SpaceId},
};
use smartspace_store::{
    Store,
    idempotency::PostKey,
    messages::append::{Content, MessageSource, NewMessage},
    runs::{RunRecord, claims::Claim, steps::CallRecord},
};

fn at(seconds: i64) -> Time {
    Time::from_millis(1_771_427_220_000 + seconds * 1_000)
}

fn read<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> T {
    serde_json::from_value(value).unwrap()
}

/// A message that a person posts with the API.
fn posted(number: u128, space: SpaceId, sender: EntityId, text: &str, second: i64) -> NewMessage {
    NewMessage {
        id: MessageId::new(at(second), number),
        space,
        sender,
        content: Content::Text(text.parse().unwrap()),
        files: Vec::new(),
        reply_to: None,
        by: MessageSource::External { key: None, depth: 0, page: None },
    }
}

fn post_key(key: &str) -> PostKey {
    PostKey::new("operator", "POST", "/", &key.parse().unwrap(), b"body")
}

/// A completed call of a run's first step.
fn call_record(run: RunId, index: u32, second: i64) -> CallRecord {
    CallRecord::completed(CallId::of(run, 0, index), 0, index, "a tool".into(), at(second))
}

/// Claims a run that no other worker has claimed.
async fn claim(store: &Store, run: RunId, lease: &LeaseId, second: i64) -> RunRecord {
    let run = store.runs().record(run).await.unwrap().to_ref();
    match store.runs().claim(&run, lease, at(second), ready(None)).await.unwrap() {
        Claim::Ours { run, .. } => *run,
        other => panic!("{other:?}"),
    }
}

/// Creates a space, and two people who are not members of it yet.
async fn space_and_people(store: &Store) -> (SpaceId, [Entity; 2]) {
    let space = SpaceId::new(at(0), 3);
    store.spaces().create(space, read(json!({"name": "Team"})), None, at(0)).await.unwrap();
    let person = async |number, name| {
        let settings = read(json!({"type": "human", "name": name}));
        store.entities().create(EntityId::new(at(0), number), settings, None, at(0)).await.unwrap()
    };
    (space, [person(1, "Husam").await, person(2, "Sara").await])
}
