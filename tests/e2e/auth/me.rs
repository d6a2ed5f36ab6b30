//! `GET /v1/me`: the holder of a credential.

use serde_json::{Value, json};

use crate::support::stack::Stack;

#[tokio::test]
async fn each_caller_sees_who_it_is_and_what_it_may_do() {
    let stack = Stack::with_secret(&[]).await.expect("a product that accepts tokens");
    let (person, agent, space) = stack.pair().await;
    stack.space("Another", &[&person]).await;

    let operator = stack.get("/v1/me").await.must_be(200);
    assert_eq!((&operator["kind"], &operator["entity"]), (&json!("operator"), &Value::Null));
    assert_eq!(
        operator["capabilities"],
        json!(["operate", "create_spaces", "cancel_runs", "retry_runs"])
    );
    assert!(operator["spaces"]["count"].as_u64() >= Some(2), "{operator}");

    let me = stack.as_entity(&person).get("/v1/me").await.must_be(200);
    let expected = json!({
        "kind": "entity",
        "entity": stack.get(&format!("/v1/entities/{person}")).await.must_be(200),
        "spaces": {"count": 2},
        "capabilities": ["create_spaces", "cancel_runs", "retry_runs"],
    });
    assert_eq!(me, expected);

    let me = stack.as_entity(&agent).get("/v1/me").await.must_be(200);
    assert_eq!(
        (&me["entity"]["id"], &me["capabilities"]),
        (&json!(agent), &json!(["create_spaces"]))
    );
    assert!(me["entity"]["agent"].is_null(), "an agent does not see its configuration: {me}");

    stack.delete(&format!("/v1/spaces/{space}/members/{person}")).await.must_be(204);
    let me = stack.as_entity(&person).get("/v1/me").await.must_be(200);
    assert_eq!(me["spaces"]["count"], 1);
}
