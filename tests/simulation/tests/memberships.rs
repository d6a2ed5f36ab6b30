//! People in many spaces, and spaces that many people have left.

use std::{sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::{Value, json};
use smartspace_domain::{
    Time,
    ids::{EntityId, SpaceId},
};
use smartspace_embedded_table::NAME;
use smartspace_simulation::{
    client::Caller, deployment::Deployment, fixtures, input::Input, parameters::Parameters,
};
use tokio::time::sleep;

/// How many spaces a person may be in.
const MOST_SPACES: u128 = 1_000;

fn at(seconds: i64) -> Time {
    Time::from_millis(1_771_427_220_000 + seconds * 1_000)
}

async fn quiet_deployment() -> Arc<Deployment> {
    let input = Input::default();
    let latency = Some(Duration::from_millis(1));
    let deployment = Deployment::with_parameters(&input, Parameters::quiet(), latency).unwrap();
    fixtures::make(&deployment).await.unwrap();
    deployment
}

/// The space and the person of the quiet deployment.
fn first_of(deployment: &Deployment) -> (SpaceId, EntityId) {
    let ledger = deployment.env.ledger.lock().unwrap();
    (ledger.spaces[0], ledger.people[0])
}

/// Calls the API, and returns the status and the body.
async fn call(
    deployment: &Arc<Deployment>,
    caller: Caller,
    method: Method,
    path: &str,
    body: Value,
) -> (u16, Value) {
    deployment.http("test", caller, method, path, None, Some(&body)).await.unwrap()
}

/// Creates a person, and returns its id.
async fn person(deployment: &Arc<Deployment>, name: &str) -> EntityId {
    let body = json!({"type": "human", "name": name});
    let (status, made) =
        call(deployment, Caller::Operator, Method::POST, "/v1/entities", body).await;
    assert_eq!(status, 201, "{made}");
    made["id"].as_str().unwrap().parse().unwrap()
}

/// Calls the table, and returns its answer.
fn table(deployment: &Deployment, operation: &str, mut request: Value) -> Value {
    request["TableName"] = json!(NAME);
    let (status, answer) = deployment.env.storage.answer(operation, request.to_string().as_bytes());
    assert_eq!(status, 200, "{answer}");
    serde_json::from_str(&answer).unwrap()
}

/// Stores an item of texts, numbers and truth values.
fn put(deployment: &Deployment, item: &Value) {
    let typed = item.as_object().unwrap().iter().map(|(name, value)| {
        let value = match value {
            Value::String(text) => json!({"S": text}),
            Value::Number(number) => json!({"N": number.to_string()}),
            other => json!({"BOOL": other}),
        };
        (name.clone(), value)
    });
    table(deployment, "PutItem", json!({"Item": typed.collect::<serde_json::Map<_, _>>()}));
}

/// The item of a member.
fn member_item(space: SpaceId, entity: EntityId, name: &str) -> Value {
    json!({
        "PK": format!("SPACE#{space}"), "SK": format!("MEMBER#{entity}"),
        "entityId": entity, "name": name, "kind": "human", "role": "member",
        "cursor": 0, "readSeq": 0, "joinedAt": at(1),
    })
}

/// The sort keys that are read with the roster of a space.
fn roster_keys(deployment: &Deployment, space: SpaceId) -> Vec<String> {
    let found = table(
        deployment,
        "Query",
        json!({
            "KeyConditionExpression": "PK = :space AND SK BETWEEN :head AND :members",
            "ExpressionAttributeValues": {
                ":space": {"S": format!("SPACE#{space}")},
                ":head": {"S": "HEAD"},
                ":members": {"S": "MEMBER#~"},
            },
        }),
    );
    let keys = found["Items"].as_array().unwrap().iter();
    keys.map(|item| item["SK"]["S"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_person_is_in_at_most_1000_spaces_and_may_always_leave() {
    let deployment = quiet_deployment().await;
    let (space, _) = first_of(&deployment);
    let sarah = person(&deployment, "Sarah").await;
    // Joins at the same moment may exceed the limit, so she is in more spaces than it allows.
    let own = format!("/v1/spaces/{space}/members/{sarah}");
    assert_eq!(call(&deployment, Caller::Operator, Method::PUT, &own, json!({})).await.0, 200);
    for number in 0..MOST_SPACES {
        let other = SpaceId::new(at(2), number);
        let mut item = member_item(other, sarah, "Sarah");
        item["g2pk"] = json!(format!("ENTITY#{sarah}#SPACES"));
        item["g2sk"] = json!(other);
        put(&deployment, &item);
    }
    sleep(Duration::from_secs(5)).await;
    let body = json!({"name": "One more", "members": [sarah]});
    let (status, refused) =
        call(&deployment, Caller::Operator, Method::POST, "/v1/spaces", body).await;
    assert_eq!(status, 409, "{refused}");
    assert_eq!(
        refused["detail"],
        "\"Sarah\" is in 1000 spaces, which is the most that a person may be in; leave one of \
         them first"
    );
    let (left, _) = call(&deployment, Caller::Entity(sarah), Method::DELETE, &own, json!({})).await;
    assert_eq!(left, 204);
    // She is still in 1,000 spaces.
    sleep(Duration::from_secs(5)).await;
    let (status, refused) = call(&deployment, Caller::Operator, Method::PUT, &own, json!({})).await;
    assert_eq!(status, 409, "{refused}");
    deployment.end();
}

#[tokio::test(start_paused = true)]
async fn members_who_left_are_not_read_with_the_roster() {
    let deployment = quiet_deployment().await;
    let (space, husam) = first_of(&deployment);
    let before = roster_keys(&deployment, space);
    for number in 0..5 {
        let guest = person(&deployment, &format!("Guest {number}")).await;
        let path = format!("/v1/spaces/{space}/members/{guest}");
        for (method, expected) in [(Method::PUT, 200), (Method::DELETE, 204)] {
            let (status, _) = call(&deployment, Caller::Operator, method, &path, json!({})).await;
            assert_eq!(status, expected);
        }
        // The guest may repeat its request, and reads nothing.
        let guests = Caller::Entity(guest);
        let (again, _) = call(&deployment, guests, Method::DELETE, &path, json!({})).await;
        assert_eq!(again, 204);
        let messages = format!("/v1/spaces/{space}/messages");
        let (read, _) = call(&deployment, guests, Method::GET, &messages, json!({})).await;
        assert_eq!(read, 404);
    }
    assert_eq!(roster_keys(&deployment, space), before);
    assert!(before.iter().any(|key| key.ends_with(&husam.to_string())));
    deployment.end();
}

#[tokio::test(start_paused = true)]
async fn a_list_of_spaces_reads_no_rosters_after_its_page_is_full() {
    const SPACES: usize = 60;
    let deployment = quiet_deployment().await;
    let (_, husam) = first_of(&deployment);
    for number in 0..SPACES {
        let body = json!({"name": format!("Crowd {number}"), "members": [husam]});
        let (status, made) =
            call(&deployment, Caller::Operator, Method::POST, "/v1/spaces", body).await;
        assert_eq!(status, 201, "{made}");
        let space: SpaceId = made["id"].as_str().unwrap().parse().unwrap();
        for guest in 0..20 {
            let id = EntityId::new(at(3), guest);
            put(&deployment, &member_item(space, id, &"long ".repeat(1_000)));
        }
    }
    sleep(Duration::from_secs(5)).await;
    for caller in [Caller::Operator, Caller::Entity(husam)] {
        deployment.env.ledger.lock().unwrap().calls.clear();
        let (status, page) =
            call(&deployment, caller, Method::GET, "/v1/spaces?limit=200", json!(null)).await;
        assert_eq!(status, 200);
        let calls = deployment.env.ledger.lock().unwrap().calls.clone();
        let queries = calls.iter().filter(|(_, what)| what == "Query").count();
        let shown = page["items"].as_array().unwrap().len();
        assert!(!page["nextCursor"].is_null() && shown < 20, "{shown} spaces");
        assert!(queries <= 1 + 16, "{queries} queries for {shown} spaces");
    }
    deployment.end();
}
