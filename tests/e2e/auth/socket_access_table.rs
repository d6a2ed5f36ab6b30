//! The access table of the socket: each action for each kind of caller. Also tickets, expired
//! credentials and origins.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tokio_tungstenite::{
    connect_async,
    tungstenite::{Error, client::IntoClientRequest},
};

use crate::{
    auth::access_table::{CALLERS, scene::Scene},
    support::{
        client::Client,
        model::{Gate, answer, say_held},
        socket::{Frame, Socket},
        stack::Stack,
        waiting::{SOON, wait_for},
    },
};

/// An action and the expected answers: the type of the frame, or the status of the error.
struct Row {
    action: &'static str,
    request: &'static str,
    /// The answer for each kind of caller, in the order of [`CALLERS`].
    expected: [&'static str; 5],
}

const TABLE: [Row; 7] = [
    Row {
        action: "subscribe",
        request: r#"{"spaceId":"{space}","afterSeq":0}"#,
        expected: ["404", "subscribed", "subscribed", "subscribed", "subscribed"],
    },
    Row {
        action: "unsubscribe",
        request: r#"{"spaceId":"{space}"}"#,
        expected: ["unsubscribed"; 5],
    },
    Row {
        action: "send",
        request: r#"{"spaceId":"{space}","text":"Hello"{,senderId}}"#,
        expected: ["404", "sent", "sent", "sent", "sent"],
    },
    Row {
        action: "send",
        request: r#"{"spaceId":"{space}","text":"Hello","senderId":"{owner}"}"#,
        expected: ["404", "403", "sent", "403", "sent"],
    },
    Row {
        action: "toolResult",
        request: r#"{"runId":"{asking}","callId":"{owners}","output":1}"#,
        expected: ["404", "403", "accepted", "403", "409"],
    },
    Row {
        action: "toolResult",
        request: r#"{"runId":"{asking}","callId":"{anyones}","output":1}"#,
        expected: ["404", "accepted", "409", "409", "409"],
    },
    Row { action: "ping", request: r#"{"spaces":{"{space}":0}}"#, expected: ["pong"; 5] },
];

#[tokio::test]
async fn every_caller_gets_the_answer_of_the_socket_access_table() {
    let actions: BTreeSet<_> = TABLE.iter().map(|row| row.action).collect();
    assert_eq!(actions, smartspace_socket::ACTIONS.into(), "an action without a row");
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let scene = Scene::new(&stack).await;
    for (column, caller) in CALLERS.into_iter().enumerate() {
        let socket = scene.client(&stack, caller).socket().await;
        for Row { action, request, expected } in &TABLE {
            let mut request: Value = serde_json::from_str(&scene.fill(request, caller)).unwrap();
            request["action"] = (*action).into();
            let answer = socket.request(request).await;
            let outcome = answer["status"].as_u64().map_or_else(
                || answer["type"].as_str().unwrap().to_owned(),
                |status| status.to_string(),
            );
            assert_eq!(outcome, expected[column], "{action} by {caller}: {answer}");
            let ahead = answer["spaces"].get(scene.id("space")).is_some();
            assert_eq!(
                ahead,
                *action == "ping" && caller != "stranger",
                "{action} by {caller}: {answer}"
            );
        }
        let seen = socket.frames().iter().any(|frame| frame.kind == "message.created");
        assert!(!seen || caller != "stranger", "{:?}", socket.frames());
    }
}

#[tokio::test]
async fn a_listening_socket_closes_when_its_credential_expires() {
    // API Gateway does not report that a time is up. There the connection closes with the next
    // frame that would be posted to it.
    let why = "API Gateway closes an idle socket only at the next frame";
    let Some(stack) = Stack::with_secret_alone(why).await else { return };
    let gate = Gate::closed();
    stack.model.plays("ada", [answer([say_held("Before. ", &gate, "After.")])]);
    let (person, _, space) = stack.pair().await;
    let other = stack.socket_of(&person).await;
    other.subscribe(&space, None).await;
    // The product accepts a token for half a minute after its `exp`.
    let expiring = stack.as_subject(&person, -24);
    let listening = expiring.socket().await;
    listening.subscribe(&space, None).await;
    stack.post(&space, &person, "?").await;
    listening
        .shows(&space, "the first words", SOON, |view| (view.live() == ["Before. "]).then_some(()))
        .await;
    let late = expiring.ticket(None).await;

    let error = listening.frame("error", SOON, |_| true).await.body;
    assert_eq!((&error["status"], error.get("id")), (&json!(401), None), "{error}");
    listening.frame("(closed)", SOON, |_| true).await;
    let after = listening.frames().len();
    assert_eq!(expiring.get("/v1/spaces").await.status, 401);
    assert_eq!(
        Socket::open(&late).await.err(),
        Some(401),
        "a ticket does not outlive its credential"
    );
    gate.open();
    other.shows(&space, "the message", SOON, |view| (view.messages.len() == 2).then_some(())).await;
    assert_eq!(listening.frames().len(), after);
    assert!(other.is_open().await);
}

#[tokio::test]
async fn a_socket_with_an_expired_credential_gets_401_at_its_next_request_or_event() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let (person, _, space) = stack.pair().await;
    // The product accepts a token for half a minute after its `exp`.
    let expiring = stack.as_subject(&person, -20);
    let (asking, listening) = futures::join!(expiring.socket(), expiring.socket());
    listening.subscribe(&space, None).await;
    wait_for("the token expires", SOON, async || {
        (expiring.get("/v1/spaces").await.status == 401).then_some(())
    })
    .await;
    // A local product has closed both by now.
    asking.try_request(json!({ "action": "ping" })).await;
    stack.post(&space, &person, "Is anybody there?").await;
    for socket in [&asking, &listening] {
        let error = socket.frame("error", SOON, |_| true).await.body;
        assert_eq!(error["status"], 401, "{error}");
        socket.frame("(closed)", SOON, |_| true).await;
    }
    stack.quiet(&space).await;
}

#[tokio::test]
async fn a_ticket_acts_as_the_entity_of_its_token_and_opens_one_socket() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let person = stack.person("Husam").await;
    let other = stack.person("Sara").await;
    let own = stack.space("Own", &[&person]).await;
    let foreign = stack.space("Foreign", &[&other]).await;
    let url = stack.as_entity(&person).ticket(None).await;
    let socket = Socket::open(&url).await.unwrap();
    assert_eq!(Socket::open(&url).await.err(), Some(401));
    socket.subscribe(&own, None).await;
    let sent =
        socket.request(json!({ "action": "send", "spaceId": own, "text": "It is me." })).await;
    assert_eq!(sent["type"], "sent", "{sent}");
    assert_eq!(stack.messages(&own).await[0]["sender"]["id"], person.as_str());
    let refused = socket.request(json!({ "action": "subscribe", "spaceId": foreign })).await;
    assert_eq!(refused["status"], 404, "{refused}");

    let unused = stack.as_entity(&person).ticket(None).await;
    stack.delete(&format!("/v1/entities/{person}")).await.must_be(204);
    assert_eq!(Socket::open(&unused).await.err(), Some(401), "the entity was deleted");
}

#[tokio::test]
async fn a_page_of_another_origin_connects_only_if_the_origin_is_allowed() {
    let Some(stack) = Stack::with(&["--cors-origin", "https://app.example.com"]).await else {
        return;
    };
    let status = async |origin: Option<&str>| {
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
        assert_eq!(status(origin).await, expected, "{origin:?}");
    }
}

/// Waits until each socket is told that its entity joined a space.
async fn assert_joined(sockets: [&Socket; 2], space: &str) {
    for socket in sockets {
        let joined =
            socket.frame("space.joined", SOON, |frame| frame["spaceId"] == space).await.body;
        assert_eq!(
            (&joined["space"]["id"], joined["at"].is_string()),
            (&json!(space), true),
            "{joined}"
        );
        assert_eq!(joined["space"]["me"]["unread"], 0, "{joined}");
    }
}

/// Waits until each socket is told that its entity left a space.
async fn assert_left(sockets: [&Socket; 2], space: &str) {
    for socket in sockets {
        let left = socket.frame("space.left", SOON, |frame| frame["spaceId"] == space).await.body;
        assert!(left["at"].is_string(), "{left}");
    }
}

#[tokio::test]
async fn an_entity_is_told_of_joining_and_leaving_spaces_without_a_subscription() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let person = stack.person("Sara").await;
    let owner = stack.person("Husam").await;
    let bystander = stack.person("Eve").await;
    let own = stack.as_entity(&person).socket().await;
    let as_admin = stack.socket_of(&person).await;
    let others = stack.as_entity(&bystander).socket().await;
    let operators = stack.socket().await;
    let sockets = [&own, &as_admin];
    let husams: Client = stack.as_entity(&owner);
    let hers = stack.as_entity(&person);

    let made = husams.space("Made with her", &[&person]).await;
    assert_joined(sockets, &made).await;
    let private = hers.space("Hers", &[]).await;
    assert_joined(sockets, &private).await;
    let added = husams.space("Added later", &[]).await;
    let membership = format!("/v1/spaces/{added}/members/{person}");
    husams.put(&membership, json!({})).await.must_be(200);
    assert_joined(sockets, &added).await;

    husams.delete(&membership).await.must_be(204);
    assert_left(sockets, &added).await;
    hers.delete(&format!("/v1/spaces/{made}/members/{person}")).await.must_be(204);
    assert_left(sockets, &made).await;
    hers.delete(&format!("/v1/spaces/{private}")).await.must_be(204);
    assert_left(sockets, &private).await;

    let count = |kind: &str| own.frames().iter().filter(|frame| frame.kind == kind).count();
    husams.put(&membership, json!({})).await.must_be(200);
    own.until("she joins again", SOON, |frames| {
        let is_it = |frame: &&Frame| {
            frame.kind == "space.joined" && frame.body["spaceId"] == added.as_str()
        };
        (frames.iter().filter(is_it).count() == 2).then_some(())
    })
    .await;
    husams.put(&membership, json!({ "role": "owner" })).await.must_be(200);
    stack.delete(&format!("/v1/entities/{person}")).await.must_be(204);
    own.until("she has left all spaces", SOON, |frames| {
        (frames.iter().filter(|frame| frame.kind == "space.left").count() == 4).then_some(())
    })
    .await;
    assert_eq!(
        (count("space.joined"), count("space.left")),
        (4, 4),
        "a change of role is not a join"
    );
    for socket in [&others, &operators] {
        assert!(socket.is_open().await);
        let frames = socket.frames();
        assert!(frames.iter().all(|frame| !frame.kind.starts_with("space.")), "{frames:?}");
    }
}
