//! What the files of a space, of an entity and of the deployment may have together; and pictures
//! that are too large.

use serde_json::{Value, json};

use crate::support::{
    files::{PIXEL, announced, download, put},
    model::{answer, call, say},
    stack::Stack,
    tool_scene::{ToolScene, but, http_tool},
    tool_server::ToolServer,
    waiting::{SOON, wait_for},
};

fn attachments(space: &str) -> String {
    format!("/v1/spaces/{space}/attachments")
}

/// The announcement of a file of this size.
fn large(bytes: u64) -> Value {
    let mut announced = announced("a.png", "image/png", PIXEL);
    announced["bytes"] = json!(bytes);
    announced
}

fn no_room(which: &str, used: &str, limit: &str, bytes: &str) -> Value {
    let detail = format!(
        "{which} have {used}, and may have {limit}: there is no room for {bytes}; delete files \
         that are not needed"
    );
    json!(detail)
}

#[tokio::test]
async fn files_count_in_their_space_whether_or_not_they_are_sent() {
    let Some(stack) = Stack::with(&["--files-per-space", "100 bytes"]).await else { return };
    let (person, _, space) = stack.pair().await;
    let sent = stack.upload(&space, "a.txt", "text/plain", &[b'x'; 40]).await;
    stack.post_files(&space, &person, "Look", &[&sent]).await;
    stack.create(&attachments(&space), large(59)).await.must_be(201);
    let problem = stack.create(&attachments(&space), large(2)).await.must_be(507);
    assert_eq!(problem["title"], "Insufficient Storage");
    let which = "the files of this space";
    assert_eq!(problem["detail"], no_room(which, "99 bytes", "100 bytes", "2 bytes"));
    let last = stack.create(&attachments(&space), large(1)).await.must_be(201);
    let problem = stack.create(&attachments(&space), large(1)).await.must_be(507);
    assert_eq!(problem["detail"], no_room(which, "100 bytes", "100 bytes", "1 byte"));
    // Another space has its own limit.
    let other = stack.space("Other", &[&person]).await;
    stack.create(&attachments(&other), large(100)).await.must_be(201);
    stack.create(&attachments(&other), large(101)).await.must_be(507);
    // A deleted file no longer counts.
    let last = last["attachmentId"].as_str().unwrap();
    stack.delete(&format!("{}/{last}", attachments(&space))).await.must_be(204);
    stack.create(&attachments(&space), large(1)).await.must_be(201);
}

#[tokio::test]
async fn many_announcements_at_once_do_not_pass_a_limit() {
    let Some(stack) = Stack::with(&["--files-per-space", "200 MiB"]).await else { return };
    let (_, _, space) = stack.pair().await;
    let path = attachments(&space);
    let announce = (0..20).map(|_| stack.create(&path, large(20 * 1024 * 1024)));
    let replies = futures::future::join_all(announce).await;
    let count = |status| replies.iter().filter(|reply| reply.status == status).count();
    assert_eq!((count(201), count(507)), (10, 10));
}

#[tokio::test]
async fn files_count_for_the_entity_that_uploads_them_in_all_its_spaces() {
    let Some(stack) = Stack::with_secret(&["--files-per-entity", "100 bytes"]).await else {
        return;
    };
    let (sara, noor) = (stack.person("Sara").await, stack.person("Noor").await);
    let mut spaces = Vec::new();
    for name in ["One", "Two"] {
        spaces.push(stack.space(name, &[&sara, &noor]).await);
    }
    let own = stack.as_entity(&sara);
    for space in &spaces {
        own.create(&attachments(space), large(50)).await.must_be(201);
    }
    let problem = own.create(&attachments(&spaces[0]), large(1)).await.must_be(507);
    let which = "the files that this entity has uploaded to all spaces";
    assert_eq!(problem["detail"], no_room(which, "100 bytes", "100 bytes", "1 byte"));
    // Others have room, and the operator has no such limit.
    stack.as_entity(&noor).create(&attachments(&spaces[0]), large(100)).await.must_be(201);
    stack.create(&attachments(&spaces[0]), large(101)).await.must_be(201);
    // A deleted space frees what its files took.
    stack.delete(&format!("/v1/spaces/{}", spaces[1])).await.must_be(204);
    wait_for("the files of the space are counted out", SOON, async || {
        let reply = own.create(&attachments(&spaces[0]), large(50)).await;
        (reply.status == 201).then_some(())
    })
    .await;
    own.create(&attachments(&spaces[0]), large(1)).await.must_be(507);
}

#[tokio::test]
async fn all_files_count_together_if_that_is_limited() {
    let Some(stack) = Stack::with(&["--files-in-all", "100 bytes"]).await else { return };
    let person = stack.person("Sara").await;
    let (one, two) = (stack.space("One", &[&person]).await, stack.space("Two", &[]).await);
    let file = stack.create(&attachments(&one), large(60)).await.must_be(201);
    let problem = stack.create(&attachments(&two), large(41)).await.must_be(507);
    let which = "the files of this deployment";
    assert_eq!(problem["detail"], no_room(which, "60 bytes", "100 bytes", "41 bytes"));
    let file = file["attachmentId"].as_str().unwrap();
    stack.delete(&format!("{}/{file}", attachments(&one))).await.must_be(204);
    stack.create(&attachments(&two), large(100)).await.must_be(201);
}

#[tokio::test]
async fn a_refused_file_does_not_count() {
    let Some(stack) = Stack::with(&["--files-per-space", "100 bytes"]).await else { return };
    let (_, _, space) = stack.pair().await;
    let bytes = [b'x'; 100];
    let upload = stack.start_upload(&space, announced("a.png", "image/png", &bytes)).await;
    assert_eq!(put(&upload, &bytes).await, 200);
    assert_eq!(stack.attachment(&space, &upload.id).await["status"], "refused");
    let next = stack.create(&attachments(&space), large(100)).await.must_be(201);
    // The deletion of the refused one frees nothing a second time.
    stack.delete(&format!("{}/{}", attachments(&space), upload.id)).await.must_be(204);
    stack.create(&attachments(&space), large(1)).await.must_be(507);
    let next = next["attachmentId"].as_str().unwrap();
    stack.delete(&format!("{}/{next}", attachments(&space))).await.must_be(204);
    stack.create(&attachments(&space), large(100)).await.must_be(201);
}

#[tokio::test]
async fn a_picture_of_a_tool_counts_for_its_agent() {
    let server = ToolServer::start().await;
    let Some(stack) = Stack::of(crate::support::process::Setup {
        flags: vec!["--files-per-entity".into(), "0".into()],
        env: vec![("SMARTSPACE_TOOL_HOSTS".into(), server.allowed())],
        ..Default::default()
    })
    .await
    else {
        return;
    };
    let scene = ToolScene::on(stack, server, |url| {
        let url = format!("{url}/picture/png");
        json!([but(http_tool("chart", "GET", &url, json!({})), json!({ "visible": true }))])
    })
    .await;
    let stack = &scene.stack;
    stack.model.plays("ada", [answer([call("chart", json!({}))]), answer([say("No room.")])]);
    scene.trigger().await;
    stack.quiet(&scene.space).await;
    let cards = scene.cards().await;
    let output = cards[0]["output"].to_string();
    let bytes = PIXEL.len();
    let expected = format!(
        "picture 1 is not stored: the files that this entity has uploaded to all spaces have 0 \
         bytes, and may have 0 bytes: there is no room for {bytes} bytes"
    );
    assert!(output.contains(&expected), "{output}");
}

/// A PNG that says that it has this many pixels a side.
fn square(side: u32) -> Vec<u8> {
    let mut bytes = PIXEL.to_vec();
    bytes[16..20].copy_from_slice(&side.to_be_bytes());
    bytes[20..24].copy_from_slice(&side.to_be_bytes());
    bytes
}

#[tokio::test]
async fn a_picture_of_too_many_pixels_is_refused() {
    let stack = Stack::start().await;
    let (person, _, space) = stack.pair().await;
    let refuse = async |name: &str, content_type: &str, bytes: &[u8], size: &str| {
        let upload = stack.start_upload(&space, announced(name, content_type, bytes)).await;
        assert_eq!(put(&upload, bytes).await, 200);
        let file = stack.attachment(&space, &upload.id).await;
        let reason = format!("expected a picture of at most 50000000 pixels, got {size}");
        assert_eq!((&file["status"], &file["reason"]), (&json!("refused"), &json!(reason)));
        let body = json!({ "senderId": person, "text": "look", "attachments": [upload.id] });
        let path = format!("/v1/spaces/{space}/messages");
        let refused = stack.create(&path, body).await.must_be(422);
        let detail = format!("the file can't be used: {reason}");
        assert_eq!(refused["errors"], json!([{"pointer": "/attachments/0", "detail": detail}]));
    };
    refuse("bomb.png", "image/png", &square(30_000), "30000 × 30000").await;
    // The first size is small, and the large one stands behind more than the first kilobyte.
    let small = b"\xff\xd8\xff\xc0\0\x0b\x08\0\x02\0\x03\x01\x01\x11\0".as_slice();
    let comment = [b"\xff\xfe\x10\0".as_slice(), &[b' '; 4_094]].concat();
    let frame = b"\xff\xc2\0\x0b\x08\x75\x30\x75\x30\x01\x01\x11\0".as_slice();
    refuse("a.jpg", "image/jpeg", &[small, &comment, frame].concat(), "30000 × 30000").await;
    // The large size stands behind more than what is read at once.
    let many = comment.repeat(300);
    refuse("a.jpg", "image/jpeg", &[small, &many, frame].concat(), "30000 × 30000").await;
    let screen = b"GIF89a\x03\0\x02\0\0\0\0\x21\xfe".as_slice();
    let block = [&[250][..], &[b' '; 250]].concat().repeat(5_000);
    let frame = b"\0\x2c\0\0\0\0\x30\x75\x30\x75\0\x02\x01x\0;".as_slice();
    refuse("a.gif", "image/gif", &[screen, &block, frame].concat(), "30000 × 30000").await;
    // No size at all.
    let none = [b"\xff\xd8".as_slice(), &comment].concat();
    let upload = stack.start_upload(&space, announced("a.jpg", "image/jpeg", &none)).await;
    assert_eq!(put(&upload, &none).await, 200);
    let file = stack.attachment(&space, &upload.id).await;
    let reason = "expected a picture that names its size";
    assert_eq!((&file["status"], &file["reason"]), (&json!("refused"), &json!(reason)));
    // As many as are allowed.
    stack.upload(&space, "large.png", "image/png", &square(7_071)).await;
}

#[tokio::test]
async fn a_file_is_saved_under_an_ending_of_its_type() {
    let stack = Stack::start().await;
    let (_, _, space) = stack.pair().await;
    for (name, saved) in [
        ("list.txt", "list.txt"),
        ("a.jar", "a.jar.txt"),
        ("a.html.", "a.html.txt"),
        ("a.hta::$DATA", "a.hta.txt"),
    ] {
        let file = stack.upload(&space, name, "text/plain", b"Hello").await;
        let shown = stack.attachment(&space, &file).await;
        assert_eq!(shown["name"], name);
        let found = download(&shown["url"]).await;
        let disposition = found.headers["content-disposition"].to_str().unwrap();
        let expected = format!("attachment; filename=\"{saved}\"; filename*=UTF-8''{saved}");
        assert_eq!(disposition, expected);
    }
}
