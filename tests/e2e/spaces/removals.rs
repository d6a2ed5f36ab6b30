//! What remains of removed entities and deleted spaces.

use serde_json::json;

use crate::support::{
    model::say,
    routes::{id, text},
    stack::Stack,
};

#[tokio::test]
async fn messages_of_a_retired_agent_keep_its_name() {
    let stack = Stack::start().await;
    stack.model.replies("ada", |_| say("I was here."));
    let person = stack.person("Husam").await;
    let agent = stack.agent("Ada", &stack.model.name("ada")).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    stack.post(&space, &person, "Hello").await;
    stack.quiet(&space).await;
    stack.delete(&format!("/v1/entities/{agent}")).await.must_be(204);
    let message = stack
        .messages(&space)
        .await
        .into_iter()
        .find(|message| text(message) == "I was here.")
        .unwrap();
    assert_eq!(message["sender"], json!({ "id": agent, "name": "Ada", "type": "agent" }));
    assert!(stack.all("/v1/entities?limit=200").await.iter().all(|entity| id(entity) != agent));
}

#[tokio::test]
async fn a_deleted_space_is_missing_in_the_api_and_on_sockets() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let gone = stack.space("Gone", &[&person]).await;
    let kept = stack.space("Kept", &[&person]).await;
    stack.post(&gone, &person, "hello").await;
    stack.delete(&format!("/v1/spaces/{gone}")).await.must_be(204);
    let path = format!("/v1/spaces/{gone}");
    let message = json!({ "text": "hello?", "senderId": person });
    let replies = [
        stack.get(&path).await,
        stack.get(&format!("{path}/messages")).await,
        stack.get(&format!("{path}/runs")).await,
        stack.create(&format!("{path}/messages"), message).await,
        stack.put(&format!("{path}/members/{person}"), json!({})).await,
        stack.put(&format!("{path}/read"), json!({ "seq": 1, "entityId": person })).await,
    ];
    assert_eq!(replies.map(|reply| reply.status), [404; 6]);
    let socket = stack.socket().await;
    let refused = socket.request(json!({ "action": "subscribe", "spaceId": gone })).await;
    assert_eq!((&refused["type"], &refused["status"]), (&json!("error"), &json!(404)), "{refused}");
    let listed: Vec<String> = stack.all("/v1/spaces?limit=200").await.iter().map(id).collect();
    assert!(listed.contains(&kept) && !listed.contains(&gone));
}

#[tokio::test]
async fn a_name_is_free_again_once_its_agent_has_left() {
    let stack = Stack::start().await;
    let one = stack.agent("Ada", &stack.model.name("any")).await;
    let twin = stack.agent("ada", &stack.model.name("any")).await;
    // A person may have the same name as an agent.
    let person = stack.person("Ada").await;
    let space = stack.space("Team", &[&one, &person]).await;
    let membership = |entity: &str| format!("/v1/spaces/{space}/members/{entity}");
    stack.put(&membership(&twin), json!({})).await.must_be(409);
    stack.delete(&membership(&one)).await.must_be(204);
    stack.put(&membership(&twin), json!({})).await.must_be(200);
    stack.put(&membership(&one), json!({})).await.must_be(409);
}
