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
    client::Caller, deployment::Deployment, fixtures, input::Input, parameters::Parameters,
    view::View,
};
use smartspace_store::{
    Store,
    connections::{MayFollow, Ticket},
};
use tokio::time::{Instant, sleep};

const CALL_LATENCY: Duration = Duration::from_millis(1);

/// Three members, so that a message without a mention triggers nobody. Their history is written
/// within one second.
fn parameters() -> Parameters {
    let append_limit = AppendLimit { messages: 1_000, bytes: 1_000_000 };
    Parameters { policy: "mention", agents: 2, append_limit, ..Parameters::quiet() }
}

/// A deployment with a person and a space, in which messages trigger nobody.
async fn set() -> Arc<Deployment> {
    let input = Input::default();
    let parameters = parameters();
    let deployment = Deployment::with_parameters(&input, parameters, Some(CALL_LATENCY)).unwrap();
    fixtures::make(&deployment).await.unwrap();
    deployment
}

fn space_of(deployment: &Deployment) -> SpaceId {
    deployment.env.ledger.lock().unwrap().spaces[0]
}

async fn post(deployment: &Arc<Deployment>, count: usize) {
    let person = deployment.env.ledger.lock().unwrap().people[0];
    let path = format!("/v1/spaces/{}/messages", space_of(deployment));
    for number in 0..count {
        let body = json!({"text": format!("message {number}"), "senderId": person});
        let answer = deployment
            .http("person", Caller::Operator, Method::POST, &path, None, Some(&body))
            .await;
        assert_eq!(answer.unwrap().0, 201);
    }
}

/// Opens a connection of a caller.
async fn connect(
    deployment: &Arc<Deployment>,
    caller: Caller,
    name: String,
) -> (ConnectionId, Arc<View>) {
    connect_with(deployment, caller, name, &json!({})).await
}

/// Opens a connection of a caller with a ticket that is asked for with `body`.
async fn connect_with(
    deployment: &Arc<Deployment>,
    caller: Caller,
    name: String,
    body: &Value,
) -> (ConnectionId, Arc<View>) {
    let path = "/v1/socketTickets";
    let made = deployment.http("test", caller, Method::POST, path, None, Some(body)).await;
    let (status, ticket) = made.unwrap();
    assert_eq!(status, 201, "{ticket}");
    let id = ConnectionId(name);
    let process = deployment.some_process("test").unwrap();
    process.socket.connect(ticket["ticket"].as_str().unwrap(), &id).await.unwrap();
    let view = Arc::<View>::default();
    deployment.env.connections.open(id.clone(), Arc::clone(&view));
    (id, view)
}

async fn subscribe(deployment: &Arc<Deployment>, connection: &ConnectionId, id: u64) {
    let frame = json!({
        "action": "subscribe", "id": id, "spaceId": space_of(deployment), "afterSeq": 0,
    });
    deployment.receive(connection, &frame.to_string()).await.unwrap();
}

fn posts(deployment: &Deployment) -> usize {
    deployment.env.ledger.lock().unwrap().calls.iter().filter(|(_, what)| what == "post").count()
}

#[tokio::test(start_paused = true)]
async fn a_replay_ends_at_the_first_post_to_a_connection_that_is_gone() {
    let deployment = set().await;
    post(&deployment, 30).await;
    let (gone, _) = connect(&deployment, Caller::Operator, "gone".into()).await;
    let (here, view) = connect(&deployment, Caller::Operator, "here".into()).await;
    deployment.env.connections.close(&gone);
    sleep(Duration::from_secs(10)).await;
    deployment.env.ledger.lock().unwrap().calls.clear();
    subscribe(&deployment, &gone, 1).await;
    assert_eq!(posts(&deployment), 1);
    subscribe(&deployment, &here, 1).await;
    assert_eq!(view.with(|seen| seen.contiguous(&space_of(&deployment).to_string())), 30);
    deployment.end();
}

#[tokio::test(start_paused = true)]
async fn a_replay_to_a_slow_connection_is_bounded_in_time() {
    let input = Input::default();
    let mut parameters = parameters();
    parameters.fault_rates.frame = 100_000;
    let deployment = Deployment::with_parameters(&input, parameters, Some(CALL_LATENCY)).unwrap();
    fixtures::make(&deployment).await.unwrap();
    post(&deployment, 100).await;
    let (slow, _) = connect(&deployment, Caller::Operator, "slow".into()).await;
    deployment.env.chance.set_calm(false);
    let begun = Instant::now();
    subscribe(&deployment, &slow, 1).await;
    let took = begun.elapsed();
    let expected = Duration::from_secs(10)..Duration::from_secs(13);
    assert!(expected.contains(&took), "the replay took {took:?}");
    deployment.end();
}

#[tokio::test(start_paused = true)]
async fn connections_that_died_silently_do_not_keep_an_entity_out() {
    let deployment = set().await;
    let person = Caller::Entity(deployment.env.ledger.lock().unwrap().people[0]);
    let status = async |name: &str| {
        let (id, view) = connect(&deployment, person, name.to_owned()).await;
        subscribe(&deployment, &id, 1).await;
        let answer: Value = view.answer(1).await;
        answer["status"].as_u64().unwrap_or(200)
    };
    for number in 0..20 {
        assert_eq!(status(&format!("c{number}")).await, 200);
    }
    assert_eq!(status("further").await, 429);
    deployment.env.connections.close(&ConnectionId("c7".into()));
    deployment.env.connections.close(&ConnectionId("further".into()));
    assert_eq!(status("at once").await, 429, "the connections were looked at just before");
    deployment.env.connections.close(&ConnectionId("at once".into()));
    sleep(Duration::from_secs(2)).await;
    assert_eq!(status("later").await, 200);
    deployment.end();
}

/// The spaces of a person: so many new ones.
async fn more_spaces(deployment: &Arc<Deployment>, count: usize) -> Vec<SpaceId> {
    let person = deployment.env.ledger.lock().unwrap().people[0];
    let mut spaces = Vec::new();
    for number in 0..count {
        let body = json!({"name": format!("Space {number}"), "members": [person]});
        let path = "/v1/spaces";
        let made =
            deployment.http("test", Caller::Operator, Method::POST, path, None, Some(&body)).await;
        spaces.push(made.unwrap().1["id"].as_str().unwrap().parse().unwrap());
    }
    spaces
}

#[tokio::test(start_paused = true)]
async fn an_entity_has_twelve_connections_of_protocols_in_all_processes() {
    let deployment = set().await;
    let person = Caller::Entity(deployment.env.ledger.lock().unwrap().people[0]);
    let spaces = more_spaces(&deployment, 13).await;
    let status = async |name: &str, is_protocol: bool, space: SpaceId| {
        let body = json!({"protocol": is_protocol});
        let (id, view) = connect_with(&deployment, person, name.to_owned(), &body).await;
        let frame = json!({"action": "subscribe", "id": 1, "spaceId": space, "afterSeq": 0});
        deployment.receive(&id, &frame.to_string()).await.unwrap();
        let answer: Value = view.answer(1).await;
        answer["status"].as_u64().unwrap_or(200)
    };
    for (number, space) in spaces[..12].iter().enumerate() {
        assert_eq!(status(&format!("d{number}"), true, *space).await, 200);
    }
    assert_eq!(status("thirteenth", true, spaces[12]).await, 429);
    // Neither kind takes places of the other.
    for number in 0..20 {
        assert_eq!(status(&format!("c{number}"), false, spaces[0]).await, 200);
    }
    assert_eq!(status("further", false, spaces[0]).await, 429);
    // A page that is loaded again follows its space, and its old connection gives way.
    let is_open = |name: &str| deployment.env.connections.is_open(&ConnectionId(name.into()));
    deployment.env.connections.close(&ConnectionId("thirteenth".into()));
    assert_eq!(status("loaded again", true, spaces[1]).await, 200);
    assert_eq!(["d0", "d1", "d2", "d3"].map(is_open), [true, false, true, true]);
    // The process of a call has died.
    deployment.env.connections.close(&ConnectionId("d2".into()));
    sleep(Duration::from_secs(2)).await;
    assert_eq!(status("later", true, spaces[12]).await, 200);
    let others = more_spaces(&deployment, 1).await;
    assert_eq!(status("one too many", true, others[0]).await, 429);
    deployment.end();
}

/// Subscribes a connection to a space as the product does.
async fn follow(store: &Store, name: &str, space: SpaceId, deployment: &Deployment) -> MayFollow {
    let connections = store.connections();
    let id = ConnectionId(name.to_owned());
    let now = deployment.env.wall();
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
    let deployment = set().await;
    let space = space_of(&deployment);
    let store = deployment.some_process("test").unwrap().socket.pipeline.store.clone();
    let follow = async |name: &str| follow(&store, name, space, &deployment).await;
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
    deployment.end();
}

#[tokio::test(start_paused = true)]
async fn an_unsubscribe_leaves_its_counter_only_where_the_caller_may_follow() {
    let deployment = set().await;
    let person = deployment.env.ledger.lock().unwrap().people[0];
    let caller = Caller::Entity(person);
    let (connection, view) = connect(&deployment, caller, "counting".into()).await;
    let made_up = SpaceId::new(smartspace_domain::Time::default(), 7);
    for (n, space) in [(1, made_up), (2, space_of(&deployment))] {
        let frame = json!({"action": "unsubscribe", "id": n, "spaceId": space, "n": n});
        deployment.receive(&connection, &frame.to_string()).await.unwrap();
        assert_eq!(view.answer(n).await["type"], "unsubscribed");
    }
    let items = deployment.env.storage.items().into_iter();
    let left: Vec<_> = items.filter(|item| item["left"] == true).collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(left[0]["SK"], format!("SPACE#{}", space_of(&deployment)));
}
