//! An agent in as many spaces as it may be in.

use serde_json::json;

use super::{
    model::{Answer, call, stop},
    routes::woken,
    stack::Stack,
    waiting::SOON,
};

#[tokio::test]
async fn an_agent_is_in_a_hundred_spaces_at_most_and_may_read_all_of_them_in_one_run() {
    let stack = Stack::start().await;
    let (person, agent) = (stack.person("Husam").await, stack.agent("Ada", &stack.model.name("ada")).await);
    let mut spaces = Vec::new();
    for number in 0..100 {
        spaces.push(stack.space(&format!("Space {number}"), &[&person, &agent]).await);
    }
    let one_more = stack.space("One more", &[&person]).await;
    let refused = stack.put(&format!("/v1/spaces/{one_more}/members/{agent}"), json!({})).await;
    assert_eq!(refused.status, 409, "{}", refused.text);

    let all = spaces.clone();
    stack.model.answers("ada", move |asked| match asked.step() {
        0 => Answer::of(all.iter().map(|space| call("enter_space", json!({ "spaceId": space }))).collect()),
        _ => stop(),
    });
    let question = stack.post(&spaces[0], &person, "Read everything.").await;
    let run = stack.ended(&woken(&question, &agent).unwrap(), SOON).await;
    assert_eq!((run["status"].as_str(), run["steps"][0]["calls"].as_array().unwrap().len()), (Some("completed"), 100), "{run:.300}");
}
