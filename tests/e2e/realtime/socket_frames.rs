//! The requests of a WebSocket client, their answers, and their errors.

use futures::future::join_all;
use serde_json::{Map, Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::support::{
    routes::{id, text, woken},
    socket::{Frame, Socket},
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
async fn a_message_sent_over_a_socket_is_stored_and_wakes_agents() {
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
        assert!(woken(message, &agent).is_some());
    }
    stack.quiet(&space).await;
}

#[tokio::test]
async fn a_message_sent_over_a_socket_wakes_more_agents_than_a_transaction_holds() {
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
    assert!(agents.iter().all(|agent| woken(&message, agent).is_some()), "{message}");
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
async fn only_members_can_subscribe_and_send() {
    let stack = Stack::start().await;
    let member = stack.person("Husam").await;
    let stranger = stack.person("Eve").await;
    let space = stack.space("Private", &[&member]).await;
    let socket = stack.socket_of(&stranger).await;
    for request in [
        json!({ "action": "subscribe", "spaceId": space }),
        json!({ "action": "send", "spaceId": space, "text": "let me in" }),
    ] {
        let refused = socket.request(request.clone()).await;
        assert_eq!(
            (refused["type"].as_str(), refused["status"].as_u64()),
            (Some("error"), Some(404)),
            "{request}: {refused}"
        );
    }
    let forged_request = json!({
        "action": "send",
        "spaceId": space,
        "text": "I am Husam",
        "senderId": member,
    });
    let forged = socket.request(forged_request).await;
    assert_eq!(forged["type"], "error", "{forged}");
    stack.post(&space, &member, "private").await;
    assert!(socket.is_open().await);
    assert!(socket.frames().iter().all(|frame| !frame.kind.starts_with("message.")));
    assert_eq!(stack.texts(&space).await, ["private"]);
}

#[tokio::test]
async fn bad_frames_are_answered_with_errors_and_leave_the_socket_open() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let space = stack.space("Alone", &[&person]).await;
    let socket = stack.socket_of(&person).await;
    let missing = "spc_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let many_spaces: Map<_, _> =
        (0..21).map(|n| (format!("spc_01ARZ3NDEKTSV4RRFFQ69G5F{n:02}"), json!(0))).collect();
    let requests = [
        json!({ "action": "dance" }),
        json!({}),
        json!({ "action": 5 }),
        json!({ "action": "subscribe" }),
        json!({ "action": "subscribe", "spaceId": "nonsense" }),
        json!({ "action": "subscribe", "spaceId": missing }),
        json!({ "action": "subscribe", "spaceId": space, "afterSeq": -1 }),
        json!({ "action": "subscribe", "spaceId": space, "afterSeq": "1" }),
        json!({ "action": "send", "spaceId": space }),
        json!({ "action": "send", "spaceId": space, "text": "" }),
        json!({ "action": "send", "spaceId": space, "text": "nul \0 inside" }),
        json!({ "action": "send", "spaceId": space, "text": "x".repeat(25 * 1024) }),
        json!({ "action": "ping", "spaces": many_spaces }),
    ];
    for request in requests {
        let shown = format!("{request:.200}");
        let answer = socket.request(request).await;
        assert_eq!(answer["type"], "error", "{shown}: {answer}");
        assert_is_problem(&answer);
    }
    let raw = [
        Message::text("no JSON at all"),
        Message::text("[1, 2"),
        Message::text("null"),
        Message::text("[".repeat(20_000)),
        Message::binary(vec![0_u8, 159, 146, 150]),
        Message::text(
            json!({ "action": "send", "spaceId": space, "text": "x".repeat(40 * 1024) })
                .to_string(),
        ),
    ];
    for (index, message) in raw.into_iter().enumerate() {
        let before = errors(&socket.frames()).len();
        socket.send(message).await;
        let what = format!("an error for the raw frame {index}");
        assert_is_problem(
            &socket.until(&what, SOON, |frames| errors(frames).get(before).cloned()).await,
        );
    }
    assert!(socket.is_open().await);
    assert!(stack.messages(&space).await.is_empty(), "a bad frame stored a message");
    let sent =
        socket.request(json!({ "action": "send", "spaceId": space, "text": "still here" })).await;
    assert_eq!(sent["type"], "sent", "{sent}");
}

fn errors(frames: &[Frame]) -> Vec<Value> {
    frames.iter().filter(|frame| frame.kind == "error").map(|frame| frame.body.clone()).collect()
}

fn assert_is_problem(answer: &Value) {
    let status = answer["status"].as_u64().unwrap_or(0);
    assert!((400..500).contains(&status), "{answer}");
    assert!(answer["title"].is_string() && answer["detail"].is_string(), "{answer}");
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
