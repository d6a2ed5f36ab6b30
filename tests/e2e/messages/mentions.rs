//! Mentions: whom a text triggers and names, the list of a person, and the frame `mention`.

use serde_json::{Value, json};

use crate::support::{
    routes::{id, seq},
    socket::Socket,
    stack::Stack,
    waiting::SOON,
};

/// The names of the agents that a message triggered by a mention.
fn mentioned<'a>(message: &Value, agents: &[(&'a str, String)]) -> Vec<&'a str> {
    let entries = message["dispatch"].as_array().unwrap();
    let is_mentioned =
        |agent: &str| entries.iter().any(|it| it["agentId"] == agent && it["source"] == "mention");
    agents.iter().filter(|(_, id)| is_mentioned(id)).map(|(name, _)| *name).collect()
}

#[tokio::test]
async fn agents_are_mentioned_in_every_script_and_not_in_code_or_addresses() {
    let stack = Stack::start().await;
    let person = stack.person("Sara").await;
    let mut agents = Vec::new();
    for name in ["Ada", "小明", "Zo\u{eb}", "Zoe", "Stra\u{df}e", "Data Analyst"] {
        agents.push((name, stack.agent(name, &stack.model.name("silent")).await));
    }
    let members: Vec<&String> = agents.iter().map(|(_, id)| id).chain([&person]).collect();
    let settings = json!({"triggerPolicy": "mention"});
    let space = stack.space_with("Garden", &members, settings).await;
    let everybody: Vec<&str> = agents.iter().map(|(name, _)| *name).collect();
    for (text, expected) in [
        ("\u{8bf7}@Ada\u{770b}, @小明看一下", vec!["Ada", "小明"]),
        ("\u{ff20}ada _@Ada_", vec!["Ada"]),
        ("@Zoe\u{308}", vec!["Zo\u{eb}"]),
        ("@STRASSE", vec!["Stra\u{df}e"]),
        ("@data\u{a0}analyst", vec!["Data Analyst"]),
        ("@all", everybody),
        ("`@Ada`, jane@ada.com, npm i @ada/cli", vec![]),
        ("https://medium.com/@ada/x @all-contributors", vec![]),
        ("```\n@Ada\n```", vec![]),
    ] {
        let message = stack.post(&space, &person, text).await;
        assert_eq!(mentioned(&message, &agents), expected, "{text}");
    }
    let message = stack.post(&space, &person, "\u{1f600} @Ada and @all").await;
    let expected = json!([
        {"entityId": agents[0].1, "start": 3, "end": 7},
        {"all": true, "start": 12, "end": 16},
    ]);
    assert_eq!(message["mentions"], expected);
    let stored = stack.messages(&space).await.pop().unwrap();
    assert_eq!(stored["mentions"], expected);
    assert_eq!(stack.messages(&space).await[6].get("mentions"), None);
    stack.quiet(&space).await;
}

#[tokio::test]
async fn two_agents_of_a_space_have_different_names_for_mentions() {
    let stack = Stack::start().await;
    let mut agents = Vec::new();
    for name in ["Zo\u{eb}", "ZOE\u{308}", "Zoe"] {
        agents.push(stack.agent(name, &stack.model.name("silent")).await);
    }
    let space = stack.space("Garden", &[&agents[0]]).await;
    let join = async |agent: &str| {
        stack.put(&format!("/v1/spaces/{space}/members/{agent}"), json!({})).await
    };
    join(&agents[1]).await.must_be(409);
    let both = json!({"name": "Garden", "members": [agents[0], agents[1]]});
    stack.create("/v1/spaces", both).await.must_be(409);
    join(&agents[2]).await.must_be(200);
}

/// Waits for the frames of a message that names the connection's person, and of one that replies
/// to it.
async fn get_frames(socket: &Socket, space: &str, [named, reply]: [&Value; 2]) {
    let is_of = |message: &Value| {
        let message = id(message);
        move |frame: &Value| frame["messageId"] == message.as_str()
    };
    let frame = socket.frame("mention", SOON, is_of(named)).await.body;
    let expected = json!({
        "type": "mention",
        "spaceId": space,
        "at": frame["at"],
        "messageId": named["id"],
        "seq": named["seq"],
        "why": "mention",
        "sender": named["sender"],
    });
    assert_eq!(frame, expected);
    let frame = socket.frame("mention", SOON, is_of(reply)).await.body;
    assert_eq!(frame["why"], "reply");
}

#[tokio::test]
async fn people_find_the_messages_that_name_or_answer_them() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let [sara, omar] = [stack.person("Sara").await, stack.person("Omar").await];
    let agent = stack.agent("Ada", &stack.model.name("silent")).await;
    let settings = json!({"triggerPolicy": "mention"});
    let space = stack.space_with("Garden", &[&sara, &omar, &agent], settings).await;
    // He follows nothing.
    let socket = stack.socket_of(&omar).await;
    let question = stack.post(&space, &omar, "When, @Omar? @all").await;
    let named = stack.post(&space, &sara, "@omar, @Omar: today.").await;
    let body = json!({"text": "At nine.", "senderId": sara, "replyTo": seq(&question)});
    let reply = stack.post_body(&space, &body).await;
    stack.post(&space, &sara, "@Ada and @all, not Omar.").await;

    let as_omar = stack.as_entity(&omar);
    let page = as_omar.get("/v1/mentions").await.must_be(200);
    let listed: Vec<_> = page["items"].as_array().unwrap().clone();
    let short = listed.iter().map(|it| (it["why"].as_str().unwrap(), seq(&it["message"])));
    assert_eq!(
        short.collect::<Vec<_>>(),
        [("reply", seq(&reply)), ("mention", seq(&named))],
        "newest first, each once, and not his own"
    );
    assert_eq!(listed[1]["spaceId"], space.as_str());
    assert_eq!(listed[1]["spaceName"], "Garden");
    assert_eq!(listed[1]["message"]["parts"], named["parts"]);
    for other in [&sara, &agent] {
        let page = stack.as_entity(other).get("/v1/mentions").await.must_be(200);
        assert_eq!(page, json!({"items": [], "nextCursor": null}));
    }
    let first = as_omar.get("/v1/mentions?limit=1").await.must_be(200);
    let cursor = first["nextCursor"].as_str().unwrap();
    let second = as_omar.get(&format!("/v1/mentions?limit=1&cursor={cursor}")).await.must_be(200);
    assert_eq!([&first["items"][0], &second["items"][0]], [&listed[0], &listed[1]]);
    assert_eq!(second["nextCursor"], Value::Null);
    as_omar.get("/v1/mentions?cursor=x").await.must_be(400);

    get_frames(&socket, &space, [&named, &reply]).await;
    stack.quiet(&space).await;
    let frames = socket.frames().into_iter().filter(|frame| frame.kind == "mention");
    assert_eq!(frames.count(), 2);

    // Those of a space that he has left are not his any longer.
    stack.delete(&format!("/v1/spaces/{space}/members/{omar}")).await.must_be(204);
    let page = as_omar.get("/v1/mentions").await.must_be(200);
    assert_eq!(page["items"], json!([]));
}
