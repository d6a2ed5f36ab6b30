//! An agent in 100 spaces, the most that it may be in.

use std::collections::BTreeSet;

use futures::future::join_all;
use reqwest::Method;
use serde_json::json;

use crate::support::{
    model::{Answer, call, stop},
    routes::{id, triggered_run},
    stack::Stack,
    waiting::SOON,
};

#[tokio::test]
async fn an_agent_is_in_at_most_100_spaces_and_can_read_all_of_them_in_one_run() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let agent = stack.agent("Ada", &stack.model.name("ada")).await;
    let mut spaces = Vec::new();
    for number in 0..99 {
        spaces.push(stack.space(&format!("Space {number}"), &[&person, &agent]).await);
    }
    let last = async |key: &str| {
        let request = stack
            .request(Method::POST, "/v1/spaces")
            .bearer_auth(&stack.key)
            .header("idempotency-key", key);
        stack
            .send(request.json(&json!({ "name": "The last one", "members": [person, agent] })))
            .await
    };
    let answers = join_all(["a", "b", "c", "d", "e", "f", "g", "h"].map(last)).await;
    let (created, refused): (Vec<_>, Vec<_>) =
        answers.into_iter().partition(|answer| answer.status == 201);
    assert!(!created.is_empty(), "{refused:?}");
    assert!(refused.iter().all(|answer| answer.status == 409), "{refused:?}");
    let created: BTreeSet<String> = created.iter().map(|answer| id(&answer.body)).collect();
    let listed = async || -> BTreeSet<String> {
        stack
            .all("/v1/spaces?limit=200")
            .await
            .iter()
            .filter(|space| space["name"] == "The last one")
            .map(id)
            .collect()
    };
    assert_eq!(listed().await, created, "a refused request created a space");
    assert_eq!(last("another").await.status, 409);
    assert_eq!(last("another").await.status, 409, "a repeated request");
    assert_eq!(listed().await, created);
    spaces.extend(created);

    let one_more = stack.space("One more", &[&person]).await;
    let refused = stack.put(&format!("/v1/spaces/{one_more}/members/{agent}"), json!({})).await;
    assert_eq!(refused.status, 409, "{}", refused.text);

    // Concurrent requests may each exceed the limit by one.
    assert!(spaces.len() >= 100);
    let all = spaces.clone();
    stack.model.answers("ada", move |request| match request.step() {
        0 => Answer::of(
            all.iter().map(|space| call("enter_space", json!({ "spaceId": space }))).collect(),
        ),
        _ => stop(),
    });
    let question = stack.post(&spaces[0], &person, "Read everything.").await;
    let run = stack.ended(&triggered_run(&question, &agent).unwrap(), SOON).await;
    assert_eq!(
        (run["status"].as_str(), run["steps"][0]["calls"].as_array().unwrap().len()),
        (Some("completed"), spaces.len()),
        "{run:.300}"
    );
}
