//! The frames about the spaces that an entity joins and leaves, which need no subscription.

use serde_json::json;

use crate::support::{
    client::Client,
    socket::{Frame, Socket},
    stack::Stack,
    waiting::SOON,
};

/// Waits until each socket is notified that its entity joined a space.
async fn assert_joined(sockets: [&Socket; 2], space: &str) {
    for socket in sockets {
        let joined =
            socket.frame("space.joined", SOON, |frame| frame["spaceId"] == space).await.body;
        assert_eq!(
            (&joined["space"]["id"], joined["at"].is_string()),
            (&json!(space), true),
            "{joined}"
        );
        assert_eq!(joined["space"]["me"]["unread"], 0, "{joined}");
    }
}

/// Waits until each socket is notified that its entity left a space.
async fn assert_left(sockets: [&Socket; 2], space: &str) {
    for socket in sockets {
        let left = socket.frame("space.left", SOON, |frame| frame["spaceId"] == space).await.body;
        assert!(left["at"].is_string(), "{left}");
    }
}

#[tokio::test]
async fn an_entity_is_notified_of_joining_and_leaving_spaces_without_a_subscription() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let person = stack.person("Sara").await;
    let owner = stack.person("Husam").await;
    let bystander = stack.person("Eve").await;
    let own = stack.as_entity(&person).socket().await;
    let as_admin = stack.socket_of(&person).await;
    let others = stack.as_entity(&bystander).socket().await;
    let operators = stack.socket().await;
    let sockets = [&own, &as_admin];
    let husams: Client = stack.as_entity(&owner);
    let hers = stack.as_entity(&person);

    let made = husams.space("Made with her", &[&person]).await;
    assert_joined(sockets, &made).await;
    let private = hers.space("Hers", &[]).await;
    assert_joined(sockets, &private).await;
    let added = husams.space("Added later", &[]).await;
    let membership = format!("/v1/spaces/{added}/members/{person}");
    husams.put(&membership, json!({})).await.must_be(200);
    assert_joined(sockets, &added).await;

    husams.delete(&membership).await.must_be(204);
    assert_left(sockets, &added).await;
    hers.delete(&format!("/v1/spaces/{made}/members/{person}")).await.must_be(204);
    assert_left(sockets, &made).await;
    hers.delete(&format!("/v1/spaces/{private}")).await.must_be(204);
    assert_left(sockets, &private).await;

    let count = |kind: &str| own.frames().iter().filter(|frame| frame.kind == kind).count();
    husams.put(&membership, json!({})).await.must_be(200);
    own.until("she joins again", SOON, |frames| {
        let is_it = |frame: &&Frame| {
            frame.kind == "space.joined" && frame.body["spaceId"] == added.as_str()
        };
        (frames.iter().filter(is_it).count() == 2).then_some(())
    })
    .await;
    husams.put(&membership, json!({ "role": "owner" })).await.must_be(200);
    stack.delete(&format!("/v1/entities/{person}")).await.must_be(204);
    own.until("she has left all spaces", SOON, |frames| {
        (frames.iter().filter(|frame| frame.kind == "space.left").count() == 4).then_some(())
    })
    .await;
    assert_eq!(
        (count("space.joined"), count("space.left")),
        (4, 4),
        "a change of role is not a join"
    );
    for socket in [&others, &operators] {
        assert!(socket.is_open().await);
        let frames = socket.frames();
        assert!(frames.iter().all(|frame| !frame.kind.starts_with("space.")), "{frames:?}");
    }
}
