//! Idempotency keys: each caller has its own.

use serde_json::{Value, json};

use crate::support::{client::Client, routes::id, stack::Stack};

#[tokio::test]
async fn idempotency_keys_are_scoped_per_caller() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let husam = stack.person("Husam").await;
    let sara = stack.person("Sara").await;
    let space = stack.space("Team", &[&husam, &sara]).await;
    post_with_one_key(&stack, &space, &husam, &sara).await;
    send_with_one_key(&stack, &space, &husam, &sara).await;
    create_spaces_with_one_key(&stack, &husam, &sara).await;
}

async fn post_with_one_key(stack: &Stack, space: &str, husam: &str, sara: &str) {
    let path = format!("/v1/spaces/{space}/messages");
    let post = async |client: Client, text: &str| {
        let request = client
            .request(reqwest::Method::POST, &path)
            .bearer_auth(&client.key)
            .header("idempotency-key", "same");
        client.send(request.json(&json!({ "text": text }))).await
    };
    let first = post(stack.as_entity(husam), "Hello").await.must_be(201);
    let other = post(stack.as_entity(sara), "Hello").await.must_be(201);
    assert_ne!(first["id"], other["id"]);
    assert_eq!(
        post(stack.as_subject(husam, 300), "Hello").await.must_be(201)["id"],
        first["id"],
        "a newer token of the same caller"
    );
    assert_eq!(post(stack.as_entity(sara), "Another").await.status, 422);
    let operators = stack.post_with_key(space, husam, "Hello", "same").await.must_be(201);
    assert_ne!(operators["id"], first["id"]);
}

async fn send_with_one_key(stack: &Stack, space: &str, husam: &str, sara: &str) {
    let send = async |client: Client, more: Value| {
        let mut request = json!({
            "action": "send",
            "spaceId": space,
            "text": "Over it",
            "idempotencyKey": "same",
        });
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        client.socket().await.request(request).await
    };
    let by_her = send(stack.as_entity(sara), json!({})).await;
    let by_him = send(stack.as_entity(husam), json!({})).await;
    let by_operator = send(Client::clone(stack), json!({ "senderId": sara })).await;
    let seqs = [&by_her, &by_him, &by_operator].map(|sent| sent["seq"].as_u64());
    assert_eq!(seqs, [Some(4), Some(5), Some(6)], "{by_her} {by_him} {by_operator}");
    assert_eq!(send(stack.as_entity(sara), json!({})).await["messageId"], by_her["messageId"]);
    assert_eq!(
        send(Client::clone(stack), json!({ "senderId": husam })).await["status"],
        422,
        "the same key with another sender"
    );
    let messages = stack.messages(space).await;
    let keys: Vec<_> = messages.iter().map(|message| message["clientKey"].as_str()).collect();
    assert_eq!(keys, [Some("same"); 6]);
    assert_eq!(stack.post(space, husam, "Hello").await.get("clientKey"), None);
}

/// Repeating a request does not show a space that its creator has left.
async fn create_spaces_with_one_key(stack: &Stack, husam: &str, sara: &str) {
    let make = async |client: Client| {
        let request = client
            .request(reqwest::Method::POST, "/v1/spaces")
            .bearer_auth(&client.key)
            .header("idempotency-key", "space");
        client.send(request.json(&json!({ "name": "Room" }))).await
    };
    let his = make(stack.as_entity(husam)).await.must_be(201);
    let hers = make(stack.as_entity(sara)).await.must_be(201);
    assert_ne!(his["id"], hers["id"]);
    assert_eq!(make(stack.as_entity(husam)).await.must_be(201)["id"], his["id"]);
    stack.delete(&format!("/v1/spaces/{}/members/{husam}", id(&his))).await.must_be(204);
    assert_eq!(make(stack.as_entity(husam)).await.status, 404);
}
