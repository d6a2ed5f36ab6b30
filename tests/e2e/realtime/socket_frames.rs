//! The requests of a WebSocket client, and their answers.

mod errors;

use futures::future::join_all;
use serde_json::json;

use crate::support::{
    routes::{id, text, triggered_run},
    socket::Socket,
    stack::Stack,
    waiting::SOON,
};

#[tokio::test]
async fn a_ticket_opens_one_socket_and_forged_tickets_open_none() {
    let stack = Stack::start().await;
    let url = stack.ticket(None).await;
    let socket = Socket::open(&url).await.unwrap();
    assert!(socket.is_open().await);
    assert_eq!(Socket::open(&url).await.err(), Some(401), "a used ticket");
    let (base, ticket) = url.split_once("ticket=").unwrap();
    assert!(ticket.starts_with("tkt_"), "{ticket}");
    let last = if ticket.ends_with('0') { "1" } else { "0" };
    let forged = format!("{base}ticket={}{last}", &ticket[..ticket.len() - 1]);
    for wrong in [
        forged,
        format!("{base}ticket="),
        format!("{base}ticket=nonsense"),
        base.trim_end_matches(['?', '&']).to_owned(),
    ] {
        assert_eq!(Socket::open(&wrong).await.err(), Some(401), "{wrong}");
    }
    assert!(socket.is_open().await, "the refused attempts closed the first socket");
}

#[tokio::test]
async fn a_message_sent_over_a_socket_is_stored_and_triggers_agents() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let agent = stack.agent("Ada", &stack.model.name("ada")).await;
    let space = stack.space("Team", &[&person, &agent]).await;

    let own = stack.socket_of(&person).await;
    let request = json!({
        "action": "send",
        "spaceId": space,
        "text": "over my socket",
        "idempotencyKey": "key",
    });
    let sent = own.request(request.clone()).await;
    assert_eq!((sent["type"].as_str(), sent["seq"].as_u64()), (Some("sent"), Some(1)), "{sent}");
    let again = own.request(request).await;
    assert_eq!((&again["messageId"], &again["seq"]), (&sent["messageId"], &sent["seq"]));

    let operator = stack.socket().await;
    let for_another = json!({
        "action": "send",
        "spaceId": space,
        "text": "for another",
        "senderId": person,
    });
    let sent = operator.request(for_another).await;
    assert_eq!(sent["seq"], 2, "{sent}");
    let refused =
        operator.request(json!({ "action": "send", "spaceId": space, "text": "for nobody" })).await;
    assert_eq!(refused["type"], "error", "{refused}");

    let messages = stack.messages(&space).await;
    assert_eq!(messages.iter().map(text).collect::<Vec<_>>(), ["over my socket", "for another"]);
    assert_eq!(messages[1]["id"], sent["messageId"]);
    for message in &messages {
        assert_eq!(message["sender"], json!({ "id": person, "name": "Husam", "type": "human" }));
        assert!(triggered_run(message, &agent).is_some());
    }
    stack.quiet(&space).await;
}

#[tokio::test]
async fn a_message_sent_over_a_socket_triggers_more_agents_than_a_transaction_holds() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let model = stack.model.name("any");
    let agents =
        join_all((0..31).map(async |number| stack.agent(&format!("Agent {number}"), &model).await))
            .await;
    let members: Vec<&String> = agents.iter().chain([&person]).collect();
    let space = stack.space("Crowd", &members).await;
    let own = stack.socket_of(&person).await;
    own.request(json!({ "action": "send", "spaceId": space, "text": "All of you" })).await;
    stack.quiet(&space).await;
    let message = stack.messages(&space).await.swap_remove(0);
    assert!(agents.iter().all(|agent| triggered_run(&message, agent).is_some()), "{message}");
    assert_eq!(stack.runs_of(&space).await.len(), 31);
}

#[tokio::test]
async fn a_pong_lists_the_spaces_that_have_newer_messages() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let ahead = stack.space("Ahead", &[&person]).await;
    let level = stack.space("Level", &[&person]).await;
    for _ in 0..3 {
        stack.post(&ahead, &person, "hello").await;
    }
    stack.post(&level, &person, "hello").await;
    let socket = stack.socket_of(&person).await;
    let pong =
        socket.request(json!({ "action": "ping", "spaces": { ahead.clone(): 1, level: 1 } })).await;
    assert_eq!((&pong["type"], &pong["spaces"]), (&json!("pong"), &json!({ ahead: 3 })));
}

#[tokio::test]
async fn after_unsubscribe_no_frames_of_the_space_arrive() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let space = stack.space("Alone", &[&person]).await;
    let leaver = stack.socket().await;
    let stayer = stack.socket().await;
    leaver.subscribe(&space, None).await;
    stayer.subscribe(&space, None).await;
    let first = stack.post(&space, &person, "first").await;
    leaver.frame("message.created", SOON, |frame| frame["message"]["id"] == first["id"]).await;
    let answer = leaver.request(json!({ "action": "unsubscribe", "spaceId": space })).await;
    assert_eq!((&answer["type"], &answer["spaceId"]), (&json!("unsubscribed"), &json!(space)));

    let second = stack.post(&space, &person, "second").await;
    stayer.frame("message.created", SOON, |frame| frame["message"]["id"] == second["id"]).await;
    assert!(leaver.is_open().await);
    assert_eq!(leaver.view(&space).texts(), ["first"]);
}

#[tokio::test]
async fn an_older_frame_about_a_subscription_changes_nothing() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let space = stack.space("Alone", &[&person]).await;
    let socket = stack.socket_of(&person).await;
    let ask = async |action: &str, n: u64| {
        let request = json!({ "action": action, "spaceId": space, "n": n });
        socket.request(request).await["type"].clone()
    };
    assert_eq!(ask("subscribe", 2).await, "subscribed");
    assert_eq!(ask("unsubscribe", 1).await, "subscribed", "the answer says what holds");
    let first = stack.post(&space, &person, "first").await;
    socket.frame("message.created", SOON, |frame| frame["message"]["id"] == first["id"]).await;

    assert_eq!(ask("unsubscribe", 4).await, "unsubscribed");
    assert_eq!(ask("subscribe", 3).await, "unsubscribed");
    assert_eq!(ask("subscribe", 4).await, "unsubscribed", "a counter is used once");
    let stayer = stack.socket().await;
    stayer.subscribe(&space, None).await;
    let second = stack.post(&space, &person, "second").await;
    stayer.frame("message.created", SOON, |frame| frame["message"]["id"] == second["id"]).await;
    assert!(socket.is_open().await);
    assert_eq!(socket.view(&space).texts(), ["first"]);

    assert_eq!(ask("subscribe", 5).await, "subscribed");
    let third = stack.post(&space, &person, "third").await;
    socket.frame("message.created", SOON, |frame| frame["message"]["id"] == third["id"]).await;
}

#[tokio::test]
async fn membership_and_read_changes_are_sent_to_subscribers() {
    let stack = Stack::start().await;
    let husam = stack.person("Husam").await;
    let sarah = stack.person("Sarah").await;
    let space = stack.space("Team", &[&husam]).await;
    let socket = stack.socket_of(&husam).await;
    socket.subscribe(&space, None).await;

    stack.put(&format!("/v1/spaces/{space}/members/{sarah}"), json!({})).await.must_be(200);
    // The frame of Husam's own joining may still arrive.
    let joined =
        socket.frame("member.joined", SOON, |frame| frame["member"]["name"] != "Husam").await.body;
    assert_eq!(
        (id(&joined["member"]), &joined["member"]["name"]),
        (sarah.clone(), &json!("Sarah"))
    );
    stack.post(&space, &sarah, "hello").await;
    let read = stack
        .put(&format!("/v1/spaces/{space}/read"), json!({ "seq": 1, "entityId": husam }))
        .await;
    assert!(read.status < 300, "{}", read.text);
    let read = socket.frame("space.read", SOON, |_| true).await.body;
    assert_eq!((&read["entityId"], &read["seq"]), (&json!(husam), &json!(1)));
    stack.patch(&format!("/v1/spaces/{space}"), json!({ "name": "Crew" })).await.must_be(200);
    let updated = socket.frame("space.updated", SOON, |_| true).await.body;
    assert_eq!(updated["space"]["name"], "Crew");
    stack.delete(&format!("/v1/spaces/{space}/members/{sarah}")).await.must_be(204);
    let left = socket.frame("member.left", SOON, |_| true).await.body;
    assert_eq!(left["entityId"], sarah.as_str());
    stack.delete(&format!("/v1/spaces/{space}")).await.must_be(204);
    socket.frame("space.deleted", SOON, |_| true).await;
}
