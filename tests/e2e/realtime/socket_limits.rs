//! The limits of a connection's frames and of an entity's connections, and how connections end.

use std::time::Instant;

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::support::{
    socket::{Frame, Socket},
    stack::Stack,
    waiting::{SOON, wait_for},
};

/// Sends the same frame again and again without waiting for answers, until the connection ends.
async fn flood(socket: &Socket, frame: &str, count: usize) {
    for _ in 0..count {
        if socket.try_send(Message::text(frame)).await.is_err() {
            return;
        }
    }
}

fn refusals(frames: &[Frame]) -> Vec<&Value> {
    frames.iter().map(|frame| &frame.body).filter(|frame| frame["status"] == 429).collect()
}

#[tokio::test]
async fn a_connection_that_sends_too_many_frames_is_refused_and_then_closed() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let space = stack.space("Team", &[&person]).await;
    let quiet = stack.socket_of(&person).await;
    // `subscribe` costs five tokens, so that even a busy machine sends more than two a second.
    let subscribe = json!({"action": "subscribe", "id": 7, "spaceId": space}).to_string();
    for (frame, tokens) in [(subscribe.as_str(), 5), ("nonsense", 1)] {
        let socket = stack.socket_of(&person).await;
        let begun = Instant::now();
        flood(&socket, frame, 400).await;
        let (goodbye, code) = socket.farewell().await;
        let most = (41 + begun.elapsed().as_millis() / 100) as usize / tokens;

        let frames = socket.frames();
        let refused = refusals(&frames);
        let answered = |frame: &&Frame| matches!(frame.kind.as_str(), "subscribed" | "error");
        let allowed = frames.iter().filter(answered).count() - refused.len();
        assert!((40 / tokens..=most).contains(&allowed), "{frame}: {allowed} of {most}");
        assert!(refused.len() >= 2, "{frame}: {refused:?}");
        let id = if tokens == 5 { json!(7) } else { Value::Null };
        for error in refused {
            assert_eq!((&error["id"], &error["retryAfter"]), (&id, &json!(1)), "{error}");
            assert!(error["detail"].as_str().unwrap().starts_with("too many frames"), "{error}");
        }
        let expected = json!({
            "type": "goodbye", "code": 1013, "reason": "too many frames", "retryAfter": 10,
        });
        assert_eq!(goodbye, expected);
        assert_eq!(code, if stack.is_local() { json!(1013) } else { code.clone() });
    }
    assert!(quiet.is_open().await, "the other connection of the person has tokens of its own");
}

#[tokio::test]
async fn a_connection_within_its_rate_is_never_refused() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let space = stack.space("Team", &[&person]).await;
    let socket = stack.socket_of(&person).await;
    for _ in 0..4 {
        socket.subscribe(&space, None).await;
    }
    for _ in 0..20 {
        assert!(socket.is_open().await);
    }
    assert_eq!(refusals(&socket.frames()), Vec::<&Value>::new());
}

#[tokio::test]
async fn without_a_rate_limit_no_frame_and_no_connection_is_refused() {
    let Some(stack) = Stack::with(&["--no-rate-limit"]).await else { return };
    let person = stack.person("Husam").await;
    let space = stack.space("Team", &[&person]).await;
    let mut sockets = Vec::new();
    for _ in 0..22 {
        let socket = stack.socket_of(&person).await;
        socket.subscribe(&space, None).await;
        sockets.push(socket);
    }
    for _ in 0..100 {
        sockets[0].subscribe(&space, None).await;
    }
}

#[tokio::test]
async fn twenty_connections_of_an_entity_may_subscribe() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let space = stack.space("Team", &[&person]).await;
    let mut sockets = Vec::new();
    for _ in 0..20 {
        let socket = stack.socket_of(&person).await;
        socket.subscribe(&space, None).await;
        sockets.push(socket);
    }
    let request = json!({"action": "subscribe", "spaceId": space});
    let further = stack.socket_of(&person).await;
    let refused = further.request(request.clone()).await;
    assert_eq!((&refused["status"], &refused["retryAfter"]), (&json!(429), &json!(60)));
    assert!(refused["detail"].as_str().unwrap().contains("the 20 oldest"), "{refused}");
    assert!(further.is_open().await, "the connection stays open");
    stack.socket().await.subscribe(&space, None).await;
    for socket in &sockets {
        socket.subscribe(&space, None).await;
    }

    sockets.truncate(10);
    wait_for("a further connection may subscribe", SOON, async || {
        let further = stack.socket_of(&person).await;
        (further.request(request.clone()).await["type"] == "subscribed").then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_process_that_ends_says_goodbye_to_its_connections() {
    let Some(mut stack) = Stack::local().await else { return };
    let person = stack.person("Husam").await;
    let socket = stack.socket_of(&person).await;
    assert!(socket.is_open().await);
    stack.terminate().await;
    let expected = json!({"type": "goodbye", "code": 1012, "reason": "the server restarts"});
    assert_eq!(socket.farewell().await, (expected, json!(1012)));
}

#[tokio::test]
async fn a_frame_that_is_too_long_to_be_read_closes_its_connection_with_1009() {
    let Some(stack) = Stack::local().await else { return };
    let person = stack.person("Husam").await;
    let socket = stack.socket_of(&person).await;
    socket.try_send(Message::text("x".repeat(140_000))).await.unwrap();
    assert_eq!(socket.farewell().await, (Value::Null, json!(1009)));

    let socket = stack.socket_of(&person).await;
    socket.try_send(Message::binary("{}")).await.unwrap();
    let detail = wait_for("an error", SOON, async || {
        let frames = socket.frames();
        let error = frames.into_iter().find(|frame| frame.kind == "error")?;
        error.body["detail"].as_str().map(str::to_owned)
    })
    .await;
    assert!(detail.starts_with("expected a text frame with a JSON object"), "{detail}");
}
