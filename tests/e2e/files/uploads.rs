//! Uploads: whole, repeated, wrong, never finished; and who may download.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::{
    files::{PIXEL, announced, download, put},
    stack::Stack,
    waiting::{SOON, wait_for},
};

#[tokio::test]
async fn an_uploaded_file_is_announced_and_downloaded_as_it_is() {
    let stack = Stack::start().await;
    let (person, _, space) = stack.pair().await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    let upload = stack.start_upload(&space, announced("Plän 1.png", "image/png", PIXEL)).await;
    let pending = stack.attachment(&space, &upload.id).await;
    assert_eq!((&pending["status"], &pending["url"]), (&json!("pending"), &Value::Null));
    assert_eq!(put(&upload, PIXEL).await, StatusCode::OK);
    // The storage tells the product.
    let ready = socket.frame("attachment.ready", SOON, |_| true).await.body;
    assert_eq!(ready["attachmentId"], upload.id);
    let file = stack.attachment(&space, &upload.id).await;
    assert_eq!(file["status"], "ready");
    assert_eq!((&file["width"], &file["height"]), (&json!(1), &json!(1)));
    let found = download(&file["url"]).await;
    assert_eq!((found.status, found.bytes.as_slice()), (StatusCode::OK, PIXEL));
    assert_eq!(found.headers["content-type"], "image/png");
    let disposition = found.headers["content-disposition"].to_str().unwrap();
    assert_eq!(
        disposition,
        "attachment; filename=\"Pl_n 1.png\"; filename*=UTF-8''Pl%C3%A4n%201.png"
    );
}

#[tokio::test]
async fn an_upload_happens_once() {
    let stack = Stack::start().await;
    let (_, _, space) = stack.pair().await;
    let upload = stack.start_upload(&space, announced("a.png", "image/png", PIXEL)).await;
    assert_eq!(put(&upload, PIXEL).await, StatusCode::OK);
    // The answer was lost, and the client repeats the upload.
    assert_eq!(put(&upload, PIXEL).await, StatusCode::PRECONDITION_FAILED);
    assert_eq!(stack.attachment(&space, &upload.id).await["status"], "ready");
}

#[tokio::test]
async fn what_is_not_what_it_says_is_refused() {
    let stack = Stack::start().await;
    let (_, _, space) = stack.pair().await;
    let page = b"<!doctype html><script>alert(document.domain)</script>";
    let bomb = [b"\x1f\x8b\x08\0\0\0\0\0\0\x03".as_slice(), &[0; 100]].concat();
    for (name, content_type, bytes) in [
        ("page.png", "image/png", page.as_slice()),
        ("bomb.pdf", "application/pdf", &bomb),
        ("picture.txt", "text/plain", PIXEL),
    ] {
        let upload = stack.start_upload(&space, announced(name, content_type, bytes)).await;
        assert_eq!(put(&upload, bytes).await, StatusCode::OK);
        let file = stack.attachment(&space, &upload.id).await;
        assert_eq!(file["status"], "refused", "{name}");
        assert_eq!(
            file["reason"],
            format!("the file's first bytes are not those of {content_type}")
        );
        assert_eq!(file["url"], Value::Null);
        let body = json!({ "text": "look", "attachments": [upload.id] });
        let refused = stack.create(&format!("/v1/spaces/{space}/messages"), body).await;
        assert_eq!(refused.status, 422, "{}", refused.text);
    }
}

#[tokio::test]
async fn an_upload_that_may_not_be_is_not_started() {
    let stack = Stack::start().await;
    let (_, _, space) = stack.pair().await;
    let path = format!("/v1/spaces/{space}/attachments");
    let too_large = 20 * 1024 * 1024 + 1;
    for (field, value, pointer) in [
        ("contentType", json!("image/svg+xml"), "/contentType"),
        ("contentType", json!("text/html"), "/contentType"),
        ("contentType", json!("image/png; charset=utf-8"), "/contentType"),
        ("bytes", json!(0), "/bytes"),
        ("bytes", json!(too_large), "/bytes"),
        ("sha256", json!("ABC"), "/sha256"),
        ("name", json!("../../etc/passwd"), "/name"),
        ("name", json!(""), "/name"),
        ("name", json!("a\nb"), "/name"),
    ] {
        let mut body = announced("a.png", "image/png", PIXEL);
        body[field] = value;
        let refused = stack.create(&path, body.clone()).await.must_be(422);
        assert_eq!(refused["errors"][0]["pointer"], pointer, "{body}: {refused}");
    }
}

#[tokio::test]
async fn a_file_can_be_as_large_as_the_limit_says() {
    let stack = Stack::start().await;
    let (_, _, space) = stack.pair().await;
    let mut bytes = b"%PDF-1.7\n".to_vec();
    bytes.resize(20 * 1024 * 1024, b' ');
    let id = stack.upload(&space, "large.pdf", "application/pdf", &bytes).await;
    let file = stack.attachment(&space, &id).await;
    assert_eq!(download(&file["url"]).await.bytes.len(), bytes.len());
}

#[tokio::test]
async fn nobody_reads_a_file_of_a_space_that_it_is_not_in() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let member = stack.person("Husam").await;
    let stranger = stack.person("Eve").await;
    let agent = stack.agent("Ada", &stack.model.name("ada")).await;
    let space = stack.space("Team", &[&member, &agent]).await;
    let elsewhere = stack.space("Elsewhere", &[&stranger, &member]).await;
    let own = stack.as_entity(&member);
    let file = own.upload(&space, "plan.png", "image/png", PIXEL).await;
    let eve = stack.as_entity(&stranger);
    let of_space = |space: &str| format!("/v1/spaces/{space}/attachments/{file}");
    assert_eq!(eve.get(&of_space(&space)).await.status, 404);
    // Not by the way of a space that both are in.
    assert_eq!(eve.get(&of_space(&elsewhere)).await.status, 404);
    assert_eq!(own.get(&of_space(&elsewhere)).await.status, 404);
    let body = json!({ "text": "look", "attachments": [file] });
    let messages = format!("/v1/spaces/{elsewhere}/messages");
    for client in [&eve, &own] {
        let refused = client.create(&messages, body.clone()).await.must_be(422);
        let errors = json!([{
            "pointer": "/attachments/0",
            "detail": "the file can't be used: this space has no such file",
        }]);
        assert_eq!(refused["errors"], errors);
    }
    // A link is for one file.
    let shown = own.attachment(&space, &file).await;
    let url = shown["url"].as_str().unwrap();
    let other = own.upload(&space, "other.png", "image/png", PIXEL).await;
    let guessed = json!(url.replace(&file, &other));
    assert_eq!(download(&guessed).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_deleted_space_deletes_its_files() {
    let stack = Stack::start().await;
    let (person, _, space) = stack.pair().await;
    let sent = stack.upload(&space, "sent.png", "image/png", PIXEL).await;
    let unsent = stack.upload(&space, "unsent.png", "image/png", PIXEL).await;
    stack.post_files(&space, &person, "Look", &[&sent]).await;
    let late = stack.start_upload(&space, announced("late.png", "image/png", PIXEL)).await;
    let mut urls = Vec::new();
    for id in [&sent, &unsent] {
        urls.push(stack.attachment(&space, id).await["url"].clone());
    }
    stack.delete(&format!("/v1/spaces/{space}")).await.must_be(204);
    for url in &urls {
        wait_for("the file is gone", SOON, async || {
            (download(url).await.status == StatusCode::NOT_FOUND).then_some(())
        })
        .await;
    }
    // An upload that began before ends after.
    put(&late, PIXEL).await;
    assert_eq!(stack.get(&format!("/v1/spaces/{space}/attachments/{}", late.id)).await.status, 404);
}

#[tokio::test]
async fn a_repeated_announcement_gives_the_same_file() {
    let stack = Stack::start().await;
    let (_, _, space) = stack.pair().await;
    let path = format!("/v1/spaces/{space}/attachments");
    let announce = async |name: &str| {
        let request = stack.request(Method::POST, &path).bearer_auth(&stack.key);
        let request = request.header("idempotency-key", "k");
        stack.send(request.json(&announced(name, "image/png", PIXEL))).await
    };
    let (one, two) = futures::join!(announce("a.png"), announce("a.png"));
    let (one, two) = (one.must_be(201), two.must_be(201));
    assert_eq!(one["attachmentId"], two["attachmentId"]);
    announce("b.png").await.must_be(422);
}
