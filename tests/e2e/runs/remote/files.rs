//! Files of remote agents: they download those of the messages that woke them, and send others.

use serde_json::{Value, json};

use super::scene::RemoteScene;
use crate::support::{
    files::{PIXEL, announced, download, put},
    routes::{id, text},
};

#[tokio::test]
async fn a_remote_agent_reads_files_and_sends_some() {
    let Some(scene) = RemoteScene::start("/echo").await else { return };
    let (stack, space) = (&scene.stack, &scene.space);
    let asked = stack.upload(space, "red.png", "image/png", PIXEL).await;
    stack.post_files(space, &scene.person, "What is this?", &[&asked]).await;
    let (_, run) = scene.ask("Well?").await;
    let woken = scene.woken(&run).await;
    let body = woken.request.json();
    let context = &body["context"];
    let files = context["files"].as_array().unwrap();
    assert_eq!(files.len(), 1, "{files:?}");
    let (named, picture) = (&files[0], &context["messages"][0]);
    assert_eq!((&named["attachmentId"], &named["messageId"]), (&json!(asked), &picture["id"]));
    assert_eq!((&named["name"], &named["contentType"]), (&json!("red.png"), &json!("image/png")));
    assert_eq!(picture["parts"][1]["attachmentId"], asked);
    assert!(files[0]["urlExpiresAt"].as_str() > body["run"]["createdAt"].as_str());
    assert_eq!(download(&files[0]["url"]).await.bytes, PIXEL);
    let stored = stack.run(&run).await.to_string();
    assert!(!stored.contains(files[0]["url"].as_str().unwrap()), "no address is stored");

    // A file of its own it uploads as any member does.
    let own = stack
        .as_entity(&scene.agent)
        .start_upload(space, announced("a.txt", "text/plain", b"Red."))
        .await;
    let sent = json!({"text": "It is red.", "attachments": [own.id, asked]});
    let early = woken.post("early", sent.clone()).await.must_be(422);
    assert_eq!(early["errors"][0]["pointer"], "/attachments/0", "{early}");
    assert!(put(&own, b"Red.").await.is_success());
    let posted = woken.post("first", sent.clone()).await.must_be(201);
    assert_eq!((text(&posted), names(&posted)), ("It is red.", vec!["a.txt", "red.png"]));
    let again = woken.post("first", sent).await.must_be(201);
    assert_eq!(id(&again), id(&posted), "repeated with its key, it is posted once");
    let only = woken.post("second", json!({"attachments": [own.id]})).await.must_be(201);
    assert_eq!(names(&only), ["a.txt"]);
    woken.post("third", json!({})).await.must_be(422);
    let twice = woken.post("fourth", json!({"attachments": [own.id, own.id]})).await.must_be(422);
    assert_eq!(twice["errors"][0]["pointer"], "/attachments/1", "{twice}");
}

#[tokio::test]
async fn a_remote_agent_learns_nothing_of_the_files_of_other_spaces() {
    let Some(scene) = RemoteScene::start("/echo").await else { return };
    let stack = &scene.stack;
    let strange = stack.space("Strange", &[&scene.person]).await;
    let theirs = stack.upload(&strange, "red.png", "image/png", PIXEL).await;
    let (_, run) = scene.ask("Go on.").await;
    let woken = scene.woken(&run).await;
    assert_eq!(woken.request.json()["context"]["files"], json!([]));
    let here = woken.post("a", json!({"attachments": [theirs]})).await.must_be(422);
    assert_eq!(here["errors"][0]["pointer"], "/attachments/0", "{here}");
    // Whether the file is there or not, the answer is the same.
    let unknown = "att_01K00000000000000000000000";
    for (key, file) in [("b", theirs.as_str()), ("c", unknown)] {
        let there = json!({"spaceId": strange, "attachments": [file]});
        let refused = woken.post(key, there).await.must_be(404);
        assert_eq!(refused["detail"], "there is no such space");
    }
}

#[tokio::test]
async fn the_webhook_has_addresses_of_the_newest_twenty_files() {
    let Some(scene) = RemoteScene::start("/echo").await else { return };
    let (stack, space) = (&scene.stack, &scene.space);
    let mut files = Vec::new();
    for number in 0..22 {
        let bytes = format!("{number}");
        files.push(stack.upload(space, "a.txt", "text/plain", bytes.as_bytes()).await);
    }
    for some in files.chunks(10) {
        let some: Vec<_> = some.iter().collect();
        stack.post_files(space, &scene.person, "Read these.", &some).await;
    }
    let (_, run) = scene.ask("Well?").await;
    let context = scene.woken(&run).await.request.json()["context"].clone();
    let named: Vec<_> = context["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["attachmentId"].clone())
        .collect();
    assert_eq!(named.len(), 20);
    // Those of the newest message come first.
    assert_eq!(named[..2], [json!(files[20]), json!(files[21])]);
    assert!(!named.contains(&json!(files[8])) && !named.contains(&json!(files[9])));
}

#[tokio::test]
async fn a_repeated_message_is_answered_whatever_has_become_of_its_sender() {
    let Some(scene) = RemoteScene::start("/echo").await else { return };
    let stack = &scene.stack;
    let other = stack.space("Other", &[&scene.person, &scene.agent]).await;
    let file = stack.upload(&other, "red.png", "image/png", PIXEL).await;
    let (_, run) = scene.ask("Go on.").await;
    let woken = scene.woken(&run).await;
    let sent = json!({"spaceId": other, "attachments": [file]});
    let posted = woken.post("once", sent.clone()).await.must_be(201);
    stack.delete(&format!("/v1/spaces/{other}/members/{}", scene.agent)).await.must_be(204);
    let again = woken.post("once", sent.clone()).await.must_be(201);
    assert_eq!(id(&again), id(&posted));
    woken.post("once", json!({"spaceId": other, "text": "Else."})).await.must_be(404);
    woken.post("twice", sent).await.must_be(404);
}

fn names(message: &Value) -> Vec<&str> {
    let parts = message["parts"].as_array().unwrap().iter();
    parts.filter(|part| part["type"] == "file").map(|part| part["name"].as_str().unwrap()).collect()
}
