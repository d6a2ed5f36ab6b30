//! The `OpenAPI` description, and promises that no schema can express: pages, patches, request ids,
//! malformed bodies.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    api::bad_input::assert_problem,
    support::{routes::seq, stack::Stack},
};

const PAGE_BYTES: usize = 1024 * 1024;

#[tokio::test]
async fn the_openapi_description_needs_no_key_and_equals_the_committed_file() {
    let stack = Stack::start().await;
    let served = stack.send(stack.request(Method::GET, "/openapi.json")).await;
    assert_eq!(served.header("content-type"), "application/json");
    let committed: Value =
        serde_json::from_str(include_str!("../../../docs/reference/openapi.json")).unwrap();
    assert_eq!(served.must_be(200), committed);
}

#[tokio::test]
async fn every_problem_carries_the_request_id() {
    let stack = Stack::start().await;
    let large = json!({ "name": "x".repeat(300 * 1024) });
    let requests = [
        (401, stack.request(Method::GET, "/v1/spaces")),
        (404, stack.request(Method::GET, "/v1/nothing")),
        (404, stack.request(Method::GET, "/console/nothing.js")),
        (405, stack.request(Method::DELETE, "/v1/spaces")),
        (405, stack.request(Method::TRACE, "/openapi.json")),
        (413, stack.request(Method::POST, "/v1/spaces").json(&large)),
        (422, stack.request(Method::POST, "/v1/spaces").json(&json!({}))),
    ];
    // A deployed stack has its WebSocket API at another address.
    let socket = stack.is_local().then(|| (400, stack.request(Method::GET, "/v1/socket")));
    for (status, request) in requests.into_iter().chain(socket) {
        let request = if status == 401 { request } else { request.bearer_auth(&stack.key) };
        let reply = stack.send(request.header("x-request-id", format!("my/{status}"))).await;
        assert_problem(&reply, &[status], "", &format!("{status}"));
        assert_eq!(reply.header("x-request-id"), format!("my/{status}"));
        assert_eq!(reply.body["instance"], format!("urn:request:my%2F{status}"), "{}", reply.text);
        assert_eq!(reply.headers.contains_key("allow"), status == 405, "{:?}", reply.headers);
    }
    // The emulator answers OPTIONS requests itself.
    let options = stack.is_local().then_some((Method::OPTIONS, 200));
    for (method, status) in [(Method::HEAD, 404)].into_iter().chain(options) {
        let request = stack.request(method.clone(), "/v1/nothing");
        let reply = stack.send(request.header("origin", "https://example.com")).await;
        assert_eq!((reply.status, reply.header("x-request-id").len()), (status, 32), "{method}");
    }
}

#[tokio::test]
async fn a_page_of_large_items_ends_at_one_mebibyte() {
    let Some(stack) = Stack::alone("it lists all entities").await else { return };
    let mut made = Vec::new();
    for number in 0..8 {
        let script = json!({ "rules": [{ "steps": [{ "text": "x".repeat(200_000) }] }] });
        let agent =
            json!({ "model": { "provider": "scripted", "name": "demo", "script": script } });
        let body = json!({ "type": "agent", "name": format!("Large {number}"), "agent": agent });
        made.push(stack.create("/v1/entities", body).await.must_be(201));
    }
    let first = stack.get("/v1/entities?limit=200").await;
    assert!(first.text.len() <= PAGE_BYTES + 1_024, "{}", first.text.len());
    assert_eq!(first.body["items"].as_array().unwrap().len(), 5);
    assert_eq!(stack.all("/v1/entities?limit=200").await, made);

    // Each of these characters takes six bytes in JSON.
    let person = stack.person("Husam").await;
    let space = stack.space("Loud", &[&person]).await;
    for _ in 0..8 {
        stack.post(&space, &person, &"\u{1}".repeat(30_000)).await;
    }
    let newest = stack.get(&format!("/v1/spaces/{space}/messages?limit=200")).await;
    assert!(newest.text.len() <= PAGE_BYTES + 1_024, "{}", newest.text.len());
    assert_eq!(
        newest.body["items"].as_array().unwrap().iter().map(seq).collect::<Vec<_>>(),
        [4, 5, 6, 7, 8]
    );
    assert_eq!(stack.messages(&space).await.len(), 8);
}

#[tokio::test]
async fn a_merge_patch_changes_the_named_fields_and_null_resets_them() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let space =
        stack.space_with("Team", &[&person], json!({ "maxChainDepth": 9, "paused": true })).await;
    let path = format!("/v1/spaces/{space}");
    let before = stack.get(&path).await.must_be(200);
    let patch = json!({ "maxChainDepth": null, "budget": { "tokensPerDay": 5.0 } });
    let mut expected = before.clone();
    expected["maxChainDepth"] = 5.into();
    expected["budget"]["tokensPerDay"] = 5.into();
    for kind in ["application/merge-patch+json", "application/json", "text/plain"] {
        let request = stack
            .request(Method::PATCH, &path)
            .bearer_auth(&stack.key)
            .header("content-type", kind);
        assert_eq!(
            stack.send(request.body(patch.to_string())).await.must_be(200),
            expected,
            "{kind}"
        );
    }
    assert_eq!(stack.patch(&path, json!({})).await.must_be(200), expected);
    // A JSON Patch is refused.
    let other = json!([{ "op": "replace", "path": "/paused", "value": false }]);
    assert_problem(&stack.patch(&path, other).await, &[422], "object", "a JSON patch");
    assert_eq!(stack.get(&path).await.must_be(200), expected);
}

#[tokio::test]
async fn an_agent_configuration_may_hold_any_json() {
    let stack = Stack::start().await;
    let mut deep = json!({});
    // As deep as a list with this agent can still be parsed.
    for _ in 0..58 {
        deep = json!({ "properties": { "": deep } });
    }
    let schema =
        json!({ "default": [1e300, 1e-300, -0.5, u64::MAX, "\u{1}"], "": null, "not": deep });
    let tool = |name: &str, execution: Value| {
        json!({
            "name": name,
            "description": "",
            "inputSchema": schema,
            "execution": execution,
        })
    };
    let tools = json!([
        tool("form", json!({ "type": "space" })),
        tool("fixed", json!({ "type": "static", "output": schema }))
    ]);
    let agent = json!({ "model": { "provider": "scripted", "name": "demo" }, "tools": tools });
    let made = stack
        .create("/v1/entities", json!({ "type": "agent", "name": "Ada", "agent": agent }))
        .await
        .must_be(201);
    assert_eq!(made["agent"]["tools"][1]["execution"]["output"], schema);
    assert_eq!(made["agent"]["tools"][0]["execution"]["answerBy"], "humans");
    let path = format!("/v1/entities/{}", made["id"].as_str().unwrap());
    assert_eq!(stack.get(&path).await.must_be(200), made);
    let renamed = stack.patch(&path, json!({ "name": "Bea" })).await.must_be(200);
    assert_eq!((&renamed["name"], &renamed["agent"]), (&json!("Bea"), &made["agent"]));
}

#[tokio::test]
async fn almost_json_bodies_are_refused() {
    // API Gateway turns invalid UTF-8 into text.
    let Some(stack) = Stack::alone("it lists all spaces and sends invalid UTF-8").await else {
        return;
    };
    let nested = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let table: [(&[u8], u16); 9] = [
        (b"", 400),
        (b"{\"name\":\"\xff\"}", 400),
        (br#"{"name":"\ud800"}"#, 400),
        (b"{\"name\":\"x\"}\0", 400),
        (b"{\"name\":\"a\nb\"}", 400),
        (br#"{"name":"x","budget":{"costPerDay":1e999}}"#, 400),
        (nested.as_bytes(), 400),
        (br#"["x"]"#, 422),
        (br#"{"name":"x","budget":[null,null,5]}"#, 422),
    ];
    for (body, status) in table {
        let request =
            stack.request(Method::POST, "/v1/spaces").bearer_auth(&stack.key).body(body.to_vec());
        let what = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
        assert_problem(&stack.send(request).await, &[status], "", &what);
    }
    assert!(stack.all("/v1/spaces").await.is_empty());
}
