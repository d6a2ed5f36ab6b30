//! Lists of a space's files, and the files of those who leave the space.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    client::Client,
    files::{PIXEL, announced, download, put},
    routes::id,
    stack::Stack,
    waiting::{SOON, wait_for},
};

fn attachments(space: &str) -> String {
    format!("/v1/spaces/{space}/attachments")
}

/// The ids of the files of a list, which has the newest first.
fn ids(files: &[Value]) -> BTreeSet<&str> {
    assert!(files.is_sorted_by(|newer, older| {
        newer["createdAt"].as_str() >= older["createdAt"].as_str()
    }));
    files.iter().map(|file| file["id"].as_str().unwrap()).collect()
}

fn set<'a>(ids: &[&'a String]) -> BTreeSet<&'a str> {
    ids.iter().map(|id| id.as_str()).collect()
}

/// A guest of a space, and the client of it.
async fn guest_of(stack: &Stack, space: &str) -> (String, Client) {
    let invite = stack.create(&format!("/v1/spaces/{space}/invites"), json!({})).await;
    let body = json!({ "token": invite.must_be(201)["token"], "name": "Guest" });
    let request = stack.request(Method::POST, "/v1/invites/accept").json(&body);
    let accepted = stack.send(request).await.must_be(200);
    (id(&accepted["entity"]), stack.with(accepted["token"].as_str().unwrap()))
}

#[tokio::test]
async fn owners_list_all_files_and_others_sent_ones_and_their_own() {
    let Some(stack) = Stack::with_secret(&["--invites", "guests"]).await else { return };
    let (owner, member) = (stack.person("Husam").await, stack.person("Sara").await);
    let space = stack.as_entity(&owner).space("Team", &[&member]).await;
    let (_, guest) = guest_of(&stack, &space).await;
    let [owners, members] = [&owner, &member].map(|entity| stack.as_entity(entity));
    assert_eq!(owners.all(&attachments(&space)).await, Vec::<Value>::new());
    let sent = owners.upload(&space, "a.png", "image/png", PIXEL).await;
    let message = stack.post_files(&space, &owner, "Look", &[&sent]).await;
    stack.post_files(&space, &owner, "Look again", &[&sent]).await;
    let unsent = owners.upload(&space, "b.txt", "text/plain", b"Buy milk.").await;
    let own = members.start_upload(&space, announced("c.png", "image/png", PIXEL)).await.id;
    let guests = guest.start_upload(&space, announced("d.png", "image/png", PIXEL)).await.id;
    let all = set(&[&guests, &own, &unsent, &sent]);
    for (client, expected) in [
        (&Client::clone(&stack), &all),
        (&owners, &all),
        (&members, &set(&[&own, &sent])),
        (&guest, &set(&[&guests, &sent])),
    ] {
        // Also one by one: pages without a file of this reader are empty.
        for limit in ["", "?limit=1"] {
            let files = client.all(&format!("{}{limit}", attachments(&space))).await;
            assert_eq!(ids(&files), *expected, "{limit}");
        }
    }
    let files = members.all(&attachments(&space)).await;
    assert_eq!(
        (&files[0]["name"], &files[0]["contentType"], &files[0]["bytes"], &files[0]["status"]),
        (&json!("c.png"), &json!("image/png"), &json!(PIXEL.len()), &json!("pending"))
    );
    assert_eq!((&files[0]["createdBy"], &files[0]["seq"]), (&json!(member), &Value::Null));
    assert!(files[0]["expiresAt"].as_str() > files[0]["createdAt"].as_str(), "{}", files[0]);
    assert_eq!((&files[1]["status"], &files[1]["width"]), (&json!("ready"), &json!(1)));
    assert_eq!((&files[1]["seq"], &files[1]["expiresAt"]), (&message["seq"], &Value::Null));
    // A deleted file is not in the list.
    owners.delete(&format!("{}/{sent}", attachments(&space))).await.must_be(204);
    assert_eq!(ids(&owners.all(&attachments(&space)).await), set(&[&guests, &own, &unsent]));
    let bad = owners.get(&format!("{}?cursor=nonsense", attachments(&space))).await.must_be(400);
    assert_eq!(bad["detail"], "cursor: expected the nextCursor of an earlier page");
}

#[tokio::test]
async fn who_leaves_takes_the_files_that_no_message_names() {
    let Some(stack) =
        Stack::with_secret(&["--invites", "guests", "--files-per-space", "300 bytes"]).await
    else {
        return;
    };
    let (owner, member) = (stack.person("Husam").await, stack.person("Sara").await);
    let space = stack.as_entity(&owner).space("Team", &[&member]).await;
    let (guest, as_guest) = guest_of(&stack, &space).await;
    let [owners, members] = [&owner, &member].map(|entity| stack.as_entity(entity));
    let owners_file = owners.upload(&space, "a.txt", "text/plain", &[b'x'; 10]).await;
    let sent = members.upload(&space, "b.txt", "text/plain", &[b'x'; 10]).await;
    stack.post_files(&space, &member, "Look", &[&sent]).await;
    let mut links = Vec::new();
    for client in [&members, &as_guest] {
        let file = client.upload(&space, "c.txt", "text/plain", &[b'x'; 40]).await;
        links.push(client.attachment(&space, &file).await["url"].clone());
        let bytes = [b'x'; 100];
        client.start_upload(&space, announced("d.txt", "text/plain", &bytes)).await;
    }
    let full = announced("e.txt", "text/plain", &[b'x'; 1]);
    owners.create(&attachments(&space), full).await.must_be(507);
    // A member leaves, and a guest is removed.
    members.delete(&format!("/v1/spaces/{space}/members/{member}")).await.must_be(204);
    assert_eq!(ids(&owners.all(&attachments(&space)).await).len(), 4);
    owners.delete(&format!("/v1/spaces/{space}/members/{guest}")).await.must_be(204);
    assert_eq!(ids(&owners.all(&attachments(&space)).await), set(&[&sent, &owners_file]));
    for link in &links {
        assert_eq!(download(link).await.status, 404);
    }
    let rest = announced("f.txt", "text/plain", &[b'x'; 280]);
    let rest = owners.start_upload(&space, rest).await;
    let full = announced("g.txt", "text/plain", &[b'x'; 1]);
    owners.create(&attachments(&space), full).await.must_be(507);
    assert_eq!(put(&rest, &[b'x'; 280]).await, 200);
    assert_eq!(owners.bytes_of(&space, &sent).await, [b'x'; 10]);
}

#[tokio::test]
async fn the_unsent_files_of_a_retired_entity_and_of_a_revoked_invite_go() {
    let Some(stack) = Stack::with_secret(&["--invites", "guests"]).await else { return };
    let (owner, member) = (stack.person("Husam").await, stack.person("Sara").await);
    let space = stack.as_entity(&owner).space("Team", &[&member]).await;
    let path = format!("/v1/spaces/{space}/invites");
    let invite = stack.create(&path, json!({})).await.must_be(201);
    let body = json!({ "token": invite["token"], "name": "Guest" });
    let request = stack.request(Method::POST, "/v1/invites/accept").json(&body);
    let accepted = stack.send(request).await.must_be(200);
    let guest = stack.with(accepted["token"].as_str().unwrap());
    for client in [&guest, &stack.as_entity(&member)] {
        client.upload(&space, "a.png", "image/png", PIXEL).await;
        client.start_upload(&space, announced("b.png", "image/png", PIXEL)).await;
    }
    let left = async |count: usize| {
        wait_for("the files of the former member are gone", SOON, async || {
            (stack.all(&attachments(&space)).await.len() == count).then_some(())
        })
        .await;
    };
    left(4).await;
    stack.delete(&format!("{path}/{}", id(&invite))).await.must_be(204);
    left(2).await;
    stack.delete(&format!("/v1/entities/{member}")).await.must_be(204);
    left(0).await;
}

#[tokio::test]
async fn few_files_are_announced_before_they_are_uploaded() {
    let Some(stack) = Stack::with_secret(&["--invites", "guests", "--no-rate-limit"]).await else {
        return;
    };
    let member = stack.person("Sara").await;
    let space = stack.space("Team", &[&member]).await;
    let (_, guest) = guest_of(&stack, &space).await;
    let path = attachments(&space);
    let text = || announced("a.txt", "text/plain", b"Buy milk.");
    for (client, most) in [(&stack.as_entity(&member), 50), (&guest, 10)] {
        let mut uploads = Vec::new();
        for _ in 0..most {
            uploads.push(client.start_upload(&space, text()).await);
        }
        let problem = client.create(&path, text()).await.must_be(507);
        let detail = format!(
            "this entity has announced {most} files that are not uploaded yet, and may announce \
             no more: upload them, or delete those that are not needed"
        );
        assert_eq!(problem["detail"], detail);
        // One is uploaded, one is refused, and one is deleted.
        assert_eq!(put(&uploads[0], b"Buy milk.").await, 200);
        assert_eq!(client.attachment(&space, &uploads[0].id).await["status"], "ready");
        client.delete(&format!("{path}/{}", uploads[1].id)).await.must_be(204);
        let picture = announced("a.png", "image/png", b"Buy milk.");
        let wrong = client.start_upload(&space, picture).await;
        client.start_upload(&space, text()).await;
        client.create(&path, text()).await.must_be(507);
        assert_eq!(put(&wrong, b"Buy milk.").await, 200);
        assert_eq!(client.attachment(&space, &wrong.id).await["status"], "refused");
        client.start_upload(&space, text()).await;
        client.create(&path, text()).await.must_be(507);
        // An uploaded one counts out only once.
        client.delete(&format!("{path}/{}", uploads[0].id)).await.must_be(204);
        client.delete(&format!("{path}/{}", wrong.id)).await.must_be(204);
        client.create(&path, text()).await.must_be(507);
    }
    // The operator has no such limit.
    for _ in 0..60 {
        stack.start_upload(&space, text()).await;
    }
}
