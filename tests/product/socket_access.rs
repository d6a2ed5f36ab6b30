//! The access table of the socket: every action for every kind of caller; tickets, and the end of a credential.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tokio_tungstenite::{
    connect_async,
    tungstenite::{Error, client::IntoClientRequest},
};

use super::{
    access::Scene,
    client::Client,
    model::{Gate, answer, say_held},
    socket::Socket,
    stack::Stack,
    waiting::{SOON, wait_for},
};

/// An action, and the type of its answer or the status of its error, for a stranger, a member, an owner, an agent and the admin.
type Row = (&'static str, &'static str, [&'static str; 5]);

#[rustfmt::skip]
const TABLE: &[Row] = &[
    ("subscribe", r#"{"spaceId":"{space}","afterSeq":0}"#,                  ["404", "subscribed", "subscribed", "subscribed", "subscribed"]),
    ("unsubscribe", r#"{"spaceId":"{space}"}"#,                             ["unsubscribed"; 5]),
    ("send", r#"{"spaceId":"{space}","text":"Hello"{,senderId}}"#,          ["404", "sent", "sent", "sent", "sent"]),
    ("send", r#"{"spaceId":"{space}","text":"Hello","senderId":"{owner}"}"#, ["404", "403", "sent", "403", "sent"]),
    ("toolResult", r#"{"runId":"{asking}","callId":"{owners}","output":1}"#, ["404", "403", "accepted", "403", "409"]),
    ("toolResult", r#"{"runId":"{asking}","callId":"{anyones}","output":1}"#, ["404", "accepted", "409", "409", "409"]),
    ("ping", r#"{"spaces":{"{space}":0}}"#,                                 ["pong"; 5]),
];

#[tokio::test]
async fn every_action_for_every_caller() {
    let actions: BTreeSet<_> = TABLE.iter().map(|(action, ..)| *action).collect();
    assert_eq!(actions, smartspace_socket::ACTIONS.into(), "an action without a row");
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let scene = Scene::of(&stack).await;
    for (column, caller) in ["stranger", "member", "owner", "agent", "admin"].into_iter().enumerate() {
        let socket = scene.client(&stack, caller).socket().await;
        for (action, with, expected) in TABLE {
            let mut request: Value = serde_json::from_str(&scene.fill(with, caller)).unwrap();
            request["action"] = (*action).into();
            let answer = socket.request(request).await;
            let told = answer["status"].as_u64().map_or_else(|| answer["type"].as_str().unwrap().to_owned(), |status| status.to_string());
            assert_eq!(told, expected[column], "{action} by {caller}: {answer}");
            let ahead = answer["spaces"].get(scene.id("space")).is_some();
            assert_eq!(ahead, *action == "ping" && caller != "stranger", "{action} by {caller}: {answer}");
        }
        let seen = socket.frames().iter().any(|frame| frame.kind == "message.created");
        assert!(!seen || caller != "stranger", "{:?}", socket.frames());
    }
}

#[tokio::test]
async fn a_socket_ends_with_its_credential_also_where_it_only_listens() {
    // Of API Gateway's nobody learns that a time is up: there it ends with the next frame that would be posted to it.
    let Some(stack) = Stack::with_secret_alone("only a process of its own ends a socket that nobody posts to").await else { return };
    let gate = Gate::closed();
    stack.model.plays("ada", [answer([say_held("Before. ", &gate, "After.")])]);
    let (person, _, space) = stack.pair().await;
    let other = stack.socket_of(&person).await;
    other.subscribe(&space, None).await;
    // It holds for half a minute longer than it says.
    let soon_over = stack.as_subject(&person, -24);
    let listening = soon_over.socket().await;
    listening.subscribe(&space, None).await;
    stack.post(&space, &person, "?").await;
    listening.shows(&space, "the first words", SOON, |view| (view.live() == ["Before. "]).then_some(())).await;
    let late = soon_over.ticket(None).await;

    let told = listening.frame("error", SOON, |_| true).await.body;
    assert_eq!((&told["status"], told.get("id")), (&json!(401), None), "{told}");
    listening.frame("(closed)", SOON, |_| true).await;
    let after = listening.frames().len();
    assert_eq!(soon_over.get("/v1/spaces").await.status, 401);
    assert_eq!(Socket::open(&late).await.err(), Some(401), "a ticket does not outlive its credential");
    gate.open();
    other.shows(&space, "the message", SOON, |view| (view.messages.len() == 2).then_some(())).await;
    assert_eq!(listening.frames().len(), after);
    assert!(other.is_open().await);
}

#[tokio::test]
async fn a_socket_whose_credential_has_ended_is_told_so_when_it_asks_and_when_there_is_news() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let (person, _, space) = stack.pair().await;
    // It holds for half a minute longer than it says.
    let soon_over = stack.as_subject(&person, -20);
    let (asking, listening) = futures::join!(soon_over.socket(), soon_over.socket());
    listening.subscribe(&space, None).await;
    wait_for("its end", SOON, async || (soon_over.get("/v1/spaces").await.status == 401).then_some(())).await;
    // A process of its own ends both without that.
    asking.try_request(json!({ "action": "ping" })).await;
    stack.post(&space, &person, "Is anybody there?").await;
    for socket in [&asking, &listening] {
        let told = socket.frame("error", SOON, |_| true).await.body;
        assert_eq!(told["status"], 401, "{told}");
        socket.frame("(closed)", SOON, |_| true).await;
    }
    stack.quiet(&space).await;
}

#[tokio::test]
async fn a_ticket_of_a_token_acts_as_its_entity_and_opens_one_socket() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let (person, other) = (stack.person("Husam").await, stack.person("Sara").await);
    let (own, foreign) = (stack.space("Own", &[&person]).await, stack.space("Foreign", &[&other]).await);
    let url = stack.as_entity(&person).ticket(None).await;
    let socket = Socket::open(&url).await.unwrap();
    assert_eq!(Socket::open(&url).await.err(), Some(401));
    socket.subscribe(&own, None).await;
    let sent = socket.request(json!({ "action": "send", "spaceId": own, "text": "It is me." })).await;
    assert_eq!(sent["type"], "sent", "{sent}");
    assert_eq!(stack.messages(&own).await[0]["sender"]["id"], person.as_str());
    let refused = socket.request(json!({ "action": "subscribe", "spaceId": foreign })).await;
    assert_eq!(refused["status"], 404, "{refused}");

    let unused = stack.as_entity(&person).ticket(None).await;
    stack.delete(&format!("/v1/entities/{person}")).await.must_be(204);
    assert_eq!(Socket::open(&unused).await.err(), Some(401), "nobody is there any more");
}

#[tokio::test]
async fn a_page_of_another_origin_connects_only_where_it_is_allowed() {
    let Some(stack) = Stack::with(&["--cors-origin", "https://app.example.com"]).await else { return };
    let opened = async |origin: Option<&str>| {
        let mut request = stack.ticket(None).await.into_client_request().unwrap();
        if let Some(origin) = origin {
            request.headers_mut().insert("origin", origin.parse().unwrap());
        }
        match connect_async(request).await {
            Ok(_) => 101,
            Err(Error::Http(refused)) => refused.status().as_u16(),
            Err(error) => panic!("{error}"),
        }
    };
    let own = stack.url.clone();
    for (origin, expected) in [
        (None, 101),
        (Some(own.as_str()), 101),
        (Some("https://app.example.com"), 101),
        (Some("https://evil.example.com"), 403),
        (Some("http://app.example.com"), 403),
        (Some("null"), 403),
    ] {
        assert_eq!(opened(origin).await, expected, "{origin:?}");
    }
}

#[tokio::test]
async fn an_entity_hears_of_its_own_spaces_without_following_any() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let (person, owner, bystander) = (stack.person("Sara").await, stack.person("Husam").await, stack.person("Eve").await);
    let own = stack.as_entity(&person).socket().await;
    let as_admin = stack.socket_of(&person).await;
    let (others, operators) = (stack.as_entity(&bystander).socket().await, stack.socket().await);
    let joined = async |space: &str| {
        for socket in [&own, &as_admin] {
            let told = socket.frame("space.joined", SOON, |frame| frame["spaceId"] == space).await.body;
            assert_eq!((&told["space"]["id"], told["at"].is_string()), (&json!(space), true), "{told}");
            assert_eq!(told["space"]["me"]["unread"], 0, "{told}");
        }
    };
    let left = async |space: &str| {
        for socket in [&own, &as_admin] {
            let told = socket.frame("space.left", SOON, |frame| frame["spaceId"] == space).await.body;
            assert!(told["at"].is_string(), "{told}");
        }
    };
    let husams: Client = stack.as_entity(&owner);
    let made = husams.space("Made with her", &[&person]).await;
    joined(&made).await;
    let hers = stack.as_entity(&person).space("Hers", &[]).await;
    joined(&hers).await;
    let added = husams.space("Added later", &[]).await;
    let place = format!("/v1/spaces/{added}/members/{person}");
    husams.put(&place, json!({})).await.must_be(200);
    joined(&added).await;

    husams.delete(&place).await.must_be(204);
    left(&added).await;
    stack.as_entity(&person).delete(&format!("/v1/spaces/{made}/members/{person}")).await.must_be(204);
    left(&made).await;
    stack.as_entity(&person).delete(&format!("/v1/spaces/{hers}")).await.must_be(204);
    left(&hers).await;
    husams.put(&place, json!({})).await.must_be(200);
    own.until("she is in again", SOON, |frames| {
        let again = |frame: &&super::socket::Frame| frame.kind == "space.joined" && frame.body["spaceId"] == added.as_str();
        (frames.iter().filter(again).count() == 2).then_some(())
    })
    .await;
    husams.put(&place, json!({ "role": "owner" })).await.must_be(200);
    stack.delete(&format!("/v1/entities/{person}")).await.must_be(204);
    own.until("she has left all", SOON, |frames| (frames.iter().filter(|frame| frame.kind == "space.left").count() == 4).then_some(()))
        .await;

    let count = |kind: &str| own.frames().iter().filter(|frame| frame.kind == kind).count();
    assert_eq!((count("space.joined"), count("space.left")), (4, 4), "a role is no joining");
    for socket in [&others, &operators] {
        assert!(socket.is_open().await);
        assert!(socket.frames().iter().all(|frame| !frame.kind.starts_with("space.")), "{:?}", socket.frames());
    }
}
