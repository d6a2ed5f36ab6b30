//! The credentials of sockets: tickets, expired tokens and allowed origins.

use serde_json::json;
use tokio_tungstenite::{
    connect_async,
    tungstenite::{Error, client::IntoClientRequest},
};

use crate::support::{
    model::{Gate, answer, say_held},
    socket::Socket,
    stack::Stack,
    waiting::{SOON, wait_for},
};

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
