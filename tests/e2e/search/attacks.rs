//! Attacks on the permission to search: no caller finds a word of a space that it is not in.

use reqwest::Method;
use serde_json::{Value, json};

use super::{search, try_search, unlimited};
use crate::support::{client::Client, stack::Stack};

const SECRET_WORD: &str = "xanadu";

/// A space with a secret, and callers who must not find it.
struct Scene {
    space: String,
    /// A member, who finds it.
    member: Client,
    others: Vec<(&'static str, Client)>,
    /// A cursor of the member.
    cursor: String,
    /// The id of the member.
    sender: String,
}

/// A guest of a space of its own.
async fn guest(stack: &Stack, owner: &String) -> Client {
    let elsewhere = stack.space("Guests", &[owner]).await;
    let invites = format!("/v1/spaces/{elsewhere}/invites");
    let invite = stack.create(&invites, json!({})).await.must_be(201);
    let body = json!({"token": invite["token"], "name": "Guest"});
    let request = stack.request(Method::POST, "/v1/invites/accept").json(&body);
    let accepted = stack.send(request).await.must_be(200);
    stack.with(accepted["token"].as_str().unwrap())
}

async fn scene(stack: &Stack) -> Scene {
    let [member, stranger, leaver, removed] =
        ["Mia", "Stan", "Lea", "Rob"].map(|name| stack.person(name));
    let (member, stranger, leaver, removed) = tokio::join!(member, stranger, leaver, removed);
    let agent = stack.agent("Ada", &stack.model.name("silent")).await;
    let settings = json!({"triggerPolicy": "mention"});
    let members = [&member, &leaver, &removed];
    let space = stack.space_with("Secrets", &members, settings).await;
    for number in 0..4 {
        stack.post(&space, &member, &format!("{SECRET_WORD} {number}")).await;
        for _ in 0..3 {
            stack.post(&space, &member, "hay").await;
        }
    }
    // Each of them has a space of its own, so that a search has something to read.
    stack.space("Own", &[&stranger, &leaver, &removed, &agent]).await;
    let member_of = |entity: &str| format!("/v1/spaces/{space}/members/{entity}");
    stack.as_entity(&leaver).delete(&member_of(&leaver)).await.must_be(204);
    stack.delete(&member_of(&removed)).await.must_be(204);
    let others = vec![
        ("stranger", stack.as_entity(&stranger)),
        ("former member", stack.as_entity(&leaver)),
        ("removed member", stack.as_entity(&removed)),
        ("agent elsewhere", stack.as_entity(&agent)),
        ("guest elsewhere", guest(stack, &stranger).await),
    ];
    let client = stack.as_entity(&member);
    let first = search(&client, &[("q", SECRET_WORD), ("limit", "1")]).await;
    let cursor = first["nextCursor"].as_str().unwrap().to_owned();
    Scene { space, member: client, others, cursor, sender: member }
}

#[tokio::test]
async fn no_attack_finds_a_word_of_another_space() {
    let Some(stack) = unlimited().await else { return };
    let scene = scene(&stack).await;
    let Scene { space, cursor, sender, .. } = &scene;
    let in_space = format!("{SECRET_WORD} in:{space}");
    let begin = format!("{}*", &SECRET_WORD[..3]);
    let phrase = format!("\"{SECRET_WORD} 0\"");
    let attacks: [(Vec<(&str, &str)>, u16); 12] = [
        (vec![("q", SECRET_WORD)], 200),
        (vec![("q", &*begin)], 200),
        (vec![("q", &*phrase)], 200),
        (vec![("q", SECRET_WORD), ("sort", "newest"), ("limit", "20")], 200),
        (vec![("q", SECRET_WORD), ("spaceId", &**space)], 404),
        (vec![("q", SECRET_WORD), ("spaceId", &**space), ("from", "me")], 404),
        (vec![("q", &*in_space)], 404),
        (vec![("q", "xanadu in:Secrets")], 404),
        (vec![("from", &**sender)], 404),
        (vec![("from", "Mia")], 404),
        (vec![("q", SECRET_WORD), ("cursor", &**cursor)], 422),
        (vec![("after", "2020-01-01"), ("limit", "20")], 200),
    ];
    let mut tried = 0;
    for (caller, client) in &scene.others {
        for (parameters, expected) in &attacks {
            let reply = try_search(client, parameters).await;
            assert_eq!(reply.status, *expected, "{caller}: {parameters:?}: {}", reply.text);
            assert!(!reply.text.contains(SECRET_WORD), "{caller}: {parameters:?}: {}", reply.text);
            if *expected == 200 {
                assert_eq!(reply.body["items"], json!([]), "{caller}: {parameters:?}");
            }
            tried += 1;
        }
    }
    assert_eq!(tried, 60);
    // None of this is because there is nothing to find.
    let found = search(&scene.member, &[("q", SECRET_WORD)]).await;
    assert_eq!(found["items"].as_array().map(Vec::len), Some(4));
    let next = [("q", SECRET_WORD), ("limit", "1"), ("cursor", &**cursor)];
    let next = search(&scene.member, &next).await;
    assert_eq!(next["items"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn a_cursor_finds_nothing_after_its_caller_has_left() {
    let Some(stack) = unlimited().await else { return };
    let [sara, omar] = [stack.person("Sara").await, stack.person("Omar").await];
    let [old, own] =
        [stack.space("Old", &[&sara, &omar]).await, stack.space("Own", &[&sara]).await];
    for _ in 0..3 {
        for space in [&old, &own] {
            stack.post(space, &sara, SECRET_WORD).await;
            for _ in 0..3 {
                stack.post(space, &sara, "hay").await;
            }
        }
    }
    let hers = stack.as_entity(&sara);
    let first = search(&hers, &[("q", SECRET_WORD), ("limit", "1")]).await;
    stack.delete(&format!("/v1/spaces/{old}/members/{sara}")).await.must_be(204);
    let cursor = first["nextCursor"].as_str().unwrap();
    for parameters in [
        vec![("q", SECRET_WORD), ("limit", "20"), ("cursor", cursor)],
        vec![("q", SECRET_WORD), ("limit", "20")],
    ] {
        let answer = search(&hers, &parameters).await;
        let of_old = |item: &Value| item["spaceId"] == old.as_str();
        assert!(!answer["items"].as_array().unwrap().iter().any(of_old), "{answer}");
        assert_eq!(answer["searched"]["spaces"], 1);
    }
}
