//! Reactions: who may give them, how often they count, and what they wake.

use std::{collections::BTreeMap, time::Instant};

use futures::future::join_all;
use serde_json::{Value, json};

use crate::support::{
    client::{Client, Reply},
    model::{answer, call, stop},
    routes::{seq, triggered_run},
    socket::Frame,
    stack::Stack,
    waiting::SOON,
};

/// Lets a member react to a message, or take a reaction back.
async fn react(stack: &Client, message: (&str, u64), by: &str, emoji: &str, on: bool) -> Reply {
    let (space, seq) = message;
    let body = json!({"emoji": emoji, "on": on, "senderId": by});
    stack.put(&format!("/v1/spaces/{space}/messages/{seq}/reactions"), body).await
}

fn given(emoji: &str, by: &[&String]) -> Value {
    json!({"emoji": emoji, "count": by.len(), "entityIds": by})
}

/// The newest reactions to each message, as a connection has received them.
fn received(frames: &[Frame]) -> BTreeMap<u64, Value> {
    let mut newest: BTreeMap<u64, Value> = BTreeMap::new();
    for frame in frames.iter().filter(|frame| frame.kind == "reactions") {
        for item in frame.body["items"].as_array().unwrap() {
            let known = newest.entry(seq(item)).or_default();
            if known["reactionsRev"].as_u64() < item["reactionsRev"].as_u64() {
                *known = item.clone();
            }
        }
    }
    newest
}

#[tokio::test]
async fn a_reaction_counts_once_and_raises_no_revision_of_its_message() {
    let stack = Stack::start().await;
    let [husam, sara] = ["Husam", "Sara"].map(|name| stack.person(name));
    let (husam, sara) = tokio::join!(husam, sara);
    let space = stack.space("Team", &[&husam, &sara]).await;
    let message = stack.post(&space, &husam, "Deploy, please.").await;
    assert_eq!(message.get("reactions"), None);
    let first = (space.as_str(), 1);
    let none = react(&stack, first, &sara, "👍", false).await.must_be(200);
    assert_eq!(none, json!({"seq": 1, "reactions": [], "reactionsRev": 0}));
    for _ in 0..2 {
        let shown = react(&stack, first, &sara, "❤", true).await.must_be(200);
        let reactions = json!([given("❤\u{fe0f}", &[&sara])]);
        assert_eq!(shown, json!({"seq": 1, "reactions": reactions, "reactionsRev": 1}));
    }
    react(&stack, first, &husam, "🎉", true).await.must_be(200);
    let shown = react(&stack, first, &husam, "❤\u{fe0f}", true).await.must_be(200);
    let both = json!([given("❤\u{fe0f}", &[&sara, &husam]), given("🎉", &[&husam])]);
    assert_eq!(shown["reactions"], both);
    let listed = &stack.messages(&space).await[0];
    assert_eq!((&listed["reactions"], &listed["reactionsRev"]), (&both, &json!(3)));
    assert_eq!((&listed["rev"], &listed["updatedAt"]), (&message["rev"], &message["updatedAt"]));
    for (by, emoji) in [(&sara, "❤"), (&husam, "❤"), (&husam, "🎉")] {
        react(&stack, first, by, emoji, false).await.must_be(200);
    }
    let listed = &stack.messages(&space).await[0];
    assert_eq!((listed.get("reactions"), &listed["reactionsRev"]), (None, &json!(6)));
}

#[tokio::test]
async fn a_reaction_is_one_emoji_to_a_message_that_exists() {
    let stack = Stack::start().await;
    let husam = stack.person("Husam").await;
    let space = stack.space("Team", &[&husam]).await;
    stack.post(&space, &husam, "Hello.").await;
    for emoji in ["", "ok", "👍👍", ":+1:"] {
        let refused = react(&stack, (&space, 1), &husam, emoji, true).await.must_be(422);
        let got = if emoji.is_empty() { ", got none" } else { "" };
        let detail = format!("expected one emoji, such as 👍{got}");
        assert_eq!(refused["errors"], json!([{"pointer": "/emoji", "detail": detail}]));
    }
    let path = format!("/v1/spaces/{space}/messages/1/reactions");
    let refused = stack.put(&path, json!({"senderId": husam})).await.must_be(422);
    let expected =
        json!([{"pointer": "/emoji", "detail": "expected one emoji, such as 👍, got none"}]);
    assert_eq!(refused["errors"], expected);
    react(&stack, (&space, 2), &husam, "👍", true).await.must_be(404);
    let codes = (0x1F400..0x1F415).map(|code| char::from_u32(code).unwrap().to_string());
    let animals: Vec<String> = codes.collect();
    for animal in &animals[..20] {
        react(&stack, (&space, 1), &husam, animal, true).await.must_be(200);
    }
    let refused = react(&stack, (&space, 1), &husam, &animals[20], true).await.must_be(409);
    assert_eq!(
        refused["detail"],
        "the message has 20 different emoji, which is all; react with one of them"
    );
    react(&stack, (&space, 1), &husam, &animals[0], true).await.must_be(200);
}

#[tokio::test]
async fn five_hundred_reactions_are_joined_and_none_is_lost() {
    let stack = Stack::start().await;
    let name = |index: usize| format!("Person {index}");
    let people = join_all((0..50).map(async |index| stack.person(&name(index)).await)).await;
    let space = stack.space("Team", &people.iter().collect::<Vec<_>>()).await;
    for number in 1..=5 {
        stack.post(&space, &people[0], &format!("message {number}")).await;
    }
    let watcher = stack.socket_of(&people[0]).await;
    watcher.subscribe(&space, None).await;
    let began = Instant::now();
    for seq in 1..=5 {
        for emoji in ["👍", "🎉"] {
            let given = people.iter().map(async |person| {
                react(&stack, (&space, seq), person, emoji, true).await.must_be(200)
            });
            join_all(given).await;
        }
    }
    let stored = stack.messages(&space).await;
    for message in &stored {
        assert_eq!(message["reactionsRev"], 100);
        let counts = message["reactions"].as_array().unwrap().iter().map(|it| &it["count"]);
        assert_eq!(counts.collect::<Vec<_>>(), [50, 50]);
    }
    let is_whole = |frames: &[Frame]| {
        let newest = received(frames);
        stored.iter().all(|message| {
            newest.get(&seq(message)).is_some_and(|it| {
                it["reactions"] == message["reactions"] && it["messageId"] == message["id"]
            })
        })
    };
    watcher.until("all reactions", SOON, |frames| is_whole(frames).then_some(())).await;
    let frames = watcher.frames();
    let count = frames.iter().filter(|frame| frame.kind == "reactions").count();
    // One frame in two seconds. Five messages with all of these reactions take two.
    let most = 2 * (began.elapsed().as_secs() as usize / 2 + 2);
    assert!(count <= most, "{count} frames in {:?}", began.elapsed());
}

#[tokio::test]
async fn agents_that_acknowledge_by_a_reaction_wake_nobody() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let mut members = vec![person.clone()];
    for name in ["ada", "bob", "cleo"] {
        stack.model.answers(name, |request| match request.step() {
            0 => answer([call("react", json!({"seq": 1, "emoji": "👍"}))]),
            _ => stop(),
        });
        members.push(stack.agent_of_defaults(name, &stack.model.name(name)).await);
    }
    let space = stack.space("Team", &members.iter().collect::<Vec<_>>()).await;
    stack.post(&space, &person, "The report is done.").await;
    stack.quiet(&space).await;
    let messages = stack.messages(&space).await;
    assert_eq!((messages.len(), &messages[0]["reactions"][0]["count"]), (1, &json!(3)));
    let runs = stack.runs_of(&space).await;
    let ends: Vec<_> = runs.iter().map(|run| (&run["status"], &run["endReason"])).collect();
    assert_eq!(ends, [(&json!("completed"), &json!("done")); 3]);
    for name in ["ada", "bob", "cleo"] {
        assert_eq!(stack.model.requests(name).len(), 1, "the reaction ends the run");
    }
}

#[tokio::test]
async fn a_run_that_has_reacted_is_not_silent_and_others_read_the_reaction() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let model = json!({"provider": "openai", "name": stack.model.name("ada")});
    let agent = json!({"model": model, "loop": {"endAfterSend": false}});
    let agent = stack.agent_with("Ada", agent).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    let skip = call("skip_response", json!({"reason": "I have reacted."}));
    let wrong = call("react", json!({"seq": 7, "emoji": "👍"}));
    let right = call("react", json!({"seq": 1, "emoji": "👀"}));
    stack.model.plays("ada", [answer([wrong]), answer([right]), answer([skip]), stop()]);
    let message = stack.post(&space, &person, "Look at it.").await;
    let run = stack.ended(&triggered_run(&message, &agent).unwrap(), SOON).await;
    assert_eq!((&run["endReason"], &run["skipReason"]), (&json!("done"), &Value::Null));
    let results = stack.model.requests("ada").pop().unwrap().results();
    let expected = [json!({"error": "this space has no message 7"}), json!({"success": true})];
    assert_eq!(results, expected);
    react(&stack, (&space, 1), &person, "🎉", true).await.must_be(200);
    stack.post(&space, &person, "Thanks.").await;
    stack.quiet(&space).await;
    let prompt = stack.model.requests("ada").pop().unwrap().user();
    assert_eq!(prompt.block("REACTIONS"), ["REACTIONS: #1 👀 You 🎉 Husam"]);
}
