//! Connections whose credential has expired, where no server of ours keeps their time, as on AWS: whoever has something to tell closes them.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use serde_json::{Value, json};
use smartspace_broadcast::Broadcast;
use smartspace_domain::{
    Time,
    access::Caller,
    events::{Event, Happening},
    ids::{ConnectionId, EntityId, SpaceId},
    jobs::BroadcastJob,
    spaces::Role,
};
use smartspace_edges::{
    clock::Clock,
    sockets::{PostError, Sockets},
};
use smartspace_store::{Store, schema};

use crate::embedded_table::{EmbeddedTable, NAME};

/// What was posted to whom; a closing is null. A connection `gone` takes nothing.
#[derive(Default)]
struct Posted(Mutex<Vec<(ConnectionId, Value)>>);

#[async_trait]
impl Sockets for Posted {
    async fn post(&self, connection: &ConnectionId, frame: Arc<str>) -> Result<(), PostError> {
        if connection.0 == "gone" {
            return Err(PostError::Gone);
        }
        self.0.lock().unwrap().push((connection.clone(), serde_json::from_str(&frame).unwrap()));
        Ok(())
    }

    async fn close(&self, connection: &ConnectionId) {
        self.0.lock().unwrap().push((connection.clone(), Value::Null));
    }
}

struct At(Mutex<Time>);

impl Clock for At {
    fn now(&self) -> Time {
        *self.0.lock().unwrap()
    }
}

#[tokio::test]
async fn who_only_listens_is_told_nothing_after_its_credential_but_that_it_has_expired() {
    let client = EmbeddedTable::in_memory().unwrap().client();
    schema::create_table(&client, NAME).await.unwrap();
    let store = Store::new(client, NAME, None, Arc::new(|| 4));
    let start = Time::from_millis(1_771_427_220_000);
    let (person, space) = (EntityId::new(start, 1), SpaceId::new(start, 2));
    let settings = serde_json::from_value(json!({"type": "human", "name": "Sara"})).unwrap();
    let sara = store.create_entity(person, settings, None, start).await.unwrap();
    store.create_space(space, serde_json::from_value(json!({"name": "Team"})).unwrap(), None, start).await.unwrap();
    store.join(space, &sara, Role::Member, start).await.unwrap();
    let [short, long, gone] = ["short", "long", "gone"].map(|id| ConnectionId(id.into()));
    for (id, credential) in [(&short, Some(start + Duration::from_secs(10))), (&long, None), (&gone, None)] {
        store.keep_ticket(&id.0, Caller::Entity(person), start + Duration::from_secs(5), credential).await.unwrap();
        let connection = store.connect(&id.0, id, Duration::from_hours(2), start).await.unwrap().unwrap();
        if *id != gone {
            store.subscribe(&connection, space).await.unwrap();
        }
    }

    let (posted, clock) = (Arc::new(Posted::default()), Arc::new(At(Mutex::new(start))));
    let broadcast = Broadcast { store: store.clone(), sockets: posted.clone(), clock: clock.clone() };
    let read = Event { space_id: space, at: start, what: Happening::SpaceRead { entity_id: person, seq: 0 } };
    let jobs = [BroadcastJob::Event { event: Box::new(read) }, BroadcastJob::Joined { entity_id: person, space_id: space }];
    let told = async |seconds: u64| {
        *clock.0.lock().unwrap() = start + Duration::from_secs(seconds);
        for job in &jobs {
            Box::pin(broadcast.handle(job)).await.unwrap();
        }
        let mut told: Vec<_> =
            posted.0.lock().unwrap().drain(..).map(|(to, what)| (to.0, what["type"].clone(), what["status"].clone())).collect();
        told.sort_by_key(|(to, what, _)| format!("{to} {what}"));
        told
    };
    let line = |to: &ConnectionId, what: &str| (to.0.clone(), json!(what), Value::Null);
    let to_both = [line(&long, "space.joined"), line(&long, "space.read"), line(&short, "space.joined"), line(&short, "space.read")];
    assert_eq!(told(9).await, to_both);
    let closed = [(short.0.clone(), json!("error"), json!(401)), (short.0.clone(), Value::Null, Value::Null)];
    assert_eq!(told(10).await, [&to_both[..2], &closed].concat());
    assert_eq!(told(11).await, to_both[..2], "it is forgotten");
    let known = async || {
        let known = store.connections_of(person, start).await.unwrap();
        known.into_iter().map(|connection| connection.id).collect::<Vec<_>>()
    };
    assert_eq!(known().await, [gone, long.clone()], "whose handshake may not have ended is not gone yet");
    told(60).await;
    assert_eq!(known().await, [long]);
}
