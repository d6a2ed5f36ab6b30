//! The list of spaces: by activity, with the last message and with what its reader has not read.

use serde_json::{Value, json};

use crate::support::{
    client::Client,
    model::{answer, call, say, stop},
    routes::{id, seq},
    socket::Socket,
    stack::Stack,
    waiting::{SOON, wait_for},
};

async fn listed(client: &Client, path: &str) -> Vec<String> {
    client.all(path).await.iter().map(id).collect()
}

async fn shown(client: &Client, space: &str) -> Value {
    client.get(&format!("/v1/spaces/{space}")).await.must_be(200)
}

async fn activity(socket: &Socket, space: &str, seq: u64) -> Value {
    let fits = |frame: &Value| frame["spaceId"] == *space && frame["seq"] == seq;
    socket.frame("space.activity", SOON, fits).await.body
}

#[tokio::test]
async fn the_space_with_the_newest_message_comes_first() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let sara = stack.person("Sara").await;
    let mut spaces = Vec::new();
    for number in 0..5 {
        spaces.push(stack.space(&format!("Space {number}"), &[&sara]).await);
    }
    let hers = stack.as_entity(&sara);
    let newest_first: Vec<_> = spaces.iter().rev().cloned().collect();
    assert_eq!(listed(&stack, "/v1/spaces").await, newest_first);
    assert_eq!(listed(&hers, "/v1/spaces").await, newest_first);
    // The first message of a space moves it at once, and a reload keeps that.
    stack.post(&spaces[0], &sara, "we are down").await;
    let expected = [0, 4, 3, 2, 1].map(|number: usize| spaces[number].clone());
    for client in [&*stack, &hers] {
        for path in ["/v1/spaces", "/v1/spaces?limit=2", "/v1/spaces?limit=1"] {
            assert_eq!(listed(client, path).await, expected, "{path}");
        }
    }
}

#[tokio::test]
async fn a_space_that_moves_while_a_reader_pages_is_not_missed() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let sara = stack.person("Sara").await;
    let mut spaces = Vec::new();
    for number in 0..4 {
        spaces.push(stack.space(&format!("Space {number}"), &[&sara]).await);
    }
    let hers = stack.as_entity(&sara);
    for (client, moved) in [(&*stack, 0), (&hers, 1)] {
        let first = client.get("/v1/spaces?limit=2").await.must_be(200);
        // It was on the next page.
        stack.post(&spaces[moved], &sara, "news").await;
        let mut seen: Vec<String> = first["items"].as_array().unwrap().iter().map(id).collect();
        let mut cursor = first["nextCursor"].as_str().map(str::to_owned);
        while let Some(next) = cursor {
            let path = format!("/v1/spaces?limit=2&cursor={next}");
            let page = client.get(&path).await.must_be(200);
            seen.extend(page["items"].as_array().unwrap().iter().map(id));
            cursor = page["nextCursor"].as_str().map(str::to_owned);
        }
        assert!(spaces.iter().all(|space| seen.contains(space)), "{spaces:?} {seen:?}");
    }
    let made_up = hers.get("/v1/spaces?cursor=nonsense").await;
    assert_eq!(made_up.status, 400);
}

#[tokio::test]
async fn the_last_message_is_shown_in_short_and_a_deleted_text_is_gone() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let sara = stack.person("Sara").await;
    let space = stack.space("Team", &[&sara]).await;
    let hers = stack.as_entity(&sara);
    assert!(shown(&hers, &space).await["lastMessage"].is_null());
    stack.post(&space, &sara, &"é".repeat(81)).await;
    let last = stack.post(&space, &sara, "the secret word").await;
    let space_now = shown(&hers, &space).await;
    let sender = json!({"id": sara, "name": "Sara", "type": "human"});
    let expected = json!({
        "seq": 2, "at": last["createdAt"], "sender": sender, "excerpt": "the secret word",
    });
    assert_eq!(space_now["lastMessage"], expected);
    assert_eq!(hers.get("/v1/spaces").await.must_be(200)["items"], json!([space_now]));

    stack.delete_message(&space, 2).await.must_be(204);
    let gone = shown(&hers, &space).await["lastMessage"].clone();
    assert_eq!(gone["excerpt"], Value::Null);
    assert_eq!((&gone["seq"], &gone["deleted"]), (&json!(2), &json!(true)));
    let long = stack.post(&space, &sara, &"é".repeat(81)).await;
    let cut = shown(&hers, &space).await["lastMessage"]["excerpt"].clone();
    assert_eq!((cut, seq(&long)), (json!("é".repeat(80)), 3));
}

#[tokio::test]
async fn cards_do_not_count_as_unread() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let sara = stack.person("Sara").await;
    let husam = stack.person("Husam").await;
    let model = stack.model.name("ada");
    let form = json!({
        "name": "confirm",
        "description": "Ask people.",
        "inputSchema": {"type": "object"},
        "execution": {"type": "space"},
    });
    let agent = json!({ "model": {"provider": "openai", "name": model}, "tools": [form] });
    let ada = stack.agent_with("Ada", agent).await;
    let space = stack.space("Team", &[&sara, &husam, &ada]).await;
    stack.model.plays("ada", [answer([call("confirm", json!({}))]), say("Thanks.").into(), stop()]);
    stack.post(&space, &husam, "Ask.").await;
    let hers = stack.as_entity(&sara);
    let asked = async |client: &Client| {
        let inbox = client.get("/v1/inbox").await.must_be(200);
        inbox["items"].as_array().unwrap().first().cloned()
    };
    let card = wait_for("a card", SOON, async || asked(&hers).await).await;
    let before = shown(&hers, &space).await;
    assert_eq!((&before["seq"], &before["cards"]), (&json!(2), &json!(1)));
    assert_eq!(before["me"], json!({"readSeq": 0, "readCards": 0, "unread": 1}));
    assert_eq!(before["lastMessage"]["excerpt"], "confirm");
    let path = format!("/v1/spaces/{space}/read");
    let read = hers.put(&path, json!({"seq": 1})).await.must_be(200);
    assert_eq!(read, json!({"entityId": sara, "seq": 1, "cards": 0}));
    assert_eq!(shown(&hers, &space).await["me"]["unread"], 0);

    let (run, call) = (card["runId"].as_str().unwrap(), card["callId"].as_str().unwrap());
    let result = format!("/v1/runs/{run}/toolCalls/{call}/result");
    hers.create(&result, json!({"output": {"ok": true}})).await.must_be(202);
    stack.quiet(&space).await;
    let after = shown(&hers, &space).await;
    assert_eq!((&after["seq"], &after["cards"]), (&json!(3), &json!(1)));
    assert_eq!(after["me"], json!({"readSeq": 1, "readCards": 0, "unread": 1}));
    let read = hers.put(&path, json!({"seq": 3})).await.must_be(200);
    assert_eq!(read, json!({"entityId": sara, "seq": 3, "cards": 1}));
    let me = json!({"readSeq": 3, "readCards": 1, "unread": 0});
    assert_eq!(shown(&hers, &space).await["me"], me);
}

#[tokio::test]
async fn the_operator_has_a_mark_of_its_own_that_only_it_sees() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let sara = stack.person("Sara").await;
    let space = stack.space("Team", &[&sara]).await;
    for text in ["one", "two", "three"] {
        stack.post(&space, &sara, text).await;
    }
    let never = shown(&stack, &space).await;
    assert_eq!((&never["me"], &never["looked"]), (&Value::Null, &Value::Null));
    let path = format!("/v1/spaces/{space}/read");
    let look = async |seq: u64| {
        let looked = stack.put(&path, json!({"seq": seq})).await.must_be(200);
        assert_eq!(looked["entityId"], Value::Null);
        looked["seq"].as_u64().unwrap()
    };
    assert_eq!(look(2).await, 2);
    assert_eq!(look(1).await, 2, "it moves forward only");
    assert_eq!(shown(&stack, &space).await["looked"], json!({"seq": 2, "cards": 0}));
    assert_eq!(look(99).await, 3, "there is nothing after the last message");
    // A change of the settings keeps it.
    stack.patch(&format!("/v1/spaces/{space}"), json!({"name": "Crew"})).await.must_be(200);
    let listed = stack.get("/v1/spaces").await.must_be(200)["items"][0].clone();
    assert_eq!((&listed["name"], &listed["looked"]["seq"]), (&json!("Crew"), &json!(3)));
    let hers = shown(&stack.as_entity(&sara), &space).await;
    assert_eq!(hers.get("looked"), None);
    let no_space = "/v1/spaces/spc_01ARZ3NDEKTSV4RRFFQ69G5FAV/read";
    assert_eq!(stack.put(no_space, json!({"seq": 1})).await.status, 404);
}

#[tokio::test]
async fn who_does_not_follow_a_space_learns_of_its_news_once_a_minute() {
    let stack = Stack::start().await;
    let [sara, husam, eve] = ["Sara", "Husam", "Eve"];
    let [sara, husam] = [stack.person(sara).await, stack.person(husam).await];
    let eve = stack.person(eve).await;
    let space = stack.space("Team", &[&sara, &husam]).await;
    let hers = stack.socket_of(&sara).await;
    let his = stack.socket_of(&husam).await;
    let operator = stack.socket().await;
    let stranger = stack.socket_of(&eve).await;
    his.subscribe(&space, None).await;

    let first = stack.post(&space, &husam, "we are down").await;
    for socket in [&hers, &operator] {
        let frame = activity(socket, &space, 1).await;
        assert_eq!(frame["cards"], 0);
        let last = &frame["lastMessage"];
        assert_eq!((&last["seq"], &last["at"]), (&json!(1), &first["createdAt"]));
        assert_eq!(last["excerpt"], "we are down");
        assert_eq!(last["sender"]["id"], husam.as_str());
    }
    stack.post(&space, &husam, "help").await;
    his.frame("message.created", SOON, |frame| frame["message"]["seq"] == 2).await;
    // A deleted last message is shown at once.
    stack.delete_message(&space, 2).await.must_be(204);
    let gone = activity(&hers, &space, 2).await["lastMessage"].clone();
    assert_eq!((&gone["excerpt"], &gone["deleted"]), (&Value::Null, &json!(true)));
    let count = |socket: &Socket| {
        socket.frames().iter().filter(|frame| frame.kind == "space.activity").count()
    };
    let counts = [&hers, &operator, &his, &stranger].map(count);
    assert_eq!(counts[0], 2, "one for the first message and one for the deletion");
    assert_eq!(counts[2..], [0, 0], "followers and strangers get none");
}
