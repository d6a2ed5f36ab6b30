//! Well-formed bodies with invalid values, for each kind of object.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    api::bad_input::{NO_ENTITY, assert_problem, everything},
    support::stack::Stack,
};

/// A request that the product must refuse.
struct Case {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) body: Value,
    /// The statuses that are right.
    pub(crate) statuses: &'static [u16],
    /// A word that the problem must contain, in lower case.
    pub(crate) word: &'static str,
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
        (json!({ "nmae": null }), "nmae"),
    ];
    let of_agent = [
        (json!({ "agent": null }), "agent"),
        (json!({ "agent": { "context": { "window": 1 } } }), "/agent/context/window"),
        (json!({ "agent": { "modle": null } }), "modle"),
        (json!({ "agent": { "budget": { "runsPerHour": null } } }), "runsperhour"),
    ];
    let mut all = cases(&Method::PATCH, &person, INVALID, invalid);
    all.extend(cases(&Method::PATCH, &person, &[409, 422], [(json!({ "type": "agent" }), "")]));
    all.extend(cases(&Method::PATCH, &agent, INVALID, of_agent));
    all
}

fn bad_spaces(space: &str, stranger: &str) -> Vec<Case> {
    let path = "/v1/spaces";
    let with = |field: &str, value: Value| json!({ "name": "x", field: value });
    let no_chooser = json!({ "name": "x", "triggerPolicy": "router", "gate": { "mode": "off" } });
    let invalid = [
        (json!({}), "name"),
        (with("members", json!("all")), "members"),
        (with("members", json!(["nonsense"])), "members"),
        (with("triggerPolicy", json!("some")), "triggerpolicy"),
        (with("triggerPolicy", json!("admin")), "adminagentid"),
        (no_chooser, "/router/model"),
        (with("gate", json!({ "mode": "maybe" })), "mode"),
        (with("gate", json!({ "dial": "loud" })), "dial"),
        (with("maxChainDepth", json!(101)), "maxchaindepth"),
        (with("maxAutoReplies", json!(101)), "maxautoreplies"),
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
        (json!({ "entityId": person }), "seq"),
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
