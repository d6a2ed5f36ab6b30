//! Requests without a valid credential, and the headers of all responses.

use reqwest::Method;
use serde_json::json;

use crate::{
    api::bad_input::{NO_SPACE, assert_problem, everything},
    support::stack::Stack,
};

#[tokio::test]
async fn requests_without_a_valid_credential_are_refused() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let space = stack.space("Team", &[&person]).await;
    let before = everything(&stack, &space).await;
    let wrong = format!("{}x", stack.key);
    let short = &stack.key[..stack.key.len() - 1];
    let credentials = [
        String::new(),
        "Bearer".into(),
        "Bearer ".into(),
        format!("Bearer {wrong}"),
        format!("Bearer {short}"),
        format!("Basic {}", stack.key),
    ];
    let routes = [
        (Method::GET, "/v1/entities".to_owned()),
        (Method::POST, "/v1/entities".into()),
        (Method::GET, "/v1/spaces".into()),
        (Method::POST, "/v1/spaces".into()),
        (Method::GET, format!("/v1/spaces/{space}")),
        (Method::GET, NO_SPACE.into()),
        (Method::POST, format!("/v1/spaces/{space}/messages")),
        (Method::GET, format!("/v1/spaces/{space}/runs")),
        (Method::POST, "/v1/socketTickets".into()),
        (Method::DELETE, format!("/v1/entities/{person}")),
    ];
    for (method, path) in &routes {
        for credential in &credentials {
            let mut request =
                stack.request(method.clone(), path).json(&json!({ "type": "human", "name": "x" }));
            if !credential.is_empty() {
                request = request.header("authorization", credential);
            }
            assert_problem(
                &stack.send(request).await,
                &[401],
                "",
                &format!("{method} {path} with {credential:?}"),
            );
        }
    }
    let in_query = stack
        .send(stack.request(Method::GET, &format!("/v1/spaces?key={0}&token={0}", stack.key)))
        .await;
    assert_problem(&in_query, &[401], "", "a key in the query");
    assert_eq!(everything(&stack, &space).await, before);
}

#[tokio::test]
async fn every_response_has_a_request_id_and_healthz_needs_no_key() {
    let stack = Stack::start().await;
    let health = stack.send(stack.request(Method::GET, "/healthz")).await;
    assert_eq!(health.status, 200);
    assert!(!health.header("x-request-id").is_empty());
    let first = stack.get("/v1/entities").await;
    let second = stack.get("/v1/entities").await;
    assert_eq!((first.status, second.status), (200, 200));
    assert_ne!(first.header("x-request-id"), second.header("x-request-id"));
    assert!(second.header("content-type").starts_with("application/json"));
}

#[tokio::test]
async fn a_too_large_body_does_not_break_the_next_request_on_its_connection() {
    let stack = Stack::start().await;
    let large = json!({ "name": "x".repeat(300 * 1024) });
    for round in 0..30 {
        let refused = stack.create("/v1/spaces", large.clone()).await;
        assert_problem(&refused, &[413], "", "a large body");
        // The next request may use the same connection. It must work, or the refusal must have
        // announced that the connection closes.
        stack.create("/v1/spaces", json!({ "name": format!("Space {round}") })).await.must_be(201);
    }
}
