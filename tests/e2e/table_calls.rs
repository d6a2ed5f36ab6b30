//! What operations of the store cost, in calls and in bytes, on a table in memory.

mod active_runs;
mod activity;
mod blocks;
mod changes;
mod counted;
mod files;
mod members;
mod reactions;
mod runs_by_day;
mod search;
mod webhooks;

use serde_json::json;
use smartspace_domain::{
    Time,
    ids::{DeliveryId, EntityId, RunId},
};
use smartspace_store::deliveries::NewDelivery;

use self::counted::CountedStore;

fn at(seconds: i64) -> Time {
    Time::from_millis(1_771_427_220_000 + seconds * 1_000)
}

/// A run of the agent that a delivery triggers.
async fn delivered(counted: &CountedStore, agent: EntityId, number: u128, now: Time) -> RunId {
    let id = DeliveryId::new(now, number);
    let new = NewDelivery {
        id,
        agent,
        service: "monitor".into(),
        key: id.to_string(),
        also: None,
        payload: json!({"number": number.to_string()}),
        bytes: 10,
        chain_depth: 0,
        post_key: None,
        by_hand: true,
    };
    counted.store.deliveries().receive(&new, now).await.unwrap().run_id.unwrap()
}

fn read<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> T {
    serde_json::from_value(value).unwrap()
}
