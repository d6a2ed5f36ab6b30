//! What is refused: with which status, in which words, and without a trace.

use reqwest::Method;
use serde_json::{Value, json};

use super::{
    client::{Client, Reply},
    deployed::deployed,
    stack::Stack,
};

/// A space that is not there.
pub(crate) const NO_SPACE: &str = "/v1/spaces/spc_01ARZ3NDEKTSV4RRFFQ69G5FAV";
const NO_ENTITY: &str = "ent_01ARZ3NDEKTSV4RRFFQ69G5FAV";
const NO_RUN: &str = "/v1/runs/run_01ARZ3NDEKTSV4RRFFQ69G5FAV";

/// Every refusal is a problem that says what it is, under an id that the log has too.
#[track_caller]
pub(crate) fn assert_problem(reply: &Reply, statuses: &[u16], word: &str, what: &str) {
    let shown = format!("{what}: {} {:.600}", reply.status, reply.text);
    assert!(statuses.contains(&reply.status), "expected {statuses:?}: {shown}");
    assert_eq!(reply.header("content-type"), "application/problem+json", "{shown}");
    assert!(!reply.header("x-request-id").is_empty(), "no x-request-id: {shown}");
    assert_eq!(reply.body["status"], reply.status, "{shown}");
    for field in ["type", "title", "detail"] {
        assert!(reply.body[field].as_str().is_some_and(|text| !text.is_empty()), "no {field}: {shown}");
    }
    let said = format!("{} {}", reply.body["detail"], reply.body["errors"]).to_lowercase();
    assert!(said.contains(word), "it does not say {word:?}: {shown}");
}

/// All that could have been written. Of a deployed stack, where other tests write too, only what is in the space.
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
async fn bodies_that_are_not_valid() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let stranger = stack.person("Eve").await;
    let agent = stack.agent("Ada", &stack.model.name("ada")).await;
    let space = stack.space("Team", &[&person]).await;
    let before = everything(&stack, &space).await;

    let (entities, spaces) = ("/v1/entities".to_owned(), "/v1/spaces".to_owned());
    let messages = format!("/v1/spaces/{space}/messages");
    let read = format!("/v1/spaces/{space}/read");
    let one_entity = format!("/v1/entities/{person}");
    let one_agent = format!("/v1/entities/{agent}");
    let one_space = format!("/v1/spaces/{space}");
    let fine = json!({ "provider": "scripted", "name": "demo" });
    let agent_of = |config: Value| json!({ "type": "agent", "name": "Bob", "agent": config });
    let said = |text: &str| json!({ "text": text, "senderId": person });
    let (post, put, patch) = (Method::POST, Method::PUT, Method::PATCH);
    let invalid: &[u16] = &[422];
    let table: Vec<(&Method, &String, Value, &[u16], &str)> = vec![
        (&post, &entities, json!(null), &[400, 422], ""),
        (&post, &entities, json!([]), &[400, 422], ""),
        (&post, &entities, json!("text"), &[400, 422], ""),
        (&post, &entities, json!({}), invalid, "type"),
        (&post, &entities, json!({ "type": "human" }), invalid, "name"),
        (&post, &entities, json!({ "type": "robot", "name": "x" }), invalid, "type"),
        (&post, &entities, json!({ "type": "human", "name": 5 }), invalid, "name"),
        (&post, &entities, json!({ "type": "human", "name": "" }), invalid, "name"),
        (&post, &entities, json!({ "type": "human", "name": " \t " }), invalid, "name"),
        (&post, &entities, json!({ "type": "human", "name": "x".repeat(129) }), invalid, "name"),
        (&post, &entities, json!({ "type": "human", "name": "nul \0" }), invalid, "name"),
        (&post, &entities, json!({ "type": "human", "name": "x", "colour": "red" }), invalid, "colour"),
        (&post, &entities, json!({ "type": "human", "name": "x", "id": NO_ENTITY }), invalid, "id"),
        (&post, &entities, json!({ "type": "human", "name": "x", "externalId": "ent_x" }), invalid, "externalid"),
        (&post, &entities, json!({ "type": "human", "name": "x", "externalId": 5 }), invalid, "externalid"),
        (&post, &entities, json!({ "type": "human", "name": "x", "agent": { "model": fine } }), invalid, "agent"),
        (&post, &entities, json!({ "type": "agent", "name": "x" }), invalid, "agent"),
        (&post, &entities, agent_of(json!({})), invalid, "model"),
        (&post, &entities, agent_of(json!({ "model": { "provider": "nobody", "name": "x" } })), invalid, "provider"),
        (&post, &entities, agent_of(json!({ "model": { "provider": "openai", "name": "" } })), invalid, "/agent/model/name"),
        (&post, &entities, agent_of(json!({ "model": fine, "loop": { "maxSteps": 0 } })), invalid, "/agent/loop/maxsteps"),
        (&post, &entities, agent_of(json!({ "model": fine, "loop": { "timeLimit": "soon" } })), invalid, "duration"),
        (&post, &entities, agent_of(json!({ "model": fine, "instructions": "x".repeat(33_000) })), invalid, "/agent/instructions"),
        (&post, &entities, agent_of(json!({ "model": fine, "speed": 5 })), invalid, "speed"),
        (&patch, &one_entity, json!({ "name": "" }), invalid, "name"),
        (&patch, &one_entity, json!({ "name": null }), invalid, "name"),
        (&patch, &one_entity, json!({ "colour": "red" }), invalid, "colour"),
        (&patch, &one_entity, json!({ "type": "agent" }), &[409, 422], ""),
        (&patch, &one_agent, json!({ "agent": null }), invalid, "agent"),
        (&patch, &one_agent, json!({ "agent": { "context": { "window": 1 } } }), invalid, "/agent/context/window"),
        (&post, &spaces, json!({}), invalid, "name"),
        (&post, &spaces, json!({ "name": "x", "members": "all" }), invalid, "members"),
        (&post, &spaces, json!({ "name": "x", "members": ["nonsense"] }), invalid, "members"),
        (&post, &spaces, json!({ "name": "x", "members": [NO_ENTITY] }), &[404, 422], ""),
        (&post, &spaces, json!({ "name": "x", "triggerPolicy": "some" }), invalid, "triggerpolicy"),
        (&post, &spaces, json!({ "name": "x", "triggerPolicy": "admin" }), invalid, "adminagentid"),
        (&post, &spaces, json!({ "name": "x", "triggerPolicy": "router" }), invalid, "router"),
        (&post, &spaces, json!({ "name": "x", "maxChainDepth": 101 }), invalid, "maxchaindepth"),
        (&post, &spaces, json!({ "name": "x", "budget": { "runsPerMinute": 0 } }), invalid, "runsperminute"),
        (&post, &spaces, json!({ "name": "x", "seq": 5 }), invalid, "seq"),
        (&patch, &one_space, json!({ "name": 5 }), invalid, "name"),
        (&patch, &one_space, json!({ "members": [stranger] }), invalid, "members"),
        (&post, &messages, json!({ "senderId": person }), invalid, "text"),
        (&post, &messages, said(""), invalid, "text"),
        (&post, &messages, said("nul \0 inside"), invalid, "nul"),
        (&post, &messages, said(&"x".repeat(32_769)), invalid, "32768"),
        (&post, &messages, said(&"ä".repeat(16_385)), invalid, "32768"),
        (&post, &messages, json!({ "text": ["x"], "senderId": person }), invalid, "text"),
        (&post, &messages, json!({ "text": "x" }), invalid, "senderid"),
        (&post, &messages, json!({ "text": "x", "senderId": "nonsense" }), invalid, "senderid"),
        (&post, &messages, json!({ "text": "x", "senderId": space }), invalid, "senderid"),
        (&post, &messages, json!({ "text": "x", "senderId": stranger }), &[403, 404, 422], "member"),
        (&post, &messages, json!({ "text": "x", "senderId": NO_ENTITY }), &[403, 404, 422], ""),
        (&post, &messages, json!({ "text": "x", "senderId": person, "runId": null }), invalid, "runid"),
        (&put, &read, json!({ "seq": -1, "entityId": person }), invalid, "seq"),
        (&put, &read, json!({ "seq": 1.5, "entityId": person }), invalid, "seq"),
        (&put, &read, json!({ "seq": 1 }), invalid, "entityid"),
        (&put, &read, json!({ "seq": 1, "entityId": stranger }), &[403, 404, 422], ""),
    ];
    for (method, path, body, statuses, word) in table {
        let what = format!("{method} {path} {body:.200}");
        let reply = stack.call(method.clone(), path, Some(body)).await;
        assert_problem(&reply, statuses, word, &what);
    }

    let unknown = stack.create(&entities, json!({ "type": "human", "name": "x", "colour": "red" })).await;
    assert_eq!(unknown.body["errors"][0]["pointer"], "/colour", "{}", unknown.text);
    assert_eq!(everything(&stack, &space).await, before);
}

#[tokio::test]
async fn bodies_that_are_no_json_or_too_large() {
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
        // API Gateway makes text of it.
        (b"{\"text\": \"\xff\xfe\"}".into(), if stack.is_local() { malformed } else { &[400, 422] }, ""),
        ("[".repeat(100_000).into(), &[400, 422], ""),
        (format!("{{\"text\": \"{}\"}}", "x".repeat(300 * 1024)).into(), &[413], ""),
    ];
    for (body, statuses, word) in table {
        for path in [messages.as_str(), "/v1/entities", "/v1/spaces"] {
            let what = format!("POST {path} {:.60}", String::from_utf8_lossy(&body));
            // Each on a connection of its own: what a refusal does to the next request is another test's question.
            let request = stack.request(Method::POST, path).bearer_auth(&stack.key).header("content-type", "application/json");
            let request = request.header("connection", "close");
            assert_problem(&stack.send(request.body(body.clone())).await, statuses, word, &what);
        }
    }
    assert_eq!(everything(&stack, &space).await, before);
}

#[tokio::test]
async fn addresses_that_lead_nowhere() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let space = stack.space("Team", &[&person]).await;
    let before = everything(&stack, &space).await;
    let of_space = |rest: &str| format!("/v1/spaces/{space}{rest}");
    let missing: &[u16] = &[404];
    let malformed: &[u16] = &[400, 404, 422];
    let refused: &[u16] = &[400, 422];
    let table: Vec<(Method, String, &[u16])> = vec![
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
    ];
    for (method, path, statuses) in table {
        // A body that is fine, so that only the address is wrong.
        let body = match method {
            Method::PATCH => Some(json!({ "name": "x" })),
            Method::POST if path.ends_with("/messages") => Some(json!({ "text": "x", "senderId": person })),
            Method::PUT => Some(json!({})),
            _ => None,
        };
        let what = format!("{method} {path}");
        assert_problem(&stack.call(method, &path, body).await, statuses, "", &what);
    }
    assert_eq!(everything(&stack, &space).await, before);
}

#[tokio::test]
async fn a_ticket_for_nobody_is_refused() {
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
