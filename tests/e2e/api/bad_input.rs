//! Bad requests: their status, the words of the problem, and that they change nothing.

mod addresses;
mod bodies;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    client::{Client, Reply},
    deployed::deployed,
    stack::Stack,
};

/// A space that does not exist.
pub(crate) const NO_SPACE: &str = "/v1/spaces/spc_01ARZ3NDEKTSV4RRFFQ69G5FAV";

const NO_ENTITY: &str = "ent_01ARZ3NDEKTSV4RRFFQ69G5FAV";

/// Checks that a reply is a problem with one of these statuses, a request id, and `word` in its
/// details.
#[track_caller]
pub(crate) fn assert_problem(reply: &Reply, statuses: &[u16], word: &str, what: &str) {
    let shown = format!("{what}: {} {:.600}", reply.status, reply.text);
    assert!(statuses.contains(&reply.status), "expected {statuses:?}: {shown}");
    assert_eq!(reply.header("content-type"), "application/problem+json", "{shown}");
    assert!(!reply.header("x-request-id").is_empty(), "no x-request-id: {shown}");
    assert_eq!(reply.body["status"], reply.status, "{shown}");
    for field in ["type", "title", "detail"] {
        assert!(
            reply.body[field].as_str().is_some_and(|text| !text.is_empty()),
            "no {field}: {shown}"
        );
    }
    let details = format!("{} {}", reply.body["detail"], reply.body["errors"]).to_lowercase();
    assert!(details.contains(word), "the problem does not contain {word:?}: {shown}");
}

/// Everything that a bad request could have written. On a deployed stack, where other tests write
/// too, only the contents of the space.
pub(crate) async fn everything(stack: &Client, space: &str) -> [Value; 4] {
    let of_all = async |path| if deployed().is_none() { stack.all(path).await } else { Vec::new() };
    let all = [
        of_all("/v1/entities?limit=200").await,
        of_all("/v1/spaces?limit=200").await,
        stack.messages(space).await,
        stack.runs_of(space).await,
    ];
    all.map(Value::Array)
}

#[tokio::test]
async fn malformed_and_too_large_bodies_are_refused() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let space = stack.space("Team", &[&person]).await;
    let before = everything(&stack, &space).await;
    let messages = format!("/v1/spaces/{space}/messages");
    let malformed: &[u16] = &[400];
    let table: Vec<(Vec<u8>, &[u16], &str)> = vec![
        (b"".into(), malformed, ""),
        (b"{".into(), malformed, ""),
        (b"hello".into(), malformed, ""),
        (b"{\"text\": \"x\",}".into(), malformed, ""),
        (b"{\"text\": \"\\ud800\"}".into(), malformed, ""),
        // API Gateway turns invalid UTF-8 into text.
        (
            b"{\"text\": \"\xff\xfe\"}".into(),
            if stack.is_local() { malformed } else { &[400, 422] },
            "",
        ),
        ("[".repeat(100_000).into(), &[400, 422], ""),
        (format!("{{\"text\": \"{}\"}}", "x".repeat(300 * 1024)).into(), &[413], ""),
    ];
    for (body, statuses, word) in table {
        for path in [messages.as_str(), "/v1/entities", "/v1/spaces"] {
            let what = format!("POST {path} {:.60}", String::from_utf8_lossy(&body));
            // Use a new connection for each request. Another test checks how a refusal affects the
            // next request on the same connection.
            let request = stack
                .request(Method::POST, path)
                .bearer_auth(&stack.key)
                .header("content-type", "application/json");
            let request = request.header("connection", "close");
            assert_problem(&stack.send(request.body(body.clone())).await, statuses, word, &what);
        }
    }
    assert_eq!(everything(&stack, &space).await, before);
}

#[tokio::test]
async fn a_socket_ticket_for_an_unknown_entity_is_refused() {
    let stack = Stack::start().await;
    for (body, statuses) in [
        (json!({ "entityId": NO_ENTITY }), &[404, 422][..]),
        (json!({ "entityId": "nonsense" }), &[422]),
        (json!({ "entity": NO_ENTITY }), &[422]),
    ] {
        let what = format!("a ticket {body}");
        assert_problem(&stack.create("/v1/socketTickets", body).await, statuses, "", &what);
    }
}
