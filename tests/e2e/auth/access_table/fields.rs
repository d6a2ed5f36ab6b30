//! The access table by field: who can set each field of the configurations that an owner can write.
//! A field without a row fails the test.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    method_of, parsed,
    scene::Scene,
    stack_with_tokens,
    table::{TABLE, rows},
};
use crate::support::stack::Stack;

/// The kinds of callers, in the order of the columns.
const CALLERS: [&str; 4] = ["member", "owner", "guest", "admin"];

/// A body and the expected status for each kind of caller.
struct FieldRow {
    /// The fields that the row is about, separated by spaces. A field that an owner can't set
    /// stands for all fields below it, too.
    fields: &'static str,
    body: &'static str,
    expected: [u16; 4],
}

const fn row(fields: &'static str, body: &'static str, expected: [u16; 4]) -> FieldRow {
    FieldRow { fields, body, expected }
}

/// Routes whose bodies are no configuration: they post, answer, read or connect.
const CONTENT: [&str; 9] = [
    "POST /v1/spaces/{id}/messages",
    "POST /v1/spaces/{id}/messages/preview",
    "PATCH /v1/spaces/{id}/messages/{seq}",
    "PUT /v1/spaces/{id}/messages/{seq}/reactions",
    "POST /v1/spaces/{id}/attachments",
    "PUT /v1/spaces/{id}/read",
    "POST /v1/runs/{id}/toolCalls/{callId}/result",
    "POST /v1/runs/{id}/toolCalls/{callId}/decision",
    "POST /v1/socketTickets",
];

const LONG: &str = r#"{"name":"N","router":{"instructions":"{2000}"}}"#;
const TOO_LONG: &str = r#"{"name":"N","router":{"instructions":"{2001}"}}"#;
const RUNS: &str = r#"{"name":"N","budget":{"runsPerMinute":120}}"#;
const TOO_MANY_RUNS: &str = r#"{"name":"N","budget":{"runsPerMinute":121}}"#;
const TOKENS: &str = r#"{"name":"N","budget":{"tokensPerDay":9}}"#;
const TIMEOUT: &str = r#"{"name":"N","router":{"timeoutMs":60000}}"#;
const MODEL: &str = r#"{"name":"New","router":{"model":{"provider":"openai","name":"m"}}}"#;
const ADMIN: &str =
    r#"{"name":"New","members":["{open}"],"triggerPolicy":"admin","adminAgentId":"{open}"}"#;
const NOTHING_CHOOSES: &str = r#"{"name":"N","triggerPolicy":"router","gate":{"mode":"off"}}"#;
const MODEL_PATCH: &str = r#"{"router":{"model":{"provider":"openai","name":"m"}}}"#;

/// All fields of the configurations that an owner can write. The columns are those of [`CALLERS`].
/// The creator of a space is its owner.
#[rustfmt::skip]
const FIELDS: &[(&str, &str, &[FieldRow])] = &[
    ("POST /v1/spaces", "/v1/spaces", &[
        row("name", r#"{"name":"N"}"#,                                      [201, 201, 403, 201]),
        row("members", r#"{"name":"N","members":["{newcomer}"]}"#,          [201, 201, 403, 201]),
        row("triggerPolicy", r#"{"name":"N","triggerPolicy":"mention"}"#,   [201, 201, 403, 201]),
        row("triggerPolicy", r#"{"name":"N","triggerPolicy":"router"}"#,    [201, 201, 403, 201]),
        row("triggerPolicy", NOTHING_CHOOSES,                               [422, 422, 403, 422]),
        row("gate", r#"{"name":"N","gate":{}}"#,                            [201, 201, 403, 201]),
        row("gate.mode", r#"{"name":"N","gate":{"mode":"shadow"}}"#,        [201, 201, 403, 201]),
        row("gate.dial", r#"{"name":"N","gate":{"dial":"lively"}}"#,        [201, 201, 403, 201]),
        row("adminAgentId", ADMIN,                                          [201, 201, 403, 201]),
        row("paused", r#"{"name":"N","paused":true}"#,                      [201, 201, 403, 201]),
        row("answerQuestions", r#"{"name":"N","answerQuestions":false}"#,   [201, 201, 403, 201]),
        row("maxChainDepth", r#"{"name":"N","maxChainDepth":5}"#,           [201, 201, 403, 201]),
        row("maxChainDepth", r#"{"name":"N","maxChainDepth":6}"#,           [403, 403, 403, 201]),
        row("maxAutoReplies", r#"{"name":"N","maxAutoReplies":3}"#,         [201, 201, 403, 201]),
        row("maxAutoReplies", r#"{"name":"N","maxAutoReplies":4}"#,         [403, 403, 403, 201]),
        row("router", r#"{"name":"N","router":{}}"#,                        [201, 201, 403, 201]),
        row("router.model", MODEL,                                          [403, 403, 403, 201]),
        row("router.instructions", LONG,                                    [201, 201, 403, 201]),
        row("router.instructions", TOO_LONG,                                [403, 403, 403, 201]),
        row("router.maxAgents", r#"{"name":"N","router":{"maxAgents":20}}"#, [201, 201, 403, 201]),
        row("router.timeoutMs", TIMEOUT,                                    [201, 201, 403, 201]),
        row("budget", r#"{"name":"N","budget":{}}"#,                        [201, 201, 403, 201]),
        row("budget.runsPerMinute", RUNS,                                   [201, 201, 403, 201]),
        row("budget.runsPerMinute", TOO_MANY_RUNS,                          [403, 403, 403, 201]),
        row("budget.tokensPerDay", TOKENS,                                  [201, 201, 403, 201]),
        row("budget.costPerDay", r#"{"name":"N","budget":{"costPerDay":9}}"#, [201, 201, 403, 201]),
    ]),
    ("PATCH /v1/spaces/{id}", "/v1/spaces/{space}", &[
        row("name", r#"{"name":"N"}"#,                                      [403, 200, 403, 200]),
        row("triggerPolicy", r#"{"triggerPolicy":"mention"}"#,              [403, 200, 403, 200]),
        row("triggerPolicy", r#"{"triggerPolicy":"router"}"#,               [403, 200, 403, 200]),
        row("gate", r#"{"gate":{}}"#,                                       [403, 200, 403, 200]),
        row("gate.mode", r#"{"gate":{"mode":"shadow"}}"#,                   [403, 200, 403, 200]),
        row("gate.dial", r#"{"gate":{"dial":"lively"}}"#,                   [403, 200, 403, 200]),
        row("adminAgentId", r#"{"adminAgentId":"{agent}"}"#,                [403, 200, 403, 200]),
        row("paused", r#"{"paused":true}"#,                                 [403, 200, 403, 200]),
        row("answerQuestions", r#"{"answerQuestions":false}"#,              [403, 200, 403, 200]),
        row("maxChainDepth", r#"{"maxChainDepth":5}"#,                      [403, 200, 403, 200]),
        row("maxChainDepth", r#"{"maxChainDepth":6}"#,                      [403, 403, 403, 200]),
        row("maxAutoReplies", r#"{"maxAutoReplies":3}"#,                    [403, 200, 403, 200]),
        row("maxAutoReplies", r#"{"maxAutoReplies":4}"#,                    [403, 403, 403, 200]),
        row("router", r#"{"router":{}}"#,                                   [403, 200, 403, 200]),
        row("router.model", MODEL_PATCH,                                    [403, 403, 403, 200]),
        row("router.instructions", r#"{"router":{"instructions":"{2000}"}}"#, [403, 200, 403, 200]),
        row("router.instructions", r#"{"router":{"instructions":"{2001}"}}"#, [403, 403, 403, 200]),
        row("router.maxAgents", r#"{"router":{"maxAgents":20}}"#,           [403, 200, 403, 200]),
        row("router.timeoutMs", r#"{"router":{"timeoutMs":60000}}"#,        [403, 200, 403, 200]),
        row("budget", r#"{"budget":{}}"#,                                   [403, 200, 403, 200]),
        row("budget.runsPerMinute", r#"{"budget":{"runsPerMinute":120}}"#,  [403, 200, 403, 200]),
        row("budget.runsPerMinute", r#"{"budget":{"runsPerMinute":121}}"#,  [403, 403, 403, 200]),
        row("budget.tokensPerDay", r#"{"budget":{"tokensPerDay":9}}"#,      [403, 200, 403, 200]),
        row("budget.costPerDay", r#"{"budget":{"costPerDay":9}}"#,          [403, 200, 403, 200]),
    ]),
    ("PUT /v1/spaces/{id}/members/{entityId}", "/v1/spaces/{space}/members/{newcomer}", &[
        row("role", r#"{"role":"member"}"#,                                 [403, 200, 403, 200]),
        row("role", r#"{"role":"owner"}"#,                                  [403, 200, 403, 200]),
    ]),
    ("POST /v1/spaces/{id}/invites", "/v1/spaces/{space}/invites", &[
        row("role", r#"{"role":"member"}"#,                                 [403, 201, 403, 201]),
        row("role", r#"{"role":"owner"}"#,                                  [403, 422, 403, 422]),
        row("uses", r#"{"uses":100}"#,                                      [403, 201, 403, 201]),
        row("expiresAfter", r#"{"expiresAfter":"1 week"}"#,                 [403, 201, 403, 201]),
    ]),
    ("PATCH /v1/entities/{id}", "/v1/entities/{me}", &[
        row("name", r#"{"name":"Renamed"}"#,                                [200, 200, 403, 200]),
        row("type", r#"{"type":"human"}"#,                                  [403, 403, 403, 200]),
        row("externalId", r#"{"externalId":"me@example.com"}"#,             [403, 403, 403, 200]),
        row("agent", r#"{"agent":{"instructions":"Obey."}}"#,               [403, 403, 403, 422]),
    ]),
];

impl FieldRow {
    fn body(&self, scene: &Scene, caller: &str) -> Value {
        let filled = [2_000, 2_001].into_iter().fold(self.body.to_owned(), |text, count| {
            text.replace(&format!("{{{count}}}"), &"a".repeat(count))
        });
        parsed(&scene.fill(&filled, caller))
    }

    /// Whether the row is about this field, or refuses all that contains it.
    fn is_about(&self, field: &str) -> bool {
        self.fields.split(' ').any(|own| {
            let is_below = field.strip_prefix(own).is_some_and(|rest| rest.starts_with('.'));
            field == own || (is_below && self.expected[1] == 403)
        })
    }
}

/// The fields of a schema and of those below it, with dots in between.
fn fields_of(described: &Value, schema: &Value, prefix: &str, found: &mut BTreeSet<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let pointer = reference.trim_start_matches('#');
        return fields_of(described, described.pointer(pointer).unwrap(), prefix, found);
    }
    for kind in ["oneOf", "anyOf", "allOf"] {
        for part in schema[kind].as_array().into_iter().flatten() {
            fields_of(described, part, prefix, found);
        }
    }
    for (name, below) in schema["properties"].as_object().into_iter().flatten() {
        let field = format!("{prefix}{name}");
        // Schemas of tools contain themselves.
        if field.matches('.').count() < 8 && found.insert(field.clone()) {
            fields_of(described, below, &format!("{field}."), found);
        }
    }
    if schema["items"].is_object() {
        fields_of(described, &schema["items"], prefix, found);
    }
}

#[tokio::test]
async fn every_field_of_a_configuration_that_an_owner_can_write_has_a_row() {
    let stack = Stack::start().await;
    let described = stack.get("/openapi.json").await.must_be(200);
    // The third column of the access table is the owner's.
    let writable: BTreeSet<&str> =
        rows().filter(|(_, row)| row.expected[2] < 400).map(|(route, _)| route).collect();
    let mut missing = Vec::new();
    for (route, _) in TABLE {
        let (method, path) = route.split_once(' ').unwrap();
        let operation = &described["paths"][path][method.to_lowercase()];
        let body = operation["requestBody"]["content"].as_object();
        let Some(body) = body.filter(|_| writable.contains(route) && method != "GET") else {
            continue;
        };
        if CONTENT.contains(route) {
            continue;
        }
        let Some((.., own)) = FIELDS.iter().find(|(known, ..)| known == route) else {
            missing.push((*route).to_owned());
            continue;
        };
        let mut fields = BTreeSet::new();
        for content in body.values() {
            fields_of(&described, &content["schema"], "", &mut fields);
        }
        assert!(!fields.is_empty(), "{route}");
        let without = fields.iter().filter(|field| !own.iter().any(|row| row.is_about(field)));
        missing.extend(without.map(|field| format!("{route} {field}")));
    }
    assert!(missing.is_empty(), "add rows to FIELDS: {missing:#?}");
}

#[tokio::test]
async fn every_caller_sets_the_fields_of_the_table_and_no_others() {
    let Some(stack) = stack_with_tokens().await else { return };
    let shared = Scene::new(&stack).await;
    let mut wrong = Vec::new();
    for (route, path, rows) in FIELDS {
        for row in *rows {
            for (caller, expected) in CALLERS.into_iter().zip(row.expected) {
                let fresh = if expected < 400 { Some(Scene::new(&stack).await) } else { None };
                let scene = fresh.as_ref().unwrap_or(&shared);
                let path = scene.fill(path, caller);
                let body = row.body(scene, caller);
                let client = scene.client(&stack, caller);
                let reply = client.call(method_of(route), &path, Some(body.clone())).await;
                if reply.status != expected {
                    wrong.push(format!(
                        "{caller}: {route} {body}: expected {expected}, got {} {}",
                        reply.status, reply.text
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn only_owners_and_the_operator_read_what_a_space_may_spend() {
    let Some(stack) = stack_with_tokens().await else { return };
    let scene = Scene::new(&stack).await;
    let space = scene.id("space");
    let path = format!("/v1/spaces/{space}");
    let router = json!({"instructions": "A secret of the owners."});
    stack.patch(&path, json!({"router": router})).await.must_be(200);
    for (caller, is_shown) in
        [("member", false), ("guest", false), ("owner", true), ("admin", true)]
    {
        let client = scene.client(&stack, caller);
        let shown = client.get(&path).await.must_be(200);
        let listed = client.get("/v1/spaces").await.must_be(200)["items"].clone();
        let listed = listed.as_array().unwrap().iter().find(|it| it["id"] == space).cloned();
        let socket = client.socket().await;
        socket.subscribe(space, None).await;
        let name = format!("Seen by {caller}");
        stack.patch(&path, json!({"name": name})).await.must_be(200);
        let is_new = |frame: &Value| frame["space"]["name"] == name.as_str();
        let frame = socket.frame("space.updated", crate::support::waiting::SOON, is_new).await;
        for seen in [&shown, &listed.unwrap(), &frame.body["space"]] {
            let found = (seen.get("router").is_some(), seen.get("budget").is_some());
            assert_eq!(found, (is_shown, is_shown), "{caller}: {seen}");
            assert_eq!(seen.to_string().contains("A secret"), is_shown, "{caller}: {seen}");
        }
    }
}
