//! Messages with files.

use reqwest::StatusCode;
use serde_json::json;

use crate::support::{
    files::{PIXEL, announced, put},
    model::{answer, call},
    stack::Stack,
    waiting::SOON,
};

#[tokio::test]
async fn a_message_shows_its_files() {
    let stack = Stack::start().await;
    let (person, _, space) = stack.pair().await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    let picture = stack.upload(&space, "a.png", "image/png", PIXEL).await;
    let text = stack.upload(&space, "notes.txt", "text/plain", b"Buy milk.").await;
    let posted = stack.post_files(&space, &person, "Two files", &[&picture, &text]).await;
    let parts = json!([
        { "type": "text", "text": "Two files" },
        {
            "type": "file", "attachmentId": picture, "name": "a.png",
            "contentType": "image/png", "bytes": PIXEL.len(), "width": 1, "height": 1,
        },
        {
            "type": "file", "attachmentId": text, "name": "notes.txt",
            "contentType": "text/plain", "bytes": 9,
        },
    ]);
    assert_eq!(posted["parts"], parts);
    let created = socket.frame("message.created", SOON, |_| true).await.body;
    assert_eq!(created["message"]["parts"], parts);
    let alone = stack.post_files(&space, &person, "", &[&text]).await;
    assert_eq!(alone["parts"], json!([parts[2]]));
    let listed = stack.get(&format!("/v1/spaces/{space}/messages")).await.must_be(200);
    assert_eq!(listed["items"][0]["parts"], parts);
    assert_eq!(listed["items"][1]["parts"], json!([parts[2]]));
}

#[tokio::test]
async fn a_socket_sends_files_too() {
    let stack = Stack::start().await;
    let (person, _, space) = stack.pair().await;
    let socket = stack.socket_of(&person).await;
    let file = stack.upload(&space, "a.png", "image/png", PIXEL).await;
    let request = json!({
        "action": "send", "spaceId": space, "attachments": [file], "idempotencyKey": "one",
    });
    let sent = socket.request(request.clone()).await;
    assert_eq!(sent["type"], "sent", "{sent}");
    assert_eq!(socket.request(request.clone()).await["messageId"], sent["messageId"]);
    let mut other = request;
    other["attachments"] = json!([]);
    other["text"] = json!("x");
    assert_eq!(socket.request(other).await["type"], "error");
    assert_eq!(stack.messages(&space).await.len(), 1);
}

#[tokio::test]
async fn a_message_names_ready_files_only_each_once() {
    let stack = Stack::start().await;
    let (person, _, space) = stack.pair().await;
    let ready = stack.upload(&space, "a.png", "image/png", PIXEL).await;
    let pending = stack.start_upload(&space, announced("b.png", "image/png", PIXEL)).await;
    let eleven: Vec<_> = (0..11).map(|_| ready.clone()).collect();
    for (attachments, expected) in [
        (json!([ready, pending.id]), "/attachments/1: it is not uploaded yet"),
        (json!([ready, ready]), "/attachments/1: it is named twice"),
        (json!(eleven), "/attachments: expected at most 10 files, got 11"),
        (json!(["att_01KHRMMJH00000000000000002"]), "/attachments/0: this space has no such file"),
    ] {
        let body = json!({ "senderId": person, "text": "look", "attachments": attachments });
        let refused = stack.create(&format!("/v1/spaces/{space}/messages"), body).await;
        let fault = &refused.must_be(422)["errors"][0];
        let found = format!("{}: {}", fault["pointer"].as_str().unwrap(), fault["detail"]);
        let found = found.replace("the file can't be used: ", "").replace('"', "");
        assert_eq!(found, expected);
    }
    let nothing = json!({ "senderId": person });
    stack.create(&format!("/v1/spaces/{space}/messages"), nothing).await.must_be(422);
    // The first use checks the upload: the message need not wait for the storage's event.
    assert_eq!(put(&pending, PIXEL).await, StatusCode::OK);
    stack.post_files(&space, &person, "now", &[&ready, &pending.id]).await;
    // A file may be sent again, by anyone in the space.
    stack.post_files(&space, &person, "again", &[&ready]).await;
}

#[tokio::test]
async fn ten_messages_at_once_may_name_one_file() {
    let stack = Stack::start().await;
    let (person, _, space) = stack.pair().await;
    let file = stack.upload(&space, "a.png", "image/png", PIXEL).await;
    let texts: Vec<_> = (0..10).map(|number| format!("message {number}")).collect();
    let files = [&file];
    let posts = texts.iter().map(|text| stack.post_files(&space, &person, text, &files));
    futures::future::join_all(posts).await;
    assert_eq!(stack.messages(&space).await.len(), 10);
}

#[tokio::test]
async fn an_agent_sends_a_file_of_its_space() {
    let stack = Stack::start().await;
    let (person, _, space) = stack.pair().await;
    let file = stack.upload(&space, "a.png", "image/png", PIXEL).await;
    let input = json!({ "text": "Here it is.", "attachments": [file] });
    stack.model.plays("ada", [answer([call("send_message", input)])]);
    stack.post(&space, &person, "Send it to me.").await;
    stack.quiet(&space).await;
    let messages = stack.messages(&space).await;
    assert_eq!(messages[1]["parts"][1]["attachmentId"], file, "{messages:#?}");
}
