//! An agent in as many spaces as it may be in.

use std::collections::BTreeSet;

use futures::future::join_all;
use reqwest::Method;
use serde_json::json;

use super::{
    model::{Answer, call, stop},
    routes::{id, woken},
    stack::Stack,
    waiting::SOON,
};

#[tokio::test]
async fn an_agent_is_in_a_hundred_spaces_at_most_and_may_read_all_of_them_in_one_run() {
    let stack = Stack::start().await;
    let (person, agent) = (stack.person("Husam").await, stack.agent("Ada", &stack.model.name("ada")).await);
    let mut spaces = Vec::new();
    for number in 0..99 {
        spaces.push(stack.space(&format!("Space {number}"), &[&person, &agent]).await);
    }
    let last = async |key: &str| {
        let request = stack.request(Method::POST, "/v1/spaces").bearer_auth(&stack.key).header("idempotency-key", key);
        stack.send(request.json(&json!({ "name": "The last one", "members": [person, agent] }))).await
    };
    let answers = join_all(["a", "b", "c", "d", "e", "f", "g", "h"].map(last)).await;
    let (made, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status == 201);
    assert!(!made.is_empty() && refused.iter().all(|answer| answer.status == 409), "{refused:?}");
    let made: BTreeSet<String> = made.iter().map(|answer| id(&answer.body)).collect();
    let listed = async || -> BTreeSet<String> {
        stack.all("/v1/spaces?limit=200").await.iter().filter(|space| space["name"] == "The last one").map(id).collect()
    };
    assert_eq!(listed().await, made, "what was refused is not there");
    assert_eq!(last("another").await.status, 409);
    assert_eq!(last("another").await.status, 409, "also where it is repeated");
    assert_eq!(listed().await, made);
    spaces.extend(made);

    let one_more = stack.space("One more", &[&person]).await;
    let refused = stack.put(&format!("/v1/spaces/{one_more}/members/{agent}"), json!({})).await;
    assert_eq!(refused.status, 409, "{}", refused.text);

    // Of requests at the same moment each may let one too many through.
    assert!(spaces.len() >= 100);
    let all = spaces.clone();
    stack.model.answers("ada", move |asked| match asked.step() {
        0 => Answer::of(all.iter().map(|space| call("enter_space", json!({ "spaceId": space }))).collect()),
        _ => stop(),
    });
    let question = stack.post(&spaces[0], &person, "Read everything.").await;
    let run = stack.ended(&woken(&question, &agent).unwrap(), SOON).await;
    assert_eq!(
        (run["status"].as_str(), run["steps"][0]["calls"].as_array().unwrap().len()),
        (Some("completed"), spaces.len()),
        "{run:.300}"
    );
}
