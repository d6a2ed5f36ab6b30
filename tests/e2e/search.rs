//! Searches of messages over HTTP: what they find, in which parts, and what they never show.

mod attacks;
mod changes;
mod parts;
mod rates;
mod words;

use serde_json::Value;

use crate::support::{
    client::{Client, Reply},
    routes::{in_query, seq},
    stack::Stack,
};

/// A product that accepts tokens and has no rate limit.
async fn unlimited() -> Option<Stack> {
    let secret = ("SMARTSPACE_JWT_SECRET", crate::support::tokens::SECRET);
    let invites = ("SMARTSPACE_INVITES", "guests");
    Stack::with_env(&[secret, ("SMARTSPACE_RATE", "0"), invites]).await
}

/// Searches with these parameters.
async fn try_search(client: &Client, parameters: &[(&str, &str)]) -> Reply {
    let pairs = parameters.iter().map(|(name, value)| format!("{name}={}", in_query(value)));
    client.get(&format!("/v1/search?{}", pairs.collect::<Vec<_>>().join("&"))).await
}

async fn search(client: &Client, parameters: &[(&str, &str)]) -> Value {
    try_search(client, parameters).await.must_be(200)
}

fn items(answer: &Value) -> &Vec<Value> {
    answer["items"].as_array().unwrap()
}

/// The numbers of all found messages, ascending.
fn found(answer: &Value) -> Vec<u64> {
    let also = |item: &Value| item["alsoSeqs"].as_array().unwrap().clone();
    let numbers = items(answer).iter().flat_map(|item| {
        let also = also(item).into_iter().map(|seq| seq.as_u64().unwrap());
        also.chain([seq(item)]).collect::<Vec<_>>()
    });
    let mut numbers: Vec<_> = numbers.collect();
    numbers.sort_unstable();
    numbers
}

/// All answers to a search, from cursor to cursor.
async fn all_answers(client: &Client, parameters: &[(&str, &str)]) -> Vec<Value> {
    let mut answers = vec![search(client, parameters).await];
    while let Some(cursor) = answers.last().unwrap()["nextCursor"].as_str().map(str::to_owned) {
        assert!(cursor.len() <= 2_048, "{}", cursor.len());
        let next = [parameters, &[("cursor", cursor.as_str())]].concat();
        answers.push(search(client, &next).await);
        assert!(answers.len() < 1_000, "the search never ends");
    }
    answers
}
