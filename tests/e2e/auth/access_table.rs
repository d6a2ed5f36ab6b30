//! The access table: each route for each kind of caller. A route without a row fails the test.

mod costs;
mod fields;
pub(crate) mod scene;
mod table;

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

pub(crate) use crate::auth::access_table::table::CALLERS;
use crate::{
    auth::access_table::{
        scene::Scene,
        table::{PROTOCOLS, Row, TABLE, rows},
    },
    support::{
        client::{Client, Reply},
        deployed::deployed,
        stack::Stack,
        tokens::{SECRET, Signer, in_seconds},
        webhook_senders,
    },
};

/// Sends the request of a row.
async fn send(scene: &Scene, client: &Client, route: &str, row: &Row, caller: &str) -> Reply {
    let body = (!row.body.is_empty())
        .then(|| serde_json::from_str(&scene.fill(row.body, caller)).unwrap());
    client.call(method_of(route), &scene.fill(&row.path(route), caller), body).await
}

fn parsed(body: &str) -> Value {
    serde_json::from_str(body).unwrap()
}

fn method_of(route: &str) -> Method {
    route.split(' ').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn every_route_has_a_row_in_the_access_table() {
    let stack = Stack::start().await;
    let described = stack.get("/openapi.json").await.must_be(200);
    let methods = |(path, item): (&String, &Value)| {
        let methods = item.as_object().unwrap().keys().filter(|key| key.parse::<Method>().is_ok());
        methods.map(|method| format!("{} {path}", method.to_uppercase())).collect::<Vec<_>>()
    };
    let routes: BTreeSet<String> =
        described["paths"].as_object().unwrap().iter().flat_map(methods).collect();
    let in_table: BTreeSet<String> = TABLE.iter().map(|(route, _)| (*route).to_owned()).collect();
    assert_eq!(routes, in_table, "the routes of the product and of the table");
}

/// A product that accepts tokens, knows the secret of the agent's webhook, and has no rate limit.
async fn stack_with_tokens() -> Option<Stack> {
    Stack::with_env(&[
        ("SMARTSPACE_JWT_SECRET", SECRET),
        ("SMARTSPACE_SECRET_HOOK", webhook_senders::SECRET),
        ("SMARTSPACE_RATE", "0"),
        ("SMARTSPACE_INVITES", "guests"),
    ])
    .await
}

#[tokio::test]
async fn every_caller_gets_the_status_of_the_access_table() {
    let Some(stack) = stack_with_tokens().await else { return };
    let shared = Scene::new(&stack).await;
    let before = state_of(&shared, &stack).await;
    let mut wrong = Vec::new();
    for (route, row) in rows() {
        for (caller, expected) in CALLERS.into_iter().zip(row.expected) {
            // Refused requests and reads change nothing, so they can share one scene.
            let changes = expected < 400 && !route.starts_with("GET");
            let fresh = if changes { Some(Scene::new(&stack).await) } else { None };
            let scene = fresh.as_ref().unwrap_or(&shared);
            let reply = send(scene, &scene.client(&stack, caller), route, row, caller).await;
            if reply.status != expected {
                wrong.push(format!(
                    "{caller}: {route} {}: expected {expected}, got {} {}",
                    row.body, reply.status, reply.text
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(state_of(&shared, &stack).await, before, "refused requests change nothing");
}

#[tokio::test]
async fn every_protocol_accepts_entities_only() {
    if let Some(deployed) = deployed() {
        return deployed.skip("the protocols are on the local host only");
    }
    let Some(stack) = stack_with_tokens().await else { return };
    let scene = Scene::new(&stack).await;
    for (route, body, expected) in PROTOCOLS {
        let request = || {
            let path = route.split(' ').next_back().unwrap();
            let request = stack.request(method_of(route), &scene.fill(path, "member"));
            let request = request.header("accept", "application/json, text/event-stream");
            let request = request.header("a2a-version", "1.0");
            let body = scene.fill(body, "member");
            if body.is_empty() { request } else { request.json(&parsed(&body)) }
        };
        for (caller, expected) in CALLERS.into_iter().zip(expected) {
            let key = scene.client(&stack, caller).key;
            let reply = stack.send(request().bearer_auth(key)).await;
            assert_eq!(reply.status, *expected, "{caller}: {route}: {}", reply.text);
        }
        for refused in [request(), request().bearer_auth("nonsense")] {
            let reply = stack.send(refused).await;
            assert_eq!(reply.status, 401, "{route}: {}", reply.text);
            assert_eq!(reply.header("www-authenticate"), "Bearer", "{route}");
        }
    }
}

/// The state that refused requests must not change. It leaves out the messages of agents and how
/// far they have read, which change independently of the requests.
async fn state_of(scene: &Scene, stack: &Stack) -> Vec<Value> {
    let space = scene.id("space");
    let mut state: Vec<Value> = stack
        .messages(space)
        .await
        .into_iter()
        .filter(|message| message["sender"]["type"] == "human")
        .collect();
    let mut settings = stack.get(&format!("/v1/spaces/{space}")).await.must_be(200);
    settings["seq"] = Value::Null;
    settings["lastMessage"] = Value::Null;
    for member in settings["members"].as_array_mut().unwrap() {
        if member["type"] == "agent" {
            member["readSeq"] = Value::Null;
        }
    }
    state.push(settings);
    for name in ["stranger", "member", "owner", "agent", "newcomer", "open", "closed"] {
        state.push(stack.get(&format!("/v1/entities/{}", scene.id(name))).await.must_be(200));
    }
    for kind in ["memories", "goals", "plans"] {
        state.push(
            stack.get(&format!("/v1/agents/{}/{kind}", scene.id("agent"))).await.must_be(200),
        );
    }
    state
}

#[tokio::test]
async fn every_route_refuses_invalid_credentials() {
    let Some(stack) = stack_with_tokens().await else { return };
    let scene = Scene::new(&stack).await;
    let owner = scene.id("owner");
    let claims = json!({ "sub": owner, "exp": in_seconds(600) });
    let good = Signer::secret(SECRET).token(&claims);
    let credentials = [
        ("no credential", None),
        ("a wrong key", Some(format!("{}x", stack.key))),
        (
            "an expired token",
            Some(Signer::secret(SECRET).token(&json!({ "sub": owner, "exp": in_seconds(-60) }))),
        ),
        ("a token without exp", Some(Signer::secret(SECRET).token(&json!({ "sub": owner })))),
        (
            "a wrong signature",
            Some(Signer::secret("another secret, also of 32 bytes or more").token(&claims)),
        ),
        ("alg none", Some(Signer::none().token(&claims))),
        (
            "other claims under a valid signature",
            Some(with_claims(&good, &json!({ "sub": "admin", "exp": in_seconds(600) }))),
        ),
        ("another algorithm", Some(Signer::rsa("k").token(&claims))),
        ("no guest's token", Some("guest_none".to_owned())),
    ];
    for (route, row) in rows() {
        let path = row.path(route);
        for (what, credential) in &credentials {
            let reply = if let Some(credential) = credential {
                let client = Client::with(&stack, credential);
                send(&scene, &client, route, row, "owner").await
            } else {
                let path = scene.fill(&path, "owner");
                stack.send(stack.request(method_of(route), &path)).await
            };
            let is_open = *what == "no credential" && route.starts_with("POST /v1/invites/");
            let expected = match path.starts_with("/v1/") {
                // It needs none, but a body.
                _ if is_open => 400,
                true => 401,
                false => 200,
            };
            assert_eq!(reply.status, expected, "{route} with {what}: {}", reply.text);
            assert!(
                expected != 401 || reply.header("www-authenticate") == "Bearer",
                "{route} with {what}"
            );
        }
    }
    assert_eq!(
        Client::with(&stack, &good).get("/v1/spaces").await.status,
        200,
        "the valid token is accepted"
    );
}

/// The token with other claims under the same signature.
fn with_claims(token: &str, claims: &Value) -> String {
    let other = Signer::none().token(claims);
    let parts: Vec<_> = token.split('.').collect();
    let others: Vec<_> = other.split('.').collect();
    [parts[0], others[1], parts[2]].join(".")
}

/// All routes, as method and path.
pub(crate) fn routes_of_the_table() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|(route, _)| *route)
}
