//! Deleting a file: what its messages, prompts, addresses and followers show.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::{
    client::Client,
    files::{PIXEL, announced, download, put},
    model::{answer, say, stop},
    stack::Stack,
    waiting::SOON,
};

fn path(space: &str, file: &str) -> String {
    format!("/v1/spaces/{space}/attachments/{file}")
}

#[tokio::test]
async fn a_deleted_file_is_gone_and_its_messages_say_so() {
    let stack = Stack::start().await;
    let (person, _, space) = stack.pair().await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    let picture = stack.upload(&space, "a.png", "image/png", PIXEL).await;
    let notes = stack.upload(&space, "notes.txt", "text/plain", b"Buy milk.").await;
    let first = stack.post_files(&space, &person, "Look", &[&picture, &notes]).await;
    let second = stack.post_files(&space, &person, "", &[&picture]).await;
    let url = stack.attachment(&space, &picture).await["url"].clone();
    stack.delete(&path(&space, &picture)).await.must_be(204);
    assert_eq!(download(&url).await.status, StatusCode::NOT_FOUND);
    stack.get(&path(&space, &picture)).await.must_be(404);
    stack.delete(&path(&space, &picture)).await.must_be(404);
    let body = json!({ "text": "again", "attachments": [picture] });
    stack.create(&format!("/v1/spaces/{space}/messages"), body).await.must_be(422);
    let deleted = json!({
        "type": "file", "attachmentId": picture, "name": "a.png", "contentType": "image/png",
        "bytes": PIXEL.len(), "width": 1, "height": 1, "deleted": true,
    });
    let messages = stack.messages(&space).await;
    let expected = json!([first["parts"][0], deleted, first["parts"][2]]);
    assert_eq!((&messages[0]["parts"], &messages[0]["rev"]), (&expected, &json!(2)));
    assert_eq!(messages[1]["parts"], json!([deleted]));
    // Those who follow the space see it at once.
    for message in [&first, &second] {
        let is_it = |frame: &Value| frame["message"]["id"] == message["id"];
        let updated = socket.frame("message.updated", SOON, is_it).await.body;
        let files = updated["message"]["parts"].as_array().unwrap();
        assert!(files.contains(&deleted), "{updated}");
    }
    // The other file stays.
    assert_eq!(stack.bytes_of(&space, &notes).await, b"Buy milk.");
}

#[tokio::test]
async fn a_prompt_has_the_line_of_a_deleted_file_and_not_its_bytes() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let model = json!({ "provider": "openai", "name": stack.model.name("gpt-4o-ada") });
    let agent = stack.agent_with("Ada", json!({ "model": model })).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    let answers = [answer([say("I see.")]), stop(), answer([say("It is gone.")]), stop()];
    stack.model.plays("gpt-4o-ada", answers);
    let picture = stack.upload(&space, "a.png", "image/png", PIXEL).await;
    stack.post_files(&space, &person, "Look", &[&picture]).await;
    stack.quiet(&space).await;
    // The process that has read the message before reads it again.
    stack.delete(&path(&space, &picture)).await.must_be(204);
    stack.post(&space, &person, "And now?").await;
    stack.quiet(&space).await;
    let requests = stack.model.requests("gpt-4o-ada");
    assert_eq!((requests[0].files().len(), requests[2].files().len()), (1, 0));
    let prompt = requests[2].user();
    let history = prompt.block("SPACE HISTORY");
    let line = "[file #1 \"a.png\" (file deleted)]".to_owned();
    assert!(history.contains(&line), "{history:?}");
    assert!(!history.iter().any(|line| line.contains(&picture)), "{history:?}");
}

#[tokio::test]
async fn the_uploader_an_owner_and_the_operator_delete_a_file() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let [owner, member, other, stranger] =
        ["Husam", "Sara", "Noor", "Eve"].map(|name| stack.person(name));
    let (owner, member, other, stranger) = tokio::join!(owner, member, other, stranger);
    let space = stack.as_entity(&owner).space("Team", &[&member, &other]).await;
    let own = stack.as_entity(&member);
    let operator = Client::clone(&stack);
    for (deleter, status) in [
        (&own, 204),
        (&stack.as_entity(&owner), 204),
        (&operator, 204),
        (&stack.as_entity(&other), 403),
        (&stack.as_entity(&stranger), 404),
    ] {
        let file = own.upload(&space, "a.png", "image/png", PIXEL).await;
        deleter.delete(&path(&space, &file)).await.must_be(status);
        let left = if status == 204 { 404 } else { 200 };
        own.get(&path(&space, &file)).await.must_be(left);
    }
    // A former member can't delete its file.
    let file = own.upload(&space, "a.png", "image/png", PIXEL).await;
    own.delete(&format!("/v1/spaces/{space}/members/{member}")).await.must_be(204);
    own.delete(&path(&space, &file)).await.must_be(404);
}

#[tokio::test]
async fn the_address_of_a_deleted_upload_is_dead() {
    let Some(stack) = Stack::local().await else { return };
    let (_, _, space) = stack.pair().await;
    let announce = async || {
        let path = format!("/v1/spaces/{space}/attachments");
        let request = stack.request(Method::POST, &path).bearer_auth(&stack.key);
        let request = request.header("idempotency-key", "k");
        stack.send(request.json(&announced("a.png", "image/png", PIXEL))).await
    };
    let first = announce().await.must_be(201);
    let id = first["attachmentId"].as_str().unwrap();
    stack.delete(&path(&space, id)).await.must_be(204);
    let upload = crate::support::files::StartedUpload {
        id: id.to_owned(),
        url: first["uploadUrl"].as_str().unwrap().to_owned(),
        headers: serde_json::from_value(first["headers"].clone()).unwrap(),
    };
    assert_eq!(put(&upload, PIXEL).await, StatusCode::NOT_FOUND);
    let again = announce().await.must_be(404);
    assert_eq!(again["detail"], "the file that this Idempotency-Key announced was deleted");
    stack.get(&path(&space, id)).await.must_be(404);
}

#[tokio::test]
async fn a_file_of_many_messages_is_deleted_by_a_job() {
    let Some(stack) = Stack::with(&["--no-rate-limit"]).await else { return };
    let person = stack.person("Husam").await;
    let space = stack.space("Team", &[&person]).await;
    let file = stack.upload(&space, "a.png", "image/png", PIXEL).await;
    for _ in 0..20 {
        stack.post_files(&space, &person, "", &[&file]).await;
    }
    stack.delete(&path(&space, &file)).await.must_be(204);
    crate::support::waiting::wait_for("all messages show it", SOON, async || {
        let messages = stack.messages(&space).await;
        let shown = |message: &Value| message["parts"][0]["deleted"] == true;
        (messages.len() == 20 && messages.iter().all(shown)).then_some(())
    })
    .await;
}
