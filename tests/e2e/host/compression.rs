//! Long answers of the API: how they are encoded, and that a client gets none of them twice.

use reqwest::Method;
use serde_json::json;

use crate::support::{client::Reply, files::PIXEL, stack::Stack};

/// An answer to `GET` of so many bytes is compressed.
const LONG_BYTES: usize = 1024;

fn assert_plain(reply: &Reply, what: &str) {
    assert!(reply.text.len() >= LONG_BYTES && reply.body.is_object(), "{what}: {}", reply.text);
    let [encoding, tag] = ["content-encoding", "etag"].map(|name| reply.header(name));
    assert_eq!((encoding, tag), ("", ""), "{what}");
}

#[tokio::test]
async fn a_long_answer_to_get_is_compressed_and_not_sent_twice() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let space = stack.space("Team", &[&person]).await;
    let undecoded = stack.undecoded();
    let path = format!("/v1/spaces/{space}/messages");
    let asking = |method: Method, accepted: &str| {
        let request = undecoded.request(method, &path).bearer_auth(&undecoded.key);
        request.header("accept-encoding", accepted)
    };

    let body = json!({ "senderId": person, "text": "All work and no play. ".repeat(100) });
    let posted = undecoded.send(asking(Method::POST, "gzip").json(&body)).await;
    assert_eq!(posted.status, 201, "{}", posted.text);
    assert_plain(&posted, "a message that is posted");

    let plain = undecoded.send(asking(Method::GET, "identity")).await;
    assert_eq!((plain.status, plain.header("content-encoding")), (200, ""), "{}", plain.text);
    let tag = plain.header("etag");
    assert!(tag.starts_with("W/\""), "{tag}");
    let compressed = undecoded.send(asking(Method::GET, "gzip")).await;
    assert_eq!((compressed.status, compressed.header("content-encoding")), (200, "gzip"));
    assert_eq!(compressed.header("etag"), tag);
    assert!(compressed.body.is_null(), "{}", compressed.text);
    for reply in [&plain, &compressed] {
        let vary: Vec<_> = reply.headers.get_all("vary").iter().collect();
        assert_eq!(vary, ["accept-encoding, origin"]);
    }
    // This client decompresses what it gets.
    assert_eq!(stack.get(&path).await.must_be(200), plain.body);

    for accepted in ["gzip", "identity"] {
        let known = asking(Method::GET, accepted).header("if-none-match", tag);
        let reply = undecoded.send(known).await;
        assert_eq!((reply.status, reply.text.as_str()), (304, ""), "{accepted}");
        assert_eq!(reply.header("etag"), tag, "{accepted}");
    }
}

#[tokio::test]
async fn the_address_of_a_file_is_not_compressed() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let space = stack.space("Team", &[&person]).await;
    let name = format!("{}.png", "語".repeat(240));
    let file = stack.upload(&space, &name, "image/png", PIXEL).await;
    let undecoded = stack.undecoded();
    let path = format!("/v1/spaces/{space}/attachments/{file}");
    let request = undecoded.request(Method::GET, &path).bearer_auth(&undecoded.key);
    let reply = undecoded.send(request.header("accept-encoding", "gzip")).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert_plain(&reply, "a file");
}
