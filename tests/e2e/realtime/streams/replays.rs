//! What a client receives after it reconnects, and messages that are too long for a frame.

use serde_json::Value;

use crate::support::{
    model::say,
    routes::{id, seq},
    stack::Stack,
    waiting::SOON,
};

#[tokio::test]
async fn a_client_that_reconnects_with_after_seq_receives_every_message_once() {
    let stack = Stack::start().await;
    stack.model.replies("ada", |request| say(&format!("re: {}", request.trigger_text())));
    let (person, agent, space) = stack.pair().await;
    stack.side_by_side(&agent).await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, Some(0)).await;
    for number in 0..3 {
        stack.post(&space, &person, &format!("before {number}")).await;
    }
    stack.quiet(&space).await;
    let shown = socket
        .shows(&space, "six messages", SOON, |view| {
            (view.messages.len() == 6).then(|| view.clone())
        })
        .await;
    let last = *shown.messages.keys().last().unwrap();
    drop(socket);

    for number in 0..3 {
        stack.post(&space, &person, &format!("meanwhile {number}")).await;
    }
    let again = stack.socket_of(&person).await;
    let subscribed = again.subscribe(&space, Some(last)).await;
    assert_eq!(subscribed["from"], last + 1);
    stack.post(&space, &person, "after").await;
    stack.quiet(&space).await;

    let expected = stack.messages(&space).await;
    assert_eq!(expected.len(), 14);
    again
        .shows(&space, "the other eight", SOON, |view| (view.messages.len() == 8).then_some(()))
        .await;
    let mut both = shown;
    both.messages.extend(again.view(&space).messages);
    let ids = |messages: Vec<&Value>| messages.into_iter().map(id).collect::<Vec<_>>();
    assert_eq!(ids(both.messages.values().collect()), ids(expected.iter().collect()));
}

#[tokio::test]
async fn a_replay_is_limited_to_200_messages_and_names_its_first_seq() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let space = stack.space("Alone", &[&person]).await;
    let early = stack.socket().await;
    early.subscribe(&space, None).await;
    for number in 1..=230 {
        stack.post(&space, &person, &format!("message {number}")).await;
    }
    // Wait until all are broadcast: a late broadcast would come in addition to the replay.
    early.shows(&space, "all 230", SOON, |view| (view.messages.len() == 230).then_some(())).await;
    let socket = stack.socket().await;
    let subscribed = socket.subscribe(&space, Some(5)).await;
    assert_eq!((subscribed["seq"].as_u64(), subscribed["from"].as_u64()), (Some(230), Some(31)));
    socket
        .shows(&space, "200 messages", SOON, |view| (view.messages.len() == 200).then_some(()))
        .await;
    let created: Vec<u64> = socket
        .frames()
        .iter()
        .filter(|frame| frame.kind == "message.created" && frame.body["spaceId"] == space.as_str())
        .map(|frame| seq(&frame.body["message"]))
        .collect();
    assert_eq!(created.len(), 200, "a message was replayed twice or not at all");
    assert_eq!(
        socket.view(&space).messages.keys().copied().collect::<Vec<_>>(),
        (31..=230).collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn a_message_longer_than_a_frame_is_truncated_and_marked() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let space = stack.space("Alone", &[&person]).await;
    let socket = stack.socket().await;
    socket.subscribe(&space, None).await;
    // Control characters take six bytes each in JSON.
    for long in ["ä".repeat(16_000), "\u{1}".repeat(30_000)] {
        let message = stack.post(&space, &person, &long).await;
        assert_eq!(message["parts"][0]["text"], long.as_str());
        let frame = socket
            .frame("message.created", SOON, |frame| frame["message"]["id"] == message["id"])
            .await;
        assert_eq!(frame.body["message"]["truncated"], true);
        let cut = frame.body["message"]["parts"][0]["text"].as_str().unwrap();
        assert!(long.starts_with(cut) && !cut.is_empty());
    }
}
