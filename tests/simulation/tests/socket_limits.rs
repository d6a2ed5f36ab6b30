//! The limits of connections and followers, and replays to connections that are gone or slow.

use std::{sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::{Value, json};
use smartspace_domain::{
    access::Caller as DomainCaller,
    append_limits::AppendLimit,
    ids::{ConnectionId, SpaceId},
};
use smartspace_simulation::{
    chance::Chance, client::Caller, plan::Plan, setting, setup::Setup, view::View, world::World,
};
use smartspace_store::{
    Store,
    connections::{MayFollow, Ticket},
};
use tokio::time::{Instant, sleep};

const CALL_LATENCY: Duration = Duration::from_millis(1);

/// Three members, so that a message without a mention triggers nobody. Their history is written
/// within one second.
fn plan() -> Plan {
    let append_limit = AppendLimit { messages: 1_000, bytes: 1_000_000 };
    Plan { policy: "mention", agents: 2, append_limit, ..Plan::quiet() }
}

/// A world with a person and a space, in which messages trigger nobody.
async fn set() -> Arc<World> {
    let setup = Setup::default();
    let plan = plan();
    let chance = Chance::new(setup.seed, setup.suppressed.clone());
    let world = World::with_plan(&setup, plan, chance, Some(CALL_LATENCY)).unwrap();
    setting::set(&world).await.unwrap();
    world
}

fn space_of(world: &World) -> SpaceId {
    world.env.ledger.lock().unwrap().spaces[0]
}

async fn post(world: &Arc<World>, count: usize) {
    let person = world.env.ledger.lock().unwrap().people[0];
    let path = format!("/v1/spaces/{}/messages", space_of(world));
    for number in 0..count {
        let body = json!({"text": format!("message {number}"), "senderId": person});
        let answer =
            world.http("person", Caller::Operator, Method::POST, &path, None, Some(&body)).await;
        assert_eq!(answer.unwrap().0, 201);
    }
}

/// Opens a connection of a caller.
async fn connect(world: &Arc<World>, caller: Caller, name: String) -> (ConnectionId, Arc<View>) {
    connect_with(world, caller, name, &json!({})).await
}

/// Opens a connection of a caller with a ticket that is asked for with `body`.
async fn connect_with(
    world: &Arc<World>,
    caller: Caller,
    name: String,
    body: &Value,
) -> (ConnectionId, Arc<View>) {
    let path = "/v1/socketTickets";
    let made = world.http("test", caller, Method::POST, path, None, Some(body)).await;
    let (status, ticket) = made.unwrap();
    assert_eq!(status, 201, "{ticket}");
    let id = ConnectionId(name);
    let process = world.some_process("test").unwrap();
    process.socket.connect(ticket["ticket"].as_str().unwrap(), &id).await.unwrap();
    let view = Arc::<View>::default();
    world.env.connections.open(id.clone(), Arc::clone(&view));
    (id, view)
}

async fn subscribe(world: &Arc<World>, connection: &ConnectionId, id: u64) {
    let frame = json!({
        "action": "subscribe", "id": id, "spaceId": space_of(world), "afterSeq": 0,
    });
    world.receive(connection, &frame.to_string()).await.unwrap();
}

fn posts(world: &World) -> usize {
    world.env.ledger.lock().unwrap().calls.iter().filter(|(_, what)| what == "post").count()
}

#[tokio::test(start_paused = true)]
async fn a_replay_ends_at_the_first_post_to_a_connection_that_is_gone() {
    let world = set().await;
    post(&world, 30).await;
    let (gone, _) = connect(&world, Caller::Operator, "gone".into()).await;
    let (here, view) = connect(&world, Caller::Operator, "here".into()).await;
    world.env.connections.close(&gone);
    sleep(Duration::from_secs(10)).await;
    world.env.ledger.lock().unwrap().calls.clear();
    subscribe(&world, &gone, 1).await;
    assert_eq!(posts(&world), 1);
    subscribe(&world, &here, 1).await;
    assert_eq!(view.with(|seen| seen.contiguous(&space_of(&world).to_string())), 30);
    world.end();
}

#[tokio::test(start_paused = true)]
async fn a_replay_to_a_slow_connection_is_bounded_in_time() {
    let setup = Setup::default();
    let mut plan = plan();
    plan.fault_rates.frame = 100_000;
    let chance = Chance::new(setup.seed, setup.suppressed.clone());
    let world = World::with_plan(&setup, plan, chance, Some(CALL_LATENCY)).unwrap();
    setting::set(&world).await.unwrap();
    post(&world, 100).await;
    let (slow, _) = connect(&world, Caller::Operator, "slow".into()).await;
    world.env.chance.set_calm(false);
    let begun = Instant::now();
    subscribe(&world, &slow, 1).await;
    let took = begun.elapsed();
    let expected = Duration::from_secs(10)..Duration::from_secs(13);
    assert!(expected.contains(&took), "the replay took {took:?}");
    world.end();
}

#[tokio::test(start_paused = true)]
async fn connections_that_died_silently_do_not_keep_an_entity_out() {
    let world = set().await;
    let person = Caller::Entity(world.env.ledger.lock().unwrap().people[0]);
    let status = async |name: &str| {
        let (id, view) = connect(&world, person, name.to_owned()).await;
        subscribe(&world, &id, 1).await;
        let answer: Value = view.answer(1).await;
        answer["status"].as_u64().unwrap_or(200)
    };
    for number in 0..20 {
        assert_eq!(status(&format!("c{number}")).await, 200);
    }
    assert_eq!(status("further").await, 429);
    world.env.connections.close(&ConnectionId("c7".into()));
    world.env.connections.close(&ConnectionId("further".into()));
    assert_eq!(status("at once").await, 429, "the connections were looked at just before");
    world.env.connections.close(&ConnectionId("at once".into()));
    sleep(Duration::from_secs(2)).await;
    assert_eq!(status("later").await, 200);
    world.end();
}

/// The spaces of a person: so many new ones.
async fn more_spaces(world: &Arc<World>, count: usize) -> Vec<SpaceId> {
    let person = world.env.ledger.lock().unwrap().people[0];
    let mut spaces = Vec::new();
    for number in 0..count {
        let body = json!({"name": format!("Space {number}"), "members": [person]});
        let path = "/v1/spaces";
        let made =
            world.http("test", Caller::Operator, Method::POST, path, None, Some(&body)).await;
        spaces.push(made.unwrap().1["id"].as_str().unwrap().parse().unwrap());
    }
    spaces
}

#[tokio::test(start_paused = true)]
async fn an_entity_has_four_connections_of_protocols_in_all_processes() {
    let world = set().await;
    let person = Caller::Entity(world.env.ledger.lock().unwrap().people[0]);
    let spaces = more_spaces(&world, 5).await;
    let status = async |name: &str, is_protocol: bool, space: SpaceId| {
        let body = json!({"protocol": is_protocol});
        let (id, view) = connect_with(&world, person, name.to_owned(), &body).await;
        let frame = json!({"action": "subscribe", "id": 1, "spaceId": space, "afterSeq": 0});
        world.receive(&id, &frame.to_string()).await.unwrap();
        let answer: Value = view.answer(1).await;
        answer["status"].as_u64().unwrap_or(200)
    };
    for (number, space) in spaces[..4].iter().enumerate() {
        assert_eq!(status(&format!("d{number}"), true, *space).await, 200);
    }
    assert_eq!(status("fifth", true, spaces[4]).await, 429);
    // Neither kind takes places of the other.
    for number in 0..20 {
        assert_eq!(status(&format!("c{number}"), false, spaces[0]).await, 200);
    }
    assert_eq!(status("further", false, spaces[0]).await, 429);
    // A page that is loaded again follows its space, and its old connection gives way.
    let is_open = |name: &str| world.env.connections.is_open(&ConnectionId(name.into()));
    world.env.connections.close(&ConnectionId("fifth".into()));
    assert_eq!(status("loaded again", true, spaces[1]).await, 200);
    assert_eq!(["d0", "d1", "d2", "d3"].map(is_open), [true, false, true, true]);
    // The process of a call has died.
    world.env.connections.close(&ConnectionId("d2".into()));
    sleep(Duration::from_secs(2)).await;
    assert_eq!(status("later", true, spaces[4]).await, 200);
    let others = more_spaces(&world, 1).await;
    assert_eq!(status("one too many", true, others[0]).await, 429);
    world.end();
}

/// Subscribes a connection to a space as the product does.
async fn follow(store: &Store, name: &str, space: SpaceId, world: &World) -> MayFollow {
    let connections = store.connections();
    let id = ConnectionId(name.to_owned());
    let now = world.env.wall();
    let connection = if let Some(connection) = connections.get(&id, now).await.unwrap() {
        connection
    } else {
        let ticket = Ticket {
            caller: DomainCaller::Operator,
            valid_until: now + Duration::from_secs(5),
            credential_until: None,
            is_protocol: false,
        };
        connections.store_ticket(name, ticket).await.unwrap();
        let lasts = Duration::from_hours(2);
        connections.connect(name, &id, lasts, now).await.unwrap().unwrap()
    };
    let may = connections.count_follower(&id, space, now).await.unwrap();
    if matches!(may, MayFollow::Yes(_)) {
        connections.subscribe(&connection, space, None).await.unwrap();
    }
    may
}

#[tokio::test(start_paused = true)]
async fn two_thousand_connections_may_follow_a_space_and_departures_make_room() {
    let world = set().await;
    let space = space_of(&world);
    let store = world.some_process("test").unwrap().socket.pipeline.store.clone();
    let follow = async |name: &str| follow(&store, name, space, &world).await;
    for number in 0..2_000 {
        assert_eq!(follow(&format!("c{number}")).await, MayFollow::Yes(number + 1), "{number}");
    }
    let full = MayFollow::Full(Duration::from_secs(1));
    assert_eq!(follow("further").await, full);
    assert!(matches!(follow("another").await, MayFollow::Full(_)), "nothing is counted again");
    assert!(matches!(follow("c5").await, MayFollow::Yes(_)), "it follows the space already");
    store.connections().disconnect(&ConnectionId("c5".into())).await.unwrap();
    sleep(Duration::from_secs(2)).await;
    assert!(matches!(follow("further").await, MayFollow::Yes(_)));
    sleep(Duration::from_secs(2)).await;
    assert_eq!(follow("another").await, full);
    // Their credentials expire, and nobody closes them.
    sleep(Duration::from_hours(2)).await;
    assert!(matches!(follow("another day").await, MayFollow::Yes(_)));
    world.end();
}

#[tokio::test(start_paused = true)]
async fn an_unsubscribe_leaves_its_counter_only_where_the_caller_may_follow() {
    let world = set().await;
    let person = world.env.ledger.lock().unwrap().people[0];
    let caller = Caller::Entity(person);
    let (connection, view) = connect(&world, caller, "counting".into()).await;
    let made_up = SpaceId::new(smartspace_domain::Time::default(), 7);
    for (n, space) in [(1, made_up), (2, space_of(&world))] {
        let frame = json!({"action": "unsubscribe", "id": n, "spaceId": space, "n": n});
        world.receive(&connection, &frame.to_string()).await.unwrap();
        assert_eq!(view.answer(n).await["type"], "unsubscribed");
    }
    let items = world.env.storage.items().into_iter();
    let left: Vec<_> = items.filter(|item| item["left"] == true).collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(left[0]["SK"], format!("SPACE#{}", space_of(&world)));
}
