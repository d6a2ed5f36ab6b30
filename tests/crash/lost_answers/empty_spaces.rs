//! Spaces whose last member has left.

use std::time::Duration;

use serde_json::json;
use smartspace_domain::{
    Time,
    access::Caller,
    entities::Entity,
    ids::{EntityId, LeaseId, SpaceId},
    limits::EMPTY_SPACES_KEPT,
    spaces::Role,
};
use smartspace_store::{Error, Store};
use smartspace_sweep::Sweep;

use crate::crash::lost_answers::{
    at,
    faults::{Fault, FaultyStore, assert_same_success},
    read,
    sweep::{empty_table, pipeline},
};

const MONTH: i64 = 30 * 24 * 60 * 60;

fn space() -> SpaceId {
    SpaceId::new(at(0), 3)
}

async fn person(store: &Store, number: u128) -> Entity {
    let settings = read(json!({"type": "human", "name": format!("Person {number}")}));
    store.entities().create(EntityId::new(at(0), number), settings, None, at(0)).await.unwrap()
}

async fn emptied_at(store: &Store) -> Option<Time> {
    store.spaces().record(space()).await.unwrap().emptied_at
}

/// Both members of a space leave, one comes back and leaves again, and the space ends.
async fn path_of_an_empty_space(fault: Option<(usize, Fault)>) -> (String, usize) {
    let faulty = FaultyStore::new().await;
    let store = &faulty.store;
    let people = [person(store, 1).await, person(store, 2).await];
    store.spaces().create(space(), read(json!({"name": "Team"})), None, at(0)).await.unwrap();
    faulty.fail(fault);
    let members = store.members();
    for person in &people {
        members.join(space(), person, Role::Member, at(1)).await.unwrap();
    }
    let by = Caller::Operator;
    members.leave_if(space(), people[0].id, by, at(2), |_| Ok(())).await.unwrap();
    assert_eq!(emptied_at(store).await, None);
    members.leave_if(space(), people[1].id, by, at(3), |_| Ok(())).await.unwrap();
    assert_eq!(emptied_at(store).await, Some(at(3)));
    let emptied = store.spaces().record(space()).await.unwrap();
    members.join(space(), &people[0], Role::Member, at(4)).await.unwrap();
    assert_eq!(emptied_at(store).await, None);
    // A job that has read the space before that.
    let late = at(3 + MONTH);
    assert_eq!(store.spaces().end_empty(&emptied, &LeaseId::new(1), late).await, Ok(false));
    members.leave(space(), people[0].id, at(5)).await.unwrap();
    let emptied = store.spaces().record(space()).await.unwrap();
    let token = LeaseId::new(2);
    let early = at(4 + MONTH);
    assert_eq!(store.spaces().end_empty(&emptied, &token, early).await, Ok(false));
    assert_eq!(store.spaces().end_empty(&emptied, &token, at(5 + MONTH)).await, Ok(true));
    let gone = store.spaces().record(space()).await;
    assert_eq!(gone, Err(Error::NotFound("there is no such space".into())));
    let record = store.spaces().any_record(space()).await.unwrap();
    (format!("{record:?}"), faulty.writes())
}

#[tokio::test(start_paused = true)]
async fn the_end_of_an_empty_space_survives_a_fault_of_any_write() {
    assert_eq!(EMPTY_SPACES_KEPT, Duration::from_secs(MONTH as u64));
    assert_same_success(path_of_an_empty_space, 7).await;
}

#[tokio::test(start_paused = true)]
async fn the_sweep_ends_a_space_thirty_days_after_its_last_member_has_left() {
    let (_, store) = empty_table().await;
    let husam = person(&store, 1).await;
    let never = SpaceId::new(at(0), 4);
    for id in [space(), never] {
        store.spaces().create(id, read(json!({"name": "Team"})), None, at(0)).await.unwrap();
    }
    store.members().join(space(), &husam, Role::Owner, at(1)).await.unwrap();
    store.members().leave(space(), husam.id, at(2)).await.unwrap();
    let sweep = async |second: i64| {
        let (pipeline, _, triggers) = pipeline(&store, second);
        let swept = Sweep { pipeline: pipeline.clone() }.handle().await.unwrap();
        for job in triggers.take() {
            let smartspace_domain::jobs::TriggerJob::SettleSpace { space_id } = job else {
                panic!("{job:?}");
            };
            pipeline.settle_space(space_id).await.unwrap();
        }
        swept
    };
    assert_eq!(sweep(1 + MONTH).await, 0);
    // A restarted host looks at all due items, also before their time.
    pipeline(&store, 1 + MONTH).0.settle_space(space()).await.unwrap();
    assert_eq!(emptied_at(&store).await, Some(at(2)));
    assert_eq!(sweep(2 + MONTH).await, 1);
    assert_eq!(store.spaces().any_record(space()).await, Ok(None));
    // A space that never had a member stays.
    assert_eq!(sweep(12 * MONTH).await, 0);
    assert_eq!(store.spaces().record(never).await.unwrap().emptied_at, None);
}
