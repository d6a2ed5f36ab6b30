//! WebSockets that nobody uses, and frames that never end.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_tungstenite::tungstenite::Message;

use crate::{
    host::raw::{answer, head, sent},
    support::{stack::Stack, waiting::SOON},
};

#[tokio::test]
async fn a_socket_that_follows_nothing_ends_and_one_that_does_stays() {
    // A socket may be idle for six seconds.
    let Some(stack) = Stack::with(&["--time-limits", "0.05"]).await else { return };
    let (person, _, space) = stack.pair().await;
    let follower = stack.socket_of(&person).await;
    follower.subscribe(&space, None).await;
    let idle = stack.socket_of(&person).await;
    let (goodbye, code) = idle.farewell().await;
    assert_eq!(goodbye["reason"], "the connection follows no space and sends nothing");
    assert_eq!((&goodbye["code"], &code), (&json!(1013), &json!(1013)));
    assert!(follower.is_open().await);
    // One that has left its space follows nothing.
    follower.request(json!({"action": "unsubscribe", "spaceId": space})).await;
    assert_eq!(follower.farewell().await.1, json!(1013));
}

#[tokio::test]
async fn pings_of_the_protocol_count_as_frames() {
    let Some(stack) = Stack::with(&[]).await else { return };
    let socket = stack.socket().await;
    for _ in 0..2_000 {
        if socket.try_send(Message::Ping("".into())).await.is_err() {
            break;
        }
    }
    let (goodbye, code) = socket.farewell().await;
    assert_eq!((&goodbye["reason"], &code), (&json!("too many frames"), &json!(1013)));
}

#[tokio::test]
async fn a_frame_that_does_not_end_closes_its_connection() {
    // A frame has a second.
    let Some(stack) = Stack::with(&["--time-limits", "0.1"]).await else { return };
    let ticket = stack.ticket(None).await;
    let target = ticket.split_once("/v1/").unwrap().1;
    let key = STANDARD.encode([7; 16]);
    let headers = [
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", &key),
    ];
    let head = head("GET", &format!("/v1/{target}"), 0, &headers);
    let mut stream = sent(&stack, &head, b"").await;
    let mut begun = [0; 12];
    stream.read_exact(&mut begun).await.unwrap();
    assert_eq!(&begun, b"HTTP/1.1 101");
    // A masked text frame of 4,096 bytes, of which eight come.
    stream.write_all(&[0x81, 0xFE, 0x10, 0x00, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0]).await.unwrap();
    let rest = answer(&mut stream, SOON).await;
    // 1009 is 0x03F1.
    assert!(rest.contains("\u{2}\u{3}"), "{rest:?}");
}
