//! What can be asked over a socket, and what can't.

use futures::future::join_all;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::{
    routes::{id, text, woken},
    socket::{Frame, Socket},
    stack::Stack,
    waiting::SOON,
};

#[tokio::test]
async fn a_ticket_opens_one_socket_and_nothing_else_opens_any() {
    let stack = Stack::start().await;
    let url = stack.ticket(None).await;
    let socket = Socket::open(&url).await.unwrap();
    assert!(socket.is_open().await);
    assert_eq!(Socket::open(&url).await.err(), Some(401), "a used ticket");
    let (base, ticket) = url.split_once("ticket=").unwrap();
    assert!(ticket.starts_with("tkt_"), "{ticket}");
    let last = if ticket.ends_with('0') { "1" } else { "0" };
    let forged = format!("{base}ticket={}{last}", &ticket[..ticket.len() - 1]);
    for wrong in [forged, format!("{base}ticket="), format!("{base}ticket=nonsense"), base.trim_end_matches(['?', '&']).to_owned()] {
        assert_eq!(Socket::open(&wrong).await.err(), Some(401), "{wrong}");
    }
    assert!(socket.is_open().await, "the first one is not disturbed");
}

#[tokio::test]
async fn a_message_sent_over_a_socket_is_kept_and_wakes() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let agent = stack.agent("Ada", &stack.model.name("ada")).await;
    let space = stack.space("Team", &[&person, &agent]).await;

    let own = stack.socket_of(&person).await;
    let request = json!({ "action": "send", "spaceId": space, "text": "over my socket", "idempotencyKey": "key" });
    let sent = own.request(request.clone()).await;
    assert_eq!((sent["type"].as_str(), sent["seq"].as_u64()), (Some("sent"), Some(1)), "{sent}");
    let again = own.request(request).await;
    assert_eq!((&again["messageId"], &again["seq"]), (&sent["messageId"], &sent["seq"]));

    let operator = stack.socket().await;
    let sent = operator.request(json!({ "action": "send", "spaceId": space, "text": "for another", "senderId": person })).await;
    assert_eq!(sent["seq"], 2, "{sent}");
    let refused = operator.request(json!({ "action": "send", "spaceId": space, "text": "for nobody" })).await;
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
    let (person, model) = (stack.person("Husam").await, stack.model.name("any"));
    let agents = join_all((0..31).map(async |number| stack.agent(&format!("Agent {number}"), &model).await)).await;
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
async fn a_ping_is_answered_with_the_spaces_that_are_ahead() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let (ahead, level) = (stack.space("Ahead", &[&person]).await, stack.space("Level", &[&person]).await);
    for _ in 0..3 {
        stack.post(&ahead, &person, "hello").await;
    }
    stack.post(&level, &person, "hello").await;
    let socket = stack.socket_of(&person).await;
    let pong = socket.request(json!({ "action": "ping", "spaces": { ahead.clone(): 1, level: 1 } })).await;
    assert_eq!((&pong["type"], &pong["spaces"]), (&json!("pong"), &json!({ ahead: 3 })));
}

#[tokio::test]
async fn who_unsubscribed_hears_nothing_more() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let space = stack.space("Alone", &[&person]).await;
    let (leaver, stayer) = (stack.socket().await, stack.socket().await);
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
async fn a_stranger_follows_nothing_and_sends_nothing() {
    let stack = Stack::start().await;
    let (member, stranger) = (stack.person("Husam").await, stack.person("Eve").await);
    let space = stack.space("Private", &[&member]).await;
    let socket = stack.socket_of(&stranger).await;
    for request in [json!({ "action": "subscribe", "spaceId": space }), json!({ "action": "send", "spaceId": space, "text": "let me in" })]
    {
        let refused = socket.request(request.clone()).await;
        assert_eq!((refused["type"].as_str(), refused["status"].as_u64()), (Some("error"), Some(404)), "{request}: {refused}");
    }
    let forged = socket.request(json!({ "action": "send", "spaceId": space, "text": "I am Husam", "senderId": member })).await;
    assert_eq!(forged["type"], "error", "{forged}");
    stack.post(&space, &member, "private").await;
    assert!(socket.is_open().await);
    assert!(socket.frames().iter().all(|frame| !frame.kind.starts_with("message.")));
    assert_eq!(stack.texts(&space).await, ["private"]);
}

#[tokio::test]
async fn what_cannot_be_done_is_answered_and_the_socket_stays_open() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let space = stack.space("Alone", &[&person]).await;
    let socket = stack.socket_of(&person).await;
    let none = "spc_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let requests = [
        json!({ "action": "dance" }),
        json!({}),
        json!({ "action": 5 }),
        json!({ "action": "subscribe" }),
        json!({ "action": "subscribe", "spaceId": "nonsense" }),
        json!({ "action": "subscribe", "spaceId": none }),
        json!({ "action": "subscribe", "spaceId": space, "afterSeq": -1 }),
        json!({ "action": "subscribe", "spaceId": space, "afterSeq": "1" }),
        json!({ "action": "send", "spaceId": space }),
        json!({ "action": "send", "spaceId": space, "text": "" }),
        json!({ "action": "send", "spaceId": space, "text": "nul \0 inside" }),
        json!({ "action": "send", "spaceId": space, "text": "x".repeat(25 * 1024) }),
        json!({ "action": "ping", "spaces": (0..21).map(|n| (format!("spc_01ARZ3NDEKTSV4RRFFQ69G5F{n:02}"), json!(0))).collect::<serde_json::Map<_, _>>() }),
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
        Message::text(json!({ "action": "send", "spaceId": space, "text": "x".repeat(40 * 1024) }).to_string()),
    ];
    for (index, message) in raw.into_iter().enumerate() {
        let before = errors(&socket.frames()).len();
        socket.send(message).await;
        let what = format!("an error for the raw frame {index}");
        assert_is_problem(&socket.until(&what, SOON, |frames| errors(frames).get(before).cloned()).await);
    }
    assert!(socket.is_open().await);
    assert!(stack.messages(&space).await.is_empty(), "nothing was written");
    let sent = socket.request(json!({ "action": "send", "spaceId": space, "text": "still here" })).await;
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
async fn members_who_come_go_and_read_are_told_to_all() {
    let stack = Stack::start().await;
    let (husam, sarah) = (stack.person("Husam").await, stack.person("Sarah").await);
    let space = stack.space("Team", &[&husam]).await;
    let socket = stack.socket_of(&husam).await;
    socket.subscribe(&space, None).await;

    stack.put(&format!("/v1/spaces/{space}/members/{sarah}"), json!({})).await.must_be(200);
    // Husam's own joining may be told late.
    let joined = socket.frame("member.joined", SOON, |frame| frame["member"]["name"] != "Husam").await.body;
    assert_eq!((id(&joined["member"]), &joined["member"]["name"]), (sarah.clone(), &json!("Sarah")));
    stack.post(&space, &sarah, "hello").await;
    let read = stack.put(&format!("/v1/spaces/{space}/read"), json!({ "seq": 1, "entityId": husam })).await;
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
