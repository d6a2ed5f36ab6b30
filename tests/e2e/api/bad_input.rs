//! Bad requests: their status, the words of the problem, and that they change nothing.

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
const NO_RUN: &str = "/v1/runs/run_01ARZ3NDEKTSV4RRFFQ69G5FAV";

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

/// A request that the product must refuse.
struct Case {
    method: Method,
    path: String,
    body: Value,
    /// The statuses that are right.
    statuses: &'static [u16],
    /// A word that the problem must contain, in lower case.
    word: &'static str,
}

const INVALID: &[u16] = &[422];
const MALFORMED_OR_INVALID: &[u16] = &[400, 422];
const NOT_A_MEMBER: &[u16] = &[403, 404, 422];

/// Requests with the same method, path and statuses. Each body comes with its word.
fn cases(
    method: &Method,
    path: &str,
    statuses: &'static [u16],
    bodies: impl IntoIterator<Item = (Value, &'static str)>,
) -> Vec<Case> {
    let case =
        |(body, word)| Case { method: method.clone(), path: path.to_owned(), body, statuses, word };
    bodies.into_iter().map(case).collect()
}

fn bad_people() -> Vec<Case> {
    let path = "/v1/entities";
    let named = |name: Value| json!({ "type": "human", "name": name });
    let with = |field: &str, value: Value| json!({ "type": "human", "name": "x", field: value });
    let no_object = [(json!(null), ""), (json!([]), ""), (json!("text"), "")];
    let invalid = [
        (json!({}), "type"),
        (json!({ "type": "human" }), "name"),
        (json!({ "type": "robot", "name": "x" }), "type"),
        (named(json!(5)), "name"),
        (named(json!("")), "name"),
        (named(json!(" \t ")), "name"),
        (named(json!("x".repeat(129))), "name"),
        (named(json!("nul \0")), "name"),
        (with("colour", json!("red")), "colour"),
        (with("id", json!(NO_ENTITY)), "id"),
        (with("externalId", json!("ent_x")), "externalid"),
        (with("externalId", json!(5)), "externalid"),
        (with("agent", json!({ "model": demo_model() })), "agent"),
    ];
    let mut all = cases(&Method::POST, path, MALFORMED_OR_INVALID, no_object);
    all.extend(cases(&Method::POST, path, INVALID, invalid));
    all
}

fn demo_model() -> Value {
    json!({ "provider": "scripted", "name": "demo" })
}

fn bad_agents() -> Vec<Case> {
    let with = |agent: Value| json!({ "type": "agent", "name": "Bob", "agent": agent });
    let model = |provider: &str, name: &str| json!({ "provider": provider, "name": name });
    let fine = demo_model();
    let invalid = [
        (json!({ "type": "agent", "name": "x" }), "agent"),
        (with(json!({})), "model"),
        (with(json!({ "model": model("nobody", "x") })), "provider"),
        (with(json!({ "model": model("openai", "") })), "/agent/model/name"),
        (with(json!({ "model": fine, "loop": { "maxSteps": 0 } })), "/agent/loop/maxsteps"),
        (with(json!({ "model": fine, "loop": { "timeLimit": "soon" } })), "duration"),
        (with(json!({ "model": fine, "instructions": "x".repeat(33_000) })), "/agent/instructions"),
        (with(json!({ "model": fine, "speed": 5 })), "speed"),
    ];
    cases(&Method::POST, "/v1/entities", INVALID, invalid)
}

fn bad_changes_of_entities(person: &str, agent: &str) -> Vec<Case> {
    let person = format!("/v1/entities/{person}");
    let agent = format!("/v1/entities/{agent}");
    let invalid = [
        (json!({ "name": "" }), "name"),
        (json!({ "name": null }), "name"),
        (json!({ "colour": "red" }), "colour"),
    ];
    let of_agent = [
        (json!({ "agent": null }), "agent"),
        (json!({ "agent": { "context": { "window": 1 } } }), "/agent/context/window"),
    ];
    let mut all = cases(&Method::PATCH, &person, INVALID, invalid);
    all.extend(cases(&Method::PATCH, &person, &[409, 422], [(json!({ "type": "agent" }), "")]));
    all.extend(cases(&Method::PATCH, &agent, INVALID, of_agent));
    all
}

fn bad_spaces(space: &str, stranger: &str) -> Vec<Case> {
    let path = "/v1/spaces";
    let with = |field: &str, value: Value| json!({ "name": "x", field: value });
    let invalid = [
        (json!({}), "name"),
        (with("members", json!("all")), "members"),
        (with("members", json!(["nonsense"])), "members"),
        (with("triggerPolicy", json!("some")), "triggerpolicy"),
        (with("triggerPolicy", json!("admin")), "adminagentid"),
        (with("triggerPolicy", json!("router")), "router"),
        (with("maxChainDepth", json!(101)), "maxchaindepth"),
        (with("budget", json!({ "runsPerMinute": 0 })), "runsperminute"),
        (with("seq", json!(5)), "seq"),
    ];
    let changes = [(json!({ "name": 5 }), "name"), (json!({ "members": [stranger] }), "members")];
    let unknown_member = with("members", json!([NO_ENTITY]));
    let mut all = cases(&Method::POST, path, INVALID, invalid);
    all.extend(cases(&Method::POST, path, &[404, 422], [(unknown_member, "")]));
    all.extend(cases(&Method::PATCH, &format!("{path}/{space}"), INVALID, changes));
    all
}

fn bad_messages(space: &str, person: &str, stranger: &str) -> Vec<Case> {
    let path = format!("/v1/spaces/{space}/messages");
    let message = |text: Value, sender: &str| json!({ "text": text, "senderId": sender });
    let said = |text: &str| message(json!(text), person);
    let invalid = [
        (json!({ "senderId": person }), "text"),
        (said(""), "text"),
        (said("nul \0 inside"), "nul"),
        (said(&"x".repeat(32_769)), "32768"),
        (said(&"ä".repeat(16_385)), "32768"),
        (message(json!(["x"]), person), "text"),
        (json!({ "text": "x" }), "senderid"),
        (message(json!("x"), "nonsense"), "senderid"),
        (message(json!("x"), space), "senderid"),
        (json!({ "text": "x", "senderId": person, "runId": null }), "runid"),
    ];
    let not_members =
        [(message(json!("x"), stranger), "member"), (message(json!("x"), NO_ENTITY), "")];
    let mut all = cases(&Method::POST, &path, INVALID, invalid);
    all.extend(cases(&Method::POST, &path, NOT_A_MEMBER, not_members));
    all
}

fn bad_read_positions(space: &str, person: &str, stranger: &str) -> Vec<Case> {
    let path = format!("/v1/spaces/{space}/read");
    let position = |seq: Value, entity: &str| json!({ "seq": seq, "entityId": entity });
    let invalid = [
        (position(json!(-1), person), "seq"),
        (position(json!(1.5), person), "seq"),
        (json!({ "seq": 1 }), "entityid"),
    ];
    let mut all = cases(&Method::PUT, &path, INVALID, invalid);
    all.extend(cases(&Method::PUT, &path, NOT_A_MEMBER, [(position(json!(1), stranger), "")]));
    all
}

#[tokio::test]
async fn invalid_bodies_are_refused_and_change_nothing() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let stranger = stack.person("Eve").await;
    let agent = stack.agent("Ada", &stack.model.name("ada")).await;
    let space = stack.space("Team", &[&person]).await;
    let before = everything(&stack, &space).await;

    let groups = [
        bad_people(),
        bad_agents(),
        bad_changes_of_entities(&person, &agent),
        bad_spaces(&space, &stranger),
        bad_messages(&space, &person, &stranger),
        bad_read_positions(&space, &person, &stranger),
    ];
    for Case { method, path, body, statuses, word } in groups.into_iter().flatten() {
        let what = format!("{method} {path} {body:.200}");
        let reply = stack.call(method, &path, Some(body)).await;
        assert_problem(&reply, statuses, word, &what);
    }

    let colour = json!({ "type": "human", "name": "x", "colour": "red" });
    let unknown = stack.create("/v1/entities", colour).await;
    assert_eq!(unknown.body["errors"][0]["pointer"], "/colour", "{}", unknown.text);
    assert_eq!(everything(&stack, &space).await, before);
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
