//! The parts and pages of a search: many spaces, many hits, and cursors.

use std::{collections::BTreeSet, env};

use futures::future::join_all;
use serde_json::{Value, json};

use super::{all_answers, found, items, search, try_search, unlimited};
use crate::support::{routes::seq, stack::Stack};

/// A number that the environment may set, for a run of the whole size.
fn size(name: &str, usual: usize) -> usize {
    env::var(name).map_or(usual, |text| text.parse().unwrap())
}

/// Makes a space with one needle in hay.
async fn fill(stack: &Stack, sara: &String, number: usize, messages: usize) -> String {
    let space = stack.space(&format!("Space {number}"), &[sara]).await;
    stack.post(&space, sara, &format!("needle{number} in hay")).await;
    for _ in 1..messages {
        stack.post(&space, sara, "hay").await;
    }
    space
}

#[tokio::test]
async fn one_call_searches_all_messages_of_several_spaces() {
    let Some(stack) = unlimited().await else { return };
    let spaces = size("SMARTSPACE_SEARCH_SPACES", 6);
    let messages = size("SMARTSPACE_SEARCH_MESSAGES", 120);
    let sara = stack.person("Sara").await;
    let made = (0..spaces).map(|number| fill(&stack, &sara, number, messages));
    let made = join_all(made).await;
    let hers = stack.as_entity(&sara);
    let searched = json!([spaces, spaces * messages]);
    // The first search lets a job build blocks, so later ones read blocks, messages, or both.
    for number in (0..spaces).chain(0..spaces) {
        let q = format!("needle{number}");
        let answer = search(&hers, &[("q", &*q)]).await;
        assert_eq!(json!([answer["searched"]["spaces"], answer["searched"]["messages"]]), searched);
        assert_eq!(answer["incomplete"], false);
        let [item] = items(&answer).as_slice() else { panic!("{answer}") };
        assert_eq!((&item["spaceId"], seq(item)), (&json!(made[number]), 1));
    }
    let named = search(&hers, &[("q", "needle*"), ("spaceId", &*made[0])]).await;
    assert_eq!((items(&named).len(), &named["searched"]["spaces"]), (1, &json!(1)));
}

#[tokio::test]
async fn cursors_go_through_more_than_fifty_spaces_and_find_each_message_once() {
    let Some(stack) = unlimited().await else { return };
    let sara = stack.person("Sara").await;
    let mut spaces = Vec::new();
    for number in 0..53 {
        let space = stack.space(&format!("Space {number}"), &[&sara]).await;
        stack.post(&space, &sara, "A needle").await;
        spaces.push(space);
    }
    let hers = stack.as_entity(&sara);
    let first = search(&hers, &[("q", "needle"), ("limit", "20")]).await;
    assert_eq!((&first["incomplete"], &first["searched"]["spaces"]), (&json!(true), &json!(50)));
    let answers = all_answers(&hers, &[("q", "needle"), ("limit", "20")]).await;
    let all: Vec<_> = answers.iter().flat_map(items).map(|item| item["spaceId"].clone()).collect();
    let different: BTreeSet<_> = all.iter().map(Value::to_string).collect();
    assert_eq!((all.len(), different.len()), (53, 53));
    assert_eq!(answers.last().unwrap()["incomplete"], false);

    // A cursor works for its caller and its search only.
    let omar = stack.person("Omar").await;
    let cursor = first["nextCursor"].as_str().unwrap();
    let his = stack.as_entity(&omar);
    for (client, q, sort) in [
        (&his, "needle", "relevance"),
        (&hers, "needles and hay", "relevance"),
        (&hers, "needle", "newest"),
    ] {
        let parameters = [("q", q), ("sort", sort), ("cursor", cursor)];
        let refused = try_search(client, &parameters).await.must_be(422);
        assert_eq!(refused["errors"][0]["pointer"], "/cursor", "{q} {sort}");
    }
}

#[tokio::test]
async fn pages_of_a_part_have_the_order_of_the_whole() {
    let Some(stack) = unlimited().await else { return };
    let [sara, omar] = [stack.person("Sara").await, stack.person("Omar").await];
    let space = stack.space("Hay", &[&sara, &omar]).await;
    for number in 0..13 {
        stack.post(&space, &sara, &format!("needle {}", "hay ".repeat(number))).await;
        for _ in 0..2 {
            stack.post(&space, &omar, "nothing").await;
        }
    }
    let hers = stack.as_entity(&sara);
    for sort in ["relevance", "newest"] {
        let parameters = [("q", "needle"), ("sort", sort)];
        let whole = search(&hers, &[&parameters[..], &[("limit", "20")]].concat()).await;
        assert_eq!(found(&whole), (0..13).map(|number| number * 3 + 1).collect::<Vec<_>>());
        let pages = all_answers(&hers, &[&parameters[..], &[("limit", "4")]].concat()).await;
        let of_pages: Vec<_> = pages.iter().flat_map(items).map(seq).collect();
        let of_whole: Vec<_> = items(&whole).iter().map(seq).collect();
        assert_eq!(of_pages, of_whole, "{sort}");
        assert_eq!(pages.len(), 4, "{sort}");
        if sort == "newest" {
            assert!(of_whole.is_sorted_by(|one, other| one > other), "{of_whole:?}");
        }
    }
    // What is posted meanwhile is in no further page of the part.
    let first = search(&hers, &[("q", "needle"), ("limit", "4")]).await;
    stack.post(&space, &sara, "needle").await;
    let cursor = first["nextCursor"].as_str().unwrap();
    let second = search(&hers, &[("q", "needle"), ("limit", "20"), ("cursor", cursor)]).await;
    assert_eq!(items(&second).len(), 9);
    assert!(!found(&second).contains(&40));
    assert!(found(&search(&hers, &[("q", "needle"), ("limit", "20")]).await).contains(&40));
}

#[tokio::test]
async fn pages_skip_and_repeat_nothing_when_hits_change_between_them() {
    let Some(stack) = unlimited().await else { return };
    let sara = stack.person("Sara").await;
    let space = stack.space("Hay", &[&sara]).await;
    for number in 0..12 {
        stack.post(&space, &sara, &format!("needle {}", "hay ".repeat(number))).await;
        for _ in 0..2 {
            stack.post(&space, &sara, "nothing").await;
        }
    }
    let hers = stack.as_entity(&sara);
    for (sort, gone) in [("relevance", 1), ("newest", 34)] {
        let parameters = [("q", "needle"), ("sort", sort)];
        let whole = search(&hers, &[&parameters[..], &[("limit", "20")]].concat()).await;
        let whole: Vec<_> = items(&whole).iter().map(seq).collect();
        let first = search(&hers, &[&parameters[..], &[("limit", "4")]].concat()).await;
        let shown: Vec<_> = items(&first).iter().map(seq).collect();
        assert_eq!((shown[0], &*shown), (gone, &whole[..4]), "{sort}");
        // The first hit of the first page goes, so that each other one moves up.
        stack.delete(&format!("/v1/spaces/{space}/messages/{gone}")).await.must_be(204);
        let cursor = first["nextCursor"].as_str().unwrap();
        let rest = [&parameters[..], &[("limit", "20"), ("cursor", cursor)]].concat();
        let rest: Vec<_> = items(&search(&hers, &rest).await).iter().map(seq).collect();
        assert_eq!(rest, whole[4..], "{sort}");
    }
}

#[tokio::test]
async fn a_search_by_time_has_no_last_item_but_the_oldest() {
    let Some(stack) = unlimited().await else { return };
    let sara = stack.person("Sara").await;
    let space = stack.space("Hay", &[&sara]).await;
    for _ in 0..105 {
        stack.post(&space, &sara, "needle").await;
        for _ in 0..2 {
            stack.post(&space, &sara, "hay").await;
        }
    }
    let hers = stack.as_entity(&sara);
    // Of one part by relevance, 100 items are shown.
    for (sort, shown) in [("newest", 105), ("relevance", 100)] {
        let parameters = [("q", "needle"), ("sort", sort), ("limit", "20")];
        let answers = all_answers(&hers, &parameters).await;
        let numbers: Vec<_> = answers.iter().flat_map(items).map(seq).collect();
        let different: BTreeSet<_> = numbers.iter().collect();
        assert_eq!((numbers.len(), different.len()), (shown, shown), "{sort}");
    }
}
