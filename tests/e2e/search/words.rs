//! The words and filters of a search, and the whole of an answer.

use serde_json::{Value, json};

use super::{found, items, search, try_search, unlimited};
use crate::support::{
    files::PIXEL,
    routes::{id, seq},
    stack::Stack,
};

const TEXTS: [&str; 12] = [
    "Where is the rollback plan?",
    "The rollback plan is in the second file.",
    "Fine.",
    "Fine, too.",
    "Fine as well.",
    "We plan no rollbacks on Fridays.",
    "See https://example.com/a_b, v2.1",
    "Run `cargo doc`.",
    "Die Straße nach Zürich",
    "明天部署新版本",
    "A first draft of foo:bar",
    "We deployed it 🚀",
];

/// The texts in one space, which Sara and Omar have sent in turns.
async fn scene(stack: &Stack) -> (String, [String; 2]) {
    let people = [stack.person("Sara").await, stack.person("Omar").await];
    let space = stack.space("Ops room", &[&people[0], &people[1]]).await;
    for (number, text) in TEXTS.into_iter().enumerate() {
        stack.post(&space, &people[number % 2], text).await;
    }
    (space, people)
}

#[tokio::test]
async fn messages_are_found_by_words_phrases_beginnings_and_exclusions() {
    let Some(stack) = unlimited().await else { return };
    let (space, [sara, _]) = scene(&stack).await;
    let hers = stack.as_entity(&sara);
    for (q, expected) in [
        ("rollback plan", vec![1, 2, 6]),
        ("\"rollback plan\"", vec![1, 2]),
        ("\"plan rollback\"", vec![]),
        ("roll*", vec![1, 2, 6]),
        ("rollback -second", vec![1, 6]),
        ("rollback -\"rollback plan\"", vec![6]),
        ("FINE", vec![3, 4, 5]),
        ("a_b", vec![7]),
        ("v2.1", vec![7]),
        ("strasse zurich", vec![9]),
        ("部署", vec![10]),
        ("署部", vec![]),
        ("foo:bar", vec![11]),
        ("🚀", vec![12]),
        ("deploy", vec![12]),
        ("fridays in:\"ops ROOM\"", vec![6]),
        ("fine from:omar", vec![4]),
        ("from:me fine", vec![3, 5]),
        ("has:link", vec![7]),
        ("has:code", vec![8]),
        ("has:link has:code", vec![]),
        ("fine before:2020-01-01", vec![]),
        ("fine after:2020-01-01", vec![3, 4, 5]),
        ("unicorn", vec![]),
    ] {
        let answer = search(&hers, &[("q", q)]).await;
        assert_eq!(found(&answer), expected, "{q}");
        assert_eq!(
            (&answer["searched"]["spaces"], &answer["searched"]["messages"]),
            (&json!(1), &json!(12)),
            "{q}"
        );
        assert_eq!((&answer["incomplete"], &answer["nextCursor"]), (&json!(false), &Value::Null));
        if !q.contains("from:") {
            let named = search(&stack, &[("q", q), ("spaceId", &*space), ("from", &*sara)]).await;
            let hers: Vec<u64> = expected.into_iter().filter(|seq| seq % 2 == 1).collect();
            assert_eq!(found(&named), hers, "{q}");
        }
    }
    let answer = search(&hers, &[("sort", "newest"), ("from", "Sara"), ("limit", "1")]).await;
    assert_eq!(seq(&items(&answer)[0]), 11);
    let many = (0..40).map(|number| format!("w{number}")).collect::<Vec<_>>().join(" ");
    let answer = search(&hers, &[("q", &*many)]).await;
    assert_eq!(answer["ignored"].as_array().unwrap().len(), 8);
    stack.quiet(&space).await;
}

#[tokio::test]
async fn a_hit_is_shown_with_its_neighbours_and_its_words() {
    let Some(stack) = unlimited().await else { return };
    let (space, [sara, omar]) = scene(&stack).await;
    let messages = stack.messages(&space).await;
    let answer = search(&stack, &[("q", "\"rollback plan\""), ("spaceId", &*space)]).await;
    let [item] = items(&answer).as_slice() else { panic!("{answer:#}") };
    let best = seq(item);
    let other = 3 - best;
    assert!([1, 2].contains(&best), "{answer:#}");
    let of = |seq: u64| &messages[usize::try_from(seq).unwrap() - 1];
    let neighbour = |seq: u64| {
        let message = of(seq);
        json!({
            "messageId": message["id"],
            "seq": seq,
            "at": message["createdAt"],
            "sender": message["sender"],
            "text": message["parts"][0]["text"],
        })
    };
    let before: Vec<_> = (1..best).map(neighbour).collect();
    let after: Vec<_> = (best + 1..=best + 2).map(neighbour).collect();
    let start = TEXTS[usize::try_from(best).unwrap() - 1].find("rollback").unwrap();
    let expected = json!({
        "spaceId": space,
        "spaceName": "Ops room",
        "messageId": of(best)["id"],
        "seq": best,
        "at": of(best)["createdAt"],
        "sender": of(best)["sender"],
        "excerpt": of(best)["parts"][0]["text"],
        "matches": item["matches"],
        "files": [],
        "score": item["score"],
        "alsoSeqs": [other],
        "before": before,
        "after": after,
    });
    assert_eq!(*item, expected);
    let marks = item["matches"].as_array().unwrap();
    assert_eq!(marks[0]["start"], start);
    assert_eq!(marks.last().unwrap()["end"], start + "rollback plan".len());
    assert_eq!(answer["searched"]["from"], messages[0]["createdAt"]);

    // Names of files, and replies.
    let hers = stack.as_entity(&sara);
    let file = hers.upload(&space, "Budget 2026.png", "image/png", PIXEL).await;
    let path = format!("/v1/spaces/{space}/messages");
    let body = json!({"attachments": [file], "senderId": sara});
    stack.create(&path, body).await.must_be(201);
    let body = json!({"text": "Thanks", "replyTo": 13, "senderId": omar});
    let reply = stack.create(&path, body).await.must_be(201);
    for q in ["budget", "has:file", "has:image budget", "\"budget 2026\""] {
        let answer = search(&hers, &[("q", q)]).await;
        assert_eq!(items(&answer)[0]["files"], json!(["Budget 2026.png"]), "{q}");
        assert_eq!(found(&answer), [13], "{q}");
    }
    let answer = search(&hers, &[("has", "reply")]).await;
    assert_eq!(items(&answer)[0]["messageId"], id(&reply));
}

#[tokio::test]
async fn the_name_of_a_deleted_file_is_not_found() {
    let Some(stack) = unlimited().await else { return };
    let sara = stack.person("Sara").await;
    let space = stack.space("Files", &[&sara]).await;
    let hers = stack.as_entity(&sara);
    let file = hers.upload(&space, "Budget 2026.png", "image/png", PIXEL).await;
    let body = json!({"text": "see this", "attachments": [file], "senderId": sara});
    stack.create(&format!("/v1/spaces/{space}/messages"), body).await.must_be(201);
    for q in ["budget", "has:file", "see"] {
        assert_eq!(found(&search(&hers, &[("q", q)]).await), [1], "{q}");
    }
    hers.delete(&format!("/v1/spaces/{space}/attachments/{file}")).await.must_be(204);
    for q in ["budget", "has:file"] {
        assert!(found(&search(&hers, &[("q", q)]).await).is_empty(), "{q}");
    }
    assert_eq!(found(&search(&hers, &[("q", "see")]).await), [1]);
}

#[tokio::test]
async fn a_wrong_search_is_refused_with_a_pointer() {
    let Some(stack) = unlimited().await else { return };
    let (space, [sara, _]) = scene(&stack).await;
    let hers = stack.as_entity(&sara);
    let long = "x".repeat(257);
    for (parameters, pointer) in [
        (vec![], "/q"),
        (vec![("q", "")], "/q"),
        (vec![("q", "-draft")], "/q"),
        (vec![("q", "?!"), ("spaceId", &*space)], "/q"),
        (vec![("q", "plan -from:Sara")], "/q"),
        (vec![("q", "a*")], "/q"),
        (vec![("q", "a\0b")], "/q"),
        (vec![("q", &*long)], "/q"),
        (vec![("q", "a"), ("q", "b")], "/q"),
        (vec![("q", "plan"), ("has", "wings")], "/has"),
        (vec![("q", "plan"), ("before", "soon")], "/before"),
        (vec![("q", "plan"), ("after", "2026-13-01")], "/after"),
        (vec![("q", "plan"), ("sort", "oldest")], "/sort"),
        (vec![("q", "plan"), ("limit", "0")], "/limit"),
        (vec![("q", "plan"), ("limit", "21")], "/limit"),
        (vec![("q", "plan"), ("limit", "many")], "/limit"),
        (vec![("q", "plan"), ("cursor", "abc")], "/cursor"),
        (vec![("q", "plan"), ("colour", "red")], "/colour"),
        (vec![("from", "Sara"); 11], "/from"),
        (vec![("spaceId", &*space); 21], "/spaceId"),
    ] {
        let refused = try_search(&hers, &parameters).await.must_be(422);
        assert_eq!(refused["errors"][0]["pointer"], pointer, "{parameters:?}: {refused}");
    }
    let alone = try_search(&hers, &[("q", "-draft")]).await.must_be(422);
    let detail = "expected a word to search for besides what is excluded";
    assert_eq!(alone["errors"][0]["detail"], detail);
    hers.get("/v1/search?q=%ff").await.must_be(400);
    for operators in [vec![("q", "plan")], vec![("q", "plan in:Ops")]] {
        let refused = try_search(&stack, &operators).await.must_be(422);
        let detail = "expected spaceId: the operator searches named spaces";
        assert_eq!(
            refused["errors"],
            json!([{"pointer": "/spaceId", "detail": detail}]),
            "{operators:?}"
        );
    }
    for unknown in [("from", "Nobody"), ("from", "ent_01KC0000000000000000000000")] {
        let refused = try_search(&hers, &[("q", "plan"), unknown]).await.must_be(404);
        assert_eq!(refused["detail"], "there is no such space or sender", "{unknown:?}");
    }
    for (parameters, pointer, detail) in [
        ([("q", "plan"), ("spaceId", "spc_x")], "/spaceId", "expected the id of a space"),
        ([("from", "me"), ("spaceId", &*space)], "/from", "the operator is not a sender"),
    ] {
        let refused = try_search(&stack, &parameters).await.must_be(422);
        assert_eq!(refused["errors"], json!([{"pointer": pointer, "detail": detail}]));
    }
}
