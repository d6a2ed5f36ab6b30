//! Requests to unknown and malformed addresses.

use reqwest::Method;
use serde_json::json;

use crate::{
    api::bad_input::{NO_ENTITY, NO_SPACE, assert_problem, everything},
    support::stack::Stack,
};

const NO_RUN: &str = "/v1/runs/run_01ARZ3NDEKTSV4RRFFQ69G5FAV";

/// Addresses that are wrong, each with the statuses that are right.
fn bad_addresses(space: &str, person: &str) -> Vec<(Method, String, &'static [u16])> {
    let of_space = |rest: &str| format!("/v1/spaces/{space}{rest}");
    let missing: &[u16] = &[404];
    let malformed: &[u16] = &[400, 404, 422];
    let refused: &[u16] = &[400, 422];
    vec![
        (Method::GET, "/v1".into(), missing),
        (Method::GET, "/v1/nothing".into(), missing),
        (Method::GET, "/nothing".into(), missing),
        (Method::POST, "/v2/spaces".into(), missing),
        (Method::GET, of_space("/nothing"), missing),
        (Method::GET, NO_SPACE.into(), missing),
        (Method::GET, format!("{NO_SPACE}/messages"), missing),
        (Method::GET, format!("{NO_SPACE}/runs"), missing),
        (Method::POST, format!("{NO_SPACE}/messages"), missing),
        (Method::PATCH, NO_SPACE.into(), missing),
        (Method::DELETE, NO_SPACE.into(), missing),
        (Method::GET, format!("/v1/entities/{NO_ENTITY}"), missing),
        (Method::PATCH, format!("/v1/entities/{NO_ENTITY}"), missing),
        (Method::DELETE, format!("/v1/entities/{NO_ENTITY}"), missing),
        (Method::GET, format!("/v1/agents/{NO_ENTITY}/runs"), missing),
        (Method::PUT, of_space(&format!("/members/{NO_ENTITY}")), missing),
        (Method::GET, NO_RUN.into(), missing),
        (Method::POST, format!("{NO_RUN}/cancel"), missing),
        (Method::GET, "/v1/spaces/nonsense".into(), malformed),
        (Method::GET, "/v1/spaces/%FF%00".into(), malformed),
        (Method::GET, format!("/v1/spaces/{person}"), malformed),
        (Method::GET, format!("/v1/spaces/{}", space.to_lowercase()), malformed),
        (Method::GET, "/v1/entities/nonsense".into(), malformed),
        (Method::GET, "/v1/runs/nonsense".into(), malformed),
        (Method::POST, "/v1/runs/nonsense/cancel".into(), malformed),
        (Method::PUT, of_space("/members/nonsense"), malformed),
        (Method::PUT, "/v1/entities".into(), &[404, 405]),
        (Method::DELETE, "/v1/spaces".into(), &[404, 405]),
        (Method::PATCH, of_space("/messages"), &[404, 405]),
        (Method::GET, of_space("/read"), &[404, 405]),
        (Method::POST, "/healthz".into(), &[404, 405]),
        (Method::GET, "/v1/entities?limit=0".into(), refused),
        (Method::GET, "/v1/entities?limit=-1".into(), refused),
        (Method::GET, "/v1/spaces?limit=many".into(), refused),
        (Method::GET, "/v1/spaces?cursor=nonsense".into(), refused),
        (Method::GET, of_space("/runs?cursor=%00"), refused),
        (Method::GET, of_space("/messages?limit=0"), refused),
        (Method::GET, of_space("/messages?after=x"), refused),
        (Method::GET, of_space("/messages?after=-1"), refused),
        (Method::GET, of_space("/messages?before=1.5"), refused),
        (Method::GET, of_space("/messages?after=1&before=2"), refused),
    ]
}

#[tokio::test]
async fn unknown_and_malformed_addresses_are_refused() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let space = stack.space("Team", &[&person]).await;
    let before = everything(&stack, &space).await;
    for (method, path, statuses) in bad_addresses(&space, &person) {
        // Send a valid body, so that only the address is wrong.
        let body = match method {
            Method::PATCH => Some(json!({ "name": "x" })),
            Method::POST if path.ends_with("/messages") => {
                Some(json!({ "text": "x", "senderId": person }))
            }
            Method::PUT => Some(json!({})),
            _ => None,
        };
        let what = format!("{method} {path}");
        assert_problem(&stack.call(method, &path, body).await, statuses, "", &what);
    }
    assert_eq!(everything(&stack, &space).await, before);
}
