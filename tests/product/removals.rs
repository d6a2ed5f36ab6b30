//! What remains of whom and what was removed.

use serde_json::json;

use super::{
    model::say,
    routes::{id, text},
    stack::Stack,
};

#[tokio::test]
async fn a_retired_agents_messages_keep_its_name() {
    let stack = Stack::start().await;
    stack.model.replies("ada", |_| say("I was here."));
    let (person, agent) = (stack.person("Husam").await, stack.agent("Ada", &stack.model.name("ada")).await);
    let space = stack.space("Team", &[&person, &agent]).await;
    stack.post(&space, &person, "Hello").await;
    stack.quiet(&space).await;
    stack.delete(&format!("/v1/entities/{agent}")).await.must_be(204);
    let said = stack.messages(&space).await.into_iter().find(|message| text(message) == "I was here.").unwrap();
    assert_eq!(said["sender"], json!({ "id": agent, "name": "Ada", "type": "agent" }));
    assert!(stack.all("/v1/entities?limit=200").await.iter().all(|entity| id(entity) != agent));
}

#[tokio::test]
async fn a_deleted_space_is_gone_at_every_door() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let (gone, kept) = (stack.space("Gone", &[&person]).await, stack.space("Kept", &[&person]).await);
    stack.post(&gone, &person, "hello").await;
    stack.delete(&format!("/v1/spaces/{gone}")).await.must_be(204);
    let (path, say) = (format!("/v1/spaces/{gone}"), json!({ "text": "hello?", "senderId": person }));
    let replies = [
        stack.get(&path).await,
        stack.get(&format!("{path}/messages")).await,
        stack.get(&format!("{path}/runs")).await,
        stack.create(&format!("{path}/messages"), say).await,
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
    let (one, twin) = (stack.agent("Ada", &stack.model.name("any")).await, stack.agent("ada", &stack.model.name("any")).await);
    // A person may be called like an agent.
    let person = stack.person("Ada").await;
    let space = stack.space("Team", &[&one, &person]).await;
    let place = |entity: &str| format!("/v1/spaces/{space}/members/{entity}");
    stack.put(&place(&twin), json!({})).await.must_be(409);
    stack.delete(&place(&one)).await.must_be(204);
    stack.put(&place(&twin), json!({})).await.must_be(200);
    stack.put(&place(&one), json!({})).await.must_be(409);
}
