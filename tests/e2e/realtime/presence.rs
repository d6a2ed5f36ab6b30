//! Presence: who is in a space, and who types.

use std::time::Duration;

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::support::{socket::Socket, stack::Stack, waiting::SOON};

/// How soon presence is right after a socket closes.
const AFTER_CLOSE: Duration = Duration::from_secs(10);

async fn beat(socket: &Socket, space: &str, more: Value) {
    let mut request = json!({"action": "presence", "spaceId": space});
    for (name, value) in more.as_object().unwrap() {
        request[name] = value.clone();
    }
    assert_eq!(socket.request(request).await["type"], "accepted");
}

fn present(frame: &Value) -> Vec<&str> {
    let present = frame["present"].as_array().unwrap();
    present.iter().map(|it| it["entityId"].as_str().unwrap()).collect()
}

fn sorted<'a>(ids: &[&'a str]) -> Vec<&'a str> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids
}

#[tokio::test]
async fn followers_see_who_comes_types_and_goes() {
    let stack = Stack::start().await;
    let (husam, sara) = (stack.person("Husam").await, stack.person("Sara").await);
    let space = stack.space("Garden", &[&husam, &sara]).await;
    let (one, other) = (stack.socket_of(&husam).await, stack.socket_of(&sara).await);
    one.subscribe(&space, None).await;
    other.subscribe(&space, None).await;
    beat(&one, &space, json!({})).await;
    let alone = other.frame("presence", SOON, |frame| present(frame) == [&*husam]).await.body;
    assert_eq!((&alone["spaceId"], &alone["typing"]), (&json!(space), &json!([])));
    beat(&other, &space, json!({"typing": true})).await;
    let both = sorted(&[&husam, &sara]);
    let typing = one.frame("presence", SOON, |frame| frame["typing"] == json!([sara])).await.body;
    assert_eq!(present(&typing), both);
    for it in typing["present"].as_array().unwrap() {
        let is_sara = it["entityId"] == sara.as_str();
        assert!(it["since"].is_string() && it["until"].is_string(), "{it}");
        assert_eq!(it["typingUntil"].is_string(), is_sara, "{it}");
    }
    beat(&other, &space, json!({})).await;
    let at = typing["at"].clone();
    let is_later = move |frame: &Value| frame["at"].as_str() > at.as_str();
    let stopped = one.frame("presence", SOON, |frame| is_later(frame)).await.body;
    assert_eq!((present(&stopped), &stopped["typing"]), (both, &json!([])));

    drop(other);
    one.frame("presence", AFTER_CLOSE, |frame| present(frame) == [&*husam] && is_later(frame))
        .await;
    let unsubscribe = json!({"action": "unsubscribe", "spaceId": space});
    assert_eq!(one.request(unsubscribe).await["type"], "unsubscribed");
}

#[tokio::test]
async fn another_device_of_a_person_changes_nothing_for_others_and_learns_who_is_there() {
    let stack = Stack::start().await;
    let husam = stack.person("Husam").await;
    let space = stack.space("Garden", &[&husam]).await;
    let operator = stack.socket().await;
    operator.subscribe(&space, None).await;
    let first = stack.socket_of(&husam).await;
    first.subscribe(&space, None).await;
    beat(&first, &space, json!({})).await;
    operator.frame("presence", SOON, |frame| present(frame) == [&*husam]).await;
    let second = stack.socket_of(&husam).await;
    second.subscribe(&space, None).await;
    beat(&second, &space, json!({})).await;
    second.frame("presence", SOON, |frame| present(frame) == [&*husam]).await;
    let received = || operator.frames().iter().filter(|frame| frame.kind == "presence").count();
    assert_eq!(received(), 1, "{:?}", operator.frames());
    // The operator is not present, but learns who is.
    let late = stack.socket().await;
    late.subscribe(&space, None).await;
    beat(&late, &space, json!({})).await;
    late.frame("presence", SOON, |frame| present(frame) == [&*husam]).await;
    drop(first);
    // The other device is still there.
    beat(&second, &space, json!({"typing": true})).await;
    let typing = |frame: &Value| frame["typing"] == json!([husam]);
    let frame = operator.frame("presence", SOON, typing).await.body;
    assert_eq!(present(&frame), [&*husam]);
}

#[tokio::test]
async fn only_members_who_follow_a_space_are_present() {
    let stack = Stack::start().await;
    let (husam, sara) = (stack.person("Husam").await, stack.person("Sara").await);
    let space = stack.space("Garden", &[&husam, &sara]).await;
    let (staying, removed) = (stack.socket_of(&husam).await, stack.socket_of(&sara).await);
    let request = json!({"action": "presence", "spaceId": space});
    assert_eq!(removed.request(request.clone()).await["status"], 404);
    staying.subscribe(&space, None).await;
    removed.subscribe(&space, None).await;
    beat(&staying, &space, json!({})).await;
    beat(&removed, &space, json!({})).await;
    let both = sorted(&[&husam, &sara]);
    let together = staying.frame("presence", SOON, |frame| present(frame) == both).await.body;
    stack.delete(&format!("/v1/spaces/{space}/members/{sara}")).await.must_be(204);
    removed.frame("unsubscribed", SOON, |_| true).await;
    assert_eq!(removed.request(request).await["status"], 404);
    // The followers learn of it without any further action.
    let alone = |frame: &Value| {
        present(frame) == [&*husam] && frame["at"].as_str() > together["at"].as_str()
    };
    let frame = staying.frame("presence", AFTER_CLOSE, alone).await.body;
    let seen = removed.frames();
    assert!(!seen.iter().any(|it| it.kind == "presence" && it.body["at"] == frame["at"]));
}

#[tokio::test]
async fn a_connection_that_the_server_closes_is_no_longer_present() {
    let stack = Stack::start().await;
    let (husam, sara) = (stack.person("Husam").await, stack.person("Sara").await);
    let space = stack.space("Garden", &[&husam, &sara]).await;
    let (staying, closed) = (stack.socket_of(&husam).await, stack.socket_of(&sara).await);
    staying.subscribe(&space, None).await;
    closed.subscribe(&space, None).await;
    beat(&closed, &space, json!({})).await;
    staying.frame("presence", SOON, |frame| present(frame) == [&*sara]).await;
    // Too many frames.
    for _ in 0..400 {
        if closed.try_send(Message::text(r#"{"action":"ping"}"#)).await.is_err() {
            break;
        }
    }
    closed.farewell().await;
    staying.frame("presence", AFTER_CLOSE, |frame| present(frame).is_empty()).await;
}

#[tokio::test]
async fn followers_that_come_after_all_have_gone_learn_who_comes() {
    let stack = Stack::start().await;
    let (husam, sara) = (stack.person("Husam").await, stack.person("Sara").await);
    let space = stack.space("Garden", &[&husam, &sara]).await;
    let alone = stack.socket_of(&sara).await;
    alone.subscribe(&space, None).await;
    beat(&alone, &space, json!({})).await;
    alone.frame("presence", SOON, |frame| present(frame) == [&*sara]).await;
    drop(alone);
    let (listens, comes) = (stack.socket_of(&husam).await, stack.socket_of(&sara).await);
    listens.subscribe(&space, None).await;
    comes.subscribe(&space, None).await;
    beat(&comes, &space, json!({})).await;
    listens.frame("presence", AFTER_CLOSE, |frame| present(frame) == [&*sara]).await;
}

#[tokio::test]
async fn a_ping_renews_presence_for_five_minutes_and_leaves_typing_as_it_is() {
    let stack = Stack::start().await;
    let (husam, sara) = (stack.person("Husam").await, stack.person("Sara").await);
    let space = stack.space("Garden", &[&husam, &sara]).await;
    let (looks, types) = (stack.socket_of(&husam).await, stack.socket_of(&sara).await);
    looks.subscribe(&space, None).await;
    types.subscribe(&space, None).await;
    // A request without an id gets no answer.
    let typing = json!({"action": "presence", "spaceId": space, "typing": true});
    types.send(Message::text(typing.to_string())).await;
    looks.frame("presence", SOON, |frame| frame["typing"] == json!([sara])).await;
    let ping = json!({"action": "ping", "spaces": {space.clone(): 0}, "present": [space]});
    for socket in [&types, &looks] {
        let pong = socket.request(ping.clone()).await;
        assert_eq!((&pong["type"], &pong["spaces"]), (&json!("pong"), &json!({})));
    }
    let both = sorted(&[&husam, &sara]);
    let frame = types.frame("presence", SOON, |frame| present(frame) == both).await.body;
    assert_eq!(frame["typing"], json!([sara]), "{frame}");
    let at = |value: &Value| value.as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    for it in frame["present"].as_array().unwrap() {
        let lasts = at(&it["until"]).duration_since(at(&frame["at"]));
        assert!((280..=300).contains(&lasts.as_secs()), "{lasts:?}: {frame}");
    }
    for socket in [&types, &looks] {
        assert!(!socket.frames().iter().any(|frame| frame.kind == "accepted"));
    }
}

#[tokio::test]
async fn a_ping_renews_the_other_spaces_besides_one_that_the_connection_does_not_follow() {
    let stack = Stack::start().await;
    let husam = stack.person("Husam").await;
    let (followed, other) =
        (stack.space("Garden", &[&husam]).await, stack.space("Yard", &[&husam]).await);
    let socket = stack.socket_of(&husam).await;
    socket.subscribe(&followed, None).await;
    let ping = json!({"action": "ping", "present": [followed, other]});
    let error = socket.request(ping).await;
    assert_eq!(error["status"], 404, "{error}");
    assert!(error["detail"].as_str().unwrap().contains(&other), "{error}");
    socket.frame("presence", SOON, |frame| present(frame) == [&*husam]).await;
}
