//! Requests over a WebSocket that are answered with errors.

use serde_json::{Map, Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::support::{socket::Frame, stack::Stack, waiting::SOON};

#[tokio::test]
async fn only_members_can_subscribe_and_send() {
    let stack = Stack::start().await;
    let member = stack.person("Husam").await;
    let stranger = stack.person("Eve").await;
    let space = stack.space("Private", &[&member]).await;
    let socket = stack.socket_of(&stranger).await;
    for request in [
        json!({ "action": "subscribe", "spaceId": space }),
        json!({ "action": "send", "spaceId": space, "text": "let me in" }),
    ] {
        let refused = socket.request(request.clone()).await;
        assert_eq!(
            (refused["type"].as_str(), refused["status"].as_u64()),
            (Some("error"), Some(404)),
            "{request}: {refused}"
        );
    }
    let forged_request = json!({
        "action": "send",
        "spaceId": space,
        "text": "I am Husam",
        "senderId": member,
    });
    let forged = socket.request(forged_request).await;
    assert_eq!(forged["type"], "error", "{forged}");
    stack.post(&space, &member, "private").await;
    assert!(socket.is_open().await);
    assert!(socket.frames().iter().all(|frame| !frame.kind.starts_with("message.")));
    assert_eq!(stack.texts(&space).await, ["private"]);
}

#[tokio::test]
async fn bad_frames_are_answered_with_errors_and_leave_the_socket_open() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let space = stack.space("Alone", &[&person]).await;
    let socket = stack.socket_of(&person).await;
    let missing = "spc_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let many_spaces: Map<_, _> =
        (0..21).map(|n| (format!("spc_01ARZ3NDEKTSV4RRFFQ69G5F{n:02}"), json!(0))).collect();
    let requests = [
        json!({ "action": "dance" }),
        json!({}),
        json!({ "action": 5 }),
        json!({ "action": "subscribe" }),
        json!({ "action": "subscribe", "spaceId": "nonsense" }),
        json!({ "action": "subscribe", "spaceId": missing }),
        json!({ "action": "subscribe", "spaceId": space, "afterSeq": -1 }),
        json!({ "action": "subscribe", "spaceId": space, "afterSeq": "1" }),
        json!({ "action": "send", "spaceId": space }),
        json!({ "action": "send", "spaceId": space, "text": "" }),
        json!({ "action": "send", "spaceId": space, "text": "nul \0 inside" }),
        json!({ "action": "send", "spaceId": space, "text": "x".repeat(25 * 1024) }),
        json!({ "action": "ping", "spaces": many_spaces }),
        json!({ "action": "ping", "present": many_spaces.keys().collect::<Vec<_>>() }),
        json!({ "action": "ping", "present": [missing] }),
        json!({ "action": "ping", "present": [space] }),
        json!({ "action": "presence", "spaceId": space, "hidden": true }),
    ];
    for request in requests {
        let shown = format!("{request:.200}");
        let answer = socket.request(request).await;
        assert_eq!(answer["type"], "error", "{shown}: {answer}");
        assert_is_problem(&answer);
    }
    let raw = [
        Message::text("no JSON at all"),
        Message::text("[1, 2"),
        Message::text("null"),
        Message::text("[".repeat(20_000)),
        Message::binary(vec![0_u8, 159, 146, 150]),
        Message::text(
            json!({ "action": "send", "spaceId": space, "text": "x".repeat(40 * 1024) })
                .to_string(),
        ),
    ];
    for (index, message) in raw.into_iter().enumerate() {
        let before = errors(&socket.frames()).len();
        socket.send(message).await;
        let what = format!("an error for the raw frame {index}");
        assert_is_problem(
            &socket.until(&what, SOON, |frames| errors(frames).get(before).cloned()).await,
        );
    }
    assert!(socket.is_open().await);
    assert!(stack.messages(&space).await.is_empty(), "a bad frame stored a message");
    let sent =
        socket.request(json!({ "action": "send", "spaceId": space, "text": "still here" })).await;
    assert_eq!(sent["type"], "sent", "{sent}");
}

fn errors(frames: &[Frame]) -> Vec<Value> {
    frames.iter().filter(|frame| frame.kind == "error").map(|frame| frame.body.clone()).collect()
}

fn assert_is_problem(answer: &Value) {
    let status = answer["status"].as_u64().unwrap_or(0);
    assert!((400..500).contains(&status), "{answer}");
    assert!(answer["title"].is_string() && answer["detail"].is_string(), "{answer}");
}
