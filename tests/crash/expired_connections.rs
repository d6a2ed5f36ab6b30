//! Connections with an expired credential. On AWS no process holds the connections and watches the
//! time, so the next broadcast closes them.

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
    events::{Event, EventKind, ReadPosition},
    ids::{ConnectionId, EntityId, SpaceId},
    jobs::BroadcastJob,
    spaces::Role,
};
use smartspace_ports::{
    clock::Clock,
    queues::{Queue, QueueError},
    sockets::{CloseCode, PostError, PostPermits, Sockets},
};
use smartspace_store::{
    Store,
    connections::{ConnectionRecord, Ticket},
    table::schema,
};

use smartspace_embedded_table::{EmbeddedTable, NAME};

/// Records the frames of each connection, and null when it is closed. The connection `gone` does
/// not exist.
#[derive(Default)]
struct RecordedSockets(Mutex<Vec<(ConnectionId, Value)>>, PostPermits);

#[async_trait]
impl Sockets for RecordedSockets {
    fn post_permits(&self) -> &PostPermits {
        &self.1
    }

    async fn post(&self, connection: &ConnectionId, frame: Arc<str>) -> Result<(), PostError> {
        if connection.0 == "gone" {
            return Err(PostError::Gone);
        }
        self.0.lock().unwrap().push((connection.clone(), serde_json::from_str(&frame).unwrap()));
        Ok(())
    }

    async fn close(&self, connection: &ConnectionId, code: CloseCode) {
        assert_eq!(code, CloseCode::Policy);
        self.0.lock().unwrap().push((connection.clone(), Value::Null));
    }

    async fn is_open(&self, connection: &ConnectionId) -> bool {
        connection.0 != "gone"
    }
}

/// A queue that a few connections do not need.
struct NoQueue;

#[async_trait]
impl Queue<BroadcastJob> for NoQueue {
    async fn send(&self, jobs: Vec<BroadcastJob>) -> Result<(), QueueError> {
        panic!("{jobs:?}")
    }
}

struct ManualClock(Mutex<Time>);

impl Clock for ManualClock {
    fn now(&self) -> Time {
        *self.0.lock().unwrap()
    }
}

/// A person with connections, and a broadcast that sends to them.
struct Scene {
    store: Store,
    person: EntityId,
    space: SpaceId,
    sockets: Arc<RecordedSockets>,
    clock: Arc<ManualClock>,
    broadcast: Broadcast,
}

/// A recorded frame: the connection, and the frame's type and status.
type Sent = (String, Value, Value);

fn start() -> Time {
    Time::from_millis(1_771_427_220_000)
}

impl Scene {
    async fn new() -> Self {
        let client = EmbeddedTable::in_memory().unwrap().client();
        schema::create_table(&client, NAME).await.unwrap();
        let store = Store::new(client, NAME, None, Arc::new(|| 4));
        let person = EntityId::new(start(), 1);
        let space = SpaceId::new(start(), 2);
        let human = serde_json::from_value(json!({"type": "human", "name": "Sara"})).unwrap();
        let sara = store.entities().create(person, human, None, start()).await.unwrap();
        let team = serde_json::from_value(json!({"name": "Team"})).unwrap();
        store.spaces().create(space, team, None, start()).await.unwrap();
        store.members().join(space, &sara, Role::Member, start()).await.unwrap();
        let sockets = Arc::new(RecordedSockets::default());
        let clock = Arc::new(ManualClock(Mutex::new(start())));
        let broadcast = Broadcast {
            store: store.clone(),
            sockets: sockets.clone(),
            clock: clock.clone(),
            queue: Arc::new(NoQueue),
        };
        Self { store, person, space, sockets, clock, broadcast }
    }

    /// Opens a connection of the person.
    async fn connect(&self, id: &ConnectionId, expires_at: Option<Time>) -> ConnectionRecord {
        let connections = self.store.connections();
        let ticket = Ticket {
            caller: Caller::Entity(self.person),
            valid_until: start() + Duration::from_secs(5),
            credential_until: expires_at,
            is_protocol: false,
        };
        connections.store_ticket(&id.0, ticket).await.unwrap();
        let lifetime = Duration::from_hours(2);
        connections.connect(&id.0, id, lifetime, start()).await.unwrap().unwrap()
    }

    /// Broadcasts two events this many seconds after the start: one to the space and one to all
    /// connections of the person. Returns the sent frames in a fixed order.
    async fn broadcast_at(&self, seconds: u64) -> Vec<Sent> {
        *self.clock.0.lock().unwrap() = start() + Duration::from_secs(seconds);
        let read = Event {
            space_id: self.space,
            at: start(),
            what: EventKind::read(ReadPosition { entity_id: self.person, seq: 0 }, &[]),
        };
        for job in
            [read.into(), BroadcastJob::Joined { entity_id: self.person, space_id: self.space }]
        {
            Box::pin(self.broadcast.handle(&job)).await.unwrap();
        }
        let mut sent: Vec<Sent> = self
            .sockets
            .0
            .lock()
            .unwrap()
            .drain(..)
            .map(|(to, frame)| (to.0, frame["type"].clone(), frame["status"].clone()))
            .collect();
        sent.sort_by_key(|(to, kind, _)| format!("{to} {kind}"));
        sent
    }

    /// The ids of the stored connections of the person.
    async fn stored(&self) -> Vec<ConnectionId> {
        let stored = self.store.connections().of_entity(self.person, start()).await.unwrap();
        stored.into_iter().map(|connection| connection.id).collect()
    }
}

#[tokio::test]
async fn a_broadcast_closes_connections_whose_credential_has_expired() {
    let scene = Scene::new().await;
    let [short, long, gone] = ["short", "long", "gone"].map(|id| ConnectionId(id.into()));
    for (id, expires_at) in [(&short, Some(start() + Duration::from_secs(10))), (&long, None)] {
        let connection = scene.connect(id, expires_at).await;
        scene.store.connections().subscribe(&connection, scene.space, None).await.unwrap();
    }
    scene.connect(&gone, None).await;

    let frame = |to: &ConnectionId, kind: &str| (to.0.clone(), json!(kind), Value::Null);
    let to_both = [
        frame(&long, "space.joined"),
        frame(&long, "space.read"),
        frame(&short, "space.joined"),
        frame(&short, "space.read"),
    ];
    assert_eq!(scene.broadcast_at(9).await, to_both);
    let closed = [
        (short.0.clone(), json!("error"), json!(401)),
        (short.0.clone(), json!("goodbye"), Value::Null),
        (short.0.clone(), Value::Null, Value::Null),
    ];
    assert_eq!(scene.broadcast_at(10).await, [&to_both[..2], &closed].concat());
    assert_eq!(scene.broadcast_at(11).await, to_both[..2], "the closed connection is deleted");
    // A missing connection may still be in its handshake, so it is deleted only later.
    assert_eq!(scene.stored().await, [gone, long.clone()]);
    scene.broadcast_at(60).await;
    assert_eq!(scene.stored().await, [long]);
}

#[tokio::test]
async fn an_event_is_sent_before_expired_connections_are_closed_some_at_a_time() {
    let scene = Scene::new().await;
    let soon = start() + Duration::from_secs(10);
    for number in 0..70 {
        let connection = scene.connect(&ConnectionId(format!("c{number:02}")), Some(soon)).await;
        scene.store.connections().subscribe(&connection, scene.space, None).await.unwrap();
    }
    let long = scene.connect(&ConnectionId("long".into()), None).await;
    scene.store.connections().subscribe(&long, scene.space, None).await.unwrap();
    *scene.clock.0.lock().unwrap() = soon;
    let what = EventKind::read(ReadPosition { entity_id: scene.person, seq: 0 }, &[]);
    let event = Event { space_id: scene.space, at: start(), what };
    let job = BroadcastJob::from(event);
    // The second event closes the rest.
    for expected in [64, 6, 0] {
        Box::pin(scene.broadcast.handle(&job)).await.unwrap();
        let sent: Vec<_> = scene.sockets.0.lock().unwrap().drain(..).collect();
        assert_eq!(sent[0].0, long.id, "the event comes first");
        let closed = sent.iter().filter(|(_, frame)| frame.is_null()).count();
        assert_eq!([closed, sent.len()], [expected, 1 + 3 * expected]);
    }
    assert_eq!(scene.stored().await, [long.id]);
}
