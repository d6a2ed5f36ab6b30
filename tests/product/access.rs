//! The access table: every route for every kind of caller. A route without a row fails.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use super::{
    client::{Client, Reply},
    forms::asking,
    routes::{id, woken},
    services,
    stack::Stack,
    tokens::{SECRET, Signer, in_seconds},
    waiting::{SOON, wait_for},
};

/// Who asks, in the order of the table's columns.
const CALLERS: [&str; 5] = ["stranger", "member", "owner", "agent", "admin"];

/// A route, what is sent, and what each caller is told.
type Row = (&'static str, &'static str, &'static str, [u16; 5]);

/// `{me}` is the caller; for the admin, who is no entity, the member. `{,senderId}` and `{,entityId}` stand for what the admin must say besides.
#[rustfmt::skip]
const TABLE: &[Row] = &[
    //                                                                                                    stranger member owner agent admin
    ("POST /v1/entities", "/v1/entities", r#"{"type":"human","name":"New"}"#,                                  [403, 403, 403, 403, 201]),
    ("GET /v1/entities", "/v1/entities", "",                                                                   [200, 200, 200, 200, 200]),
    ("GET /v1/entities/{id}", "/v1/entities/{me}", "",                                                         [200, 200, 200, 200, 200]),
    ("GET /v1/entities/{id}", "/v1/entities/{owner}", "",                                                      [404, 200, 200, 200, 200]),
    ("GET /v1/entities/{id}", "/v1/entities/{agent}", "",                                                      [404, 200, 200, 200, 200]),
    ("PATCH /v1/entities/{id}", "/v1/entities/{me}", r#"{"name":"Renamed"}"#,                                  [200, 200, 200, 200, 200]),
    ("PATCH /v1/entities/{id}", "/v1/entities/{me}", r#"{"name":"Renamed","externalId":"me@example.com"}"#,    [403, 403, 403, 403, 200]),
    ("PATCH /v1/entities/{id}", "/v1/entities/{me}", r#"{"agent":{"instructions":"Obey."}}"#,                  [403, 403, 403, 403, 422]),
    ("PATCH /v1/entities/{id}", "/v1/entities/{owner}", r#"{"name":"Renamed"}"#,                               [404, 403, 200, 403, 200]),
    ("DELETE /v1/entities/{id}", "/v1/entities/{owner}", "",                                                   [404, 403, 403, 403, 204]),
    ("POST /v1/spaces", "/v1/spaces", r#"{"name":"New"}"#,                                                     [201, 201, 201, 201, 201]),
    ("POST /v1/spaces", "/v1/spaces", r#"{"name":"New","members":["{newcomer}","{open}"]}"#,                   [201, 201, 201, 201, 201]),
    ("POST /v1/spaces", "/v1/spaces", r#"{"name":"New","members":["{closed}"]}"#,                              [403, 403, 403, 403, 201]),
    ("GET /v1/spaces", "/v1/spaces", "",                                                                       [200, 200, 200, 200, 200]),
    ("GET /v1/spaces/{id}", "/v1/spaces/{space}", "",                                                          [404, 200, 200, 200, 200]),
    ("PATCH /v1/spaces/{id}", "/v1/spaces/{space}", r#"{"name":"Renamed"}"#,                                   [404, 403, 200, 403, 200]),
    ("DELETE /v1/spaces/{id}", "/v1/spaces/{space}", "",                                                       [404, 403, 204, 403, 204]),
    ("PUT /v1/spaces/{id}/members/{entityId}", "/v1/spaces/{space}/members/{newcomer}", "",                    [404, 403, 200, 403, 200]),
    ("PUT /v1/spaces/{id}/members/{entityId}", "/v1/spaces/{space}/members/{open}", "",                        [404, 403, 200, 403, 200]),
    ("PUT /v1/spaces/{id}/members/{entityId}", "/v1/spaces/{space}/members/{closed}", "",                      [404, 403, 403, 403, 200]),
    ("PUT /v1/spaces/{id}/members/{entityId}", "/v1/spaces/{space}/members/{me}", r#"{"role":"owner"}"#,       [404, 403, 200, 403, 200]),
    ("PUT /v1/spaces/{id}/members/{entityId}", "/v1/spaces/{space}/members/{agent}", r#"{"role":"owner"}"#,    [404, 403, 200, 403, 200]),
    ("DELETE /v1/spaces/{id}/members/{entityId}", "/v1/spaces/{space}/members/{me}", "",                       [404, 204, 204, 204, 204]),
    ("DELETE /v1/spaces/{id}/members/{entityId}", "/v1/spaces/{space}/members/{owner}", "",                    [404, 403, 204, 403, 204]),
    ("DELETE /v1/spaces/{id}/members/{entityId}", "/v1/spaces/{space}/members/{newcomer}", "",                 [404, 403, 204, 403, 204]),
    ("POST /v1/spaces/{id}/messages", "/v1/spaces/{space}/messages", r#"{"text":"Hello"{,senderId}}"#,         [404, 201, 201, 201, 201]),
    ("POST /v1/spaces/{id}/messages", "/v1/spaces/{space}/messages", r#"{"text":"Hello","senderId":"{owner}"}"#, [404, 403, 201, 403, 201]),
    ("POST /v1/spaces/{id}/messages/preview", "/v1/spaces/{space}/messages/preview", r#"{"text":"Hello"{,senderId}}"#, [404, 200, 200, 200, 200]),
    ("GET /v1/spaces/{id}/messages", "/v1/spaces/{space}/messages", "",                                        [404, 200, 200, 200, 200]),
    ("PUT /v1/spaces/{id}/read", "/v1/spaces/{space}/read", r#"{"seq":1{,entityId}}"#,                         [404, 200, 200, 200, 200]),
    ("PUT /v1/spaces/{id}/read", "/v1/spaces/{space}/read", r#"{"seq":1,"entityId":"{owner}"}"#,               [404, 403, 200, 403, 200]),
    ("GET /v1/spaces/{id}/runs", "/v1/spaces/{space}/runs", "",                                                [404, 200, 200, 200, 200]),
    ("GET /v1/agents/{id}/runs", "/v1/agents/{agent}/runs", "",                                                [403, 403, 403, 403, 200]),
    ("GET /v1/agents/{id}/memories", "/v1/agents/{agent}/memories", "",                                        [403, 403, 403, 403, 200]),
    ("PUT /v1/agents/{id}/memories/{key}", "/v1/agents/{agent}/memories/one", r#"{"value":"Oslo"}"#,           [403, 403, 403, 403, 200]),
    ("DELETE /v1/agents/{id}/memories/{key}", "/v1/agents/{agent}/memories/one", "",                           [403, 403, 403, 403, 204]),
    ("GET /v1/agents/{id}/goals", "/v1/agents/{agent}/goals", "",                                              [403, 403, 403, 403, 200]),
    ("PUT /v1/agents/{id}/goals/{goalId}", "/v1/agents/{agent}/goals/one", r#"{"description":"Report"}"#,      [403, 403, 403, 403, 200]),
    ("DELETE /v1/agents/{id}/goals/{goalId}", "/v1/agents/{agent}/goals/one", "",                              [403, 403, 403, 403, 204]),
    ("GET /v1/agents/{id}/plans", "/v1/agents/{agent}/plans", "",                                              [403, 403, 403, 403, 200]),
    ("POST /v1/agents/{id}/plans", "/v1/agents/{agent}/plans", r#"{"name":"Digest","instruction":"Write it.","cron":"0 9 * * *"}"#, [403, 403, 403, 403, 201]),
    ("PUT /v1/agents/{id}/plans/{planId}", "/v1/agents/{agent}/plans/{plan}", r#"{"name":"Renamed"}"#,         [403, 403, 403, 403, 200]),
    ("DELETE /v1/agents/{id}/plans/{planId}", "/v1/agents/{agent}/plans/{plan}", "",                           [403, 403, 403, 403, 204]),
    ("POST /v1/agents/{id}/plans/{planId}/run", "/v1/agents/{agent}/plans/{plan}/run", "",                     [403, 403, 403, 403, 202]),
    ("POST /v1/agents/{id}/trigger", "/v1/agents/{agent}/trigger", r#"{"service":"ci","payload":{}}"#,         [403, 403, 403, 403, 202]),
    ("GET /v1/agents/{id}/deliveries", "/v1/agents/{agent}/deliveries", "",                                    [403, 403, 403, 403, 200]),
    ("POST /v1/agents/{id}/deliveries/{deliveryId}/replay", "/v1/agents/{agent}/deliveries/{delivery}/replay", "", [403, 403, 403, 403, 202]),
    ("POST /v1/hooks/{agentId}/{service}", "/v1/hooks/{agent}/github", r#"{"zen":"No signature, no entry."}"#, [401, 401, 401, 401, 401]),
    ("GET /v1/runs/{id}", "/v1/runs/{run}", "",                                                                [404, 200, 200, 200, 200]),
    ("POST /v1/runs/{id}/cancel", "/v1/runs/{run}/cancel", "",                                                 [404, 202, 202, 403, 202]),
    ("POST /v1/runs/{id}/toolCalls/{callId}/result", "/v1/runs/{asking}/toolCalls/{form}/result", r#"{"output":1}"#, [404, 202, 202, 403, 202]),
    ("POST /v1/runs/{id}/toolCalls/{callId}/result", "/v1/runs/{asking}/toolCalls/{form}/result", r#"{"declined":true}"#, [404, 202, 202, 403, 202]),
    ("POST /v1/runs/{id}/toolCalls/{callId}/result", "/v1/runs/{asking}/toolCalls/{owners}/result", r#"{"output":1}"#, [404, 403, 202, 403, 202]),
    ("POST /v1/runs/{id}/toolCalls/{callId}/result", "/v1/runs/{asking}/toolCalls/{anyones}/result", r#"{"output":1}"#, [404, 202, 202, 202, 202]),
    ("POST /v1/socketTickets", "/v1/socketTickets", "",                                                        [201, 201, 201, 201, 201]),
    ("POST /v1/socketTickets", "/v1/socketTickets", r#"{"entityId":"{me}"}"#,                                  [201, 201, 201, 201, 201]),
    ("POST /v1/socketTickets", "/v1/socketTickets", r#"{"entityId":"{owner}"}"#,                               [403, 403, 201, 403, 201]),
    ("GET /healthz", "/healthz", "",                                                                           [200, 200, 200, 200, 200]),
    ("GET /openapi.json", "/openapi.json", "",                                                                 [200, 200, 200, 200, 200]),
];

/// Forms that wait for people, for the owner, and for anyone.
const FORMS: [&str; 3] = ["form", "owners", "anyones"];

/// A space with an owner, a member, an agent, a run and one that asks, and others outside of it.
pub(crate) struct Scene {
    names: Vec<(&'static str, String)>,
}

impl Scene {
    pub(crate) async fn of(stack: &Stack) -> Self {
        let asks =
            json!({ "steps": [{ "calls": FORMS.map(|tool| json!({ "tool": tool, "input": {} })) }], "when": { "contains": "forms" } });
        let counts = json!({ "steps": [{ "calls": [
            { "tool": "send_message", "input": { "text": "one two three four five six seven eight nine ten eleven twelve" } }] }] });
        let slow = json!({ "wordDelayMs": 1_000, "rules": [counts] });
        let [stranger, member, owner, newcomer] = [stack.person("Eve"), stack.person("Sara"), stack.person("Husam"), stack.person("Noor")];
        let (stranger, member, owner, newcomer) = tokio::join!(stranger, member, owner, newcomer);
        let tools: Vec<_> = FORMS
            .into_iter()
            .zip([json!("humans"), json!([owner]), json!("anyone")])
            .map(|(name, by)| asking(name, json!({ "answerBy": by })))
            .collect();
        let webhooks = json!({ "github": { "scheme": "github", "secrets": ["HOOK"] } });
        let agent =
            |open: bool| json!({ "model": { "provider": "scripted", "name": "demo", "script": slow }, "open": open, "webhooks": webhooks });
        let clerk = json!({ "model": { "provider": "scripted", "name": "demo", "script": { "rules": [asks] } }, "tools": tools });
        let clerk = stack.agent_with("Clerk", clerk).await;
        let [ada, open, closed] =
            [("Ada", false), ("Open", true), ("Closed", false)].map(|(name, open)| stack.agent_with(name, agent(open)));
        let (ada, open, closed) = tokio::join!(ada, open, closed);
        let space = stack.as_entity(&owner).space("Team", &[&member]).await;
        stack.put(&format!("/v1/spaces/{space}/members/{ada}"), json!({})).await.must_be(200);
        let run = woken(&stack.post(&space, &member, "Count, please.").await, &ada).unwrap();
        let desk = stack.space_with("Desk", &[&owner, &member, &ada, &clerk], json!({ "triggerPolicy": "mention" })).await;
        let question = stack.post(&desk, &member, "@Clerk the forms, please.").await;
        let asking = woken(&question, &clerk).unwrap();
        let cards = wait_for("the forms", SOON, async || {
            let messages = stack.messages(&desk).await;
            let cards: Vec<_> = messages.iter().filter(|message| message["parts"][0]["type"] == "tool").cloned().collect();
            (cards.len() == FORMS.len()).then_some(cards)
        })
        .await;
        let forms = FORMS.into_iter().zip(cards).map(|(name, card)| (name, card["parts"][0]["callId"].as_str().unwrap().to_owned()));
        let monthly = json!({ "name": "Report", "instruction": "Write it.", "cron": "0 9 1 * *" });
        let plan = id(&stack.create(&format!("/v1/agents/{ada}/plans"), monthly).await.must_be(201));
        let sent = json!({ "service": "ci", "payload": {} });
        let received = stack.create(&format!("/v1/agents/{ada}/trigger"), sent).await.must_be(202);
        let delivery = received["deliveryId"].as_str().unwrap().to_owned();
        let names = [("stranger", stranger), ("member", member), ("owner", owner), ("agent", ada), ("newcomer", newcomer)];
        let ids = [("open", open), ("closed", closed), ("space", space), ("run", run), ("asking", asking)];
        let kept = [("plan", plan), ("delivery", delivery)];
        Self { names: names.into_iter().chain(ids).chain(kept).chain(forms).collect() }
    }

    /// The id behind a name.
    pub(crate) fn id(&self, name: &str) -> &str {
        &self.names.iter().find(|(known, _)| *known == name).unwrap().1
    }

    /// Who a caller is; the admin is nobody, and acts on the member.
    fn me(&self, caller: &str) -> &str {
        self.id(if caller == "admin" { "member" } else { caller })
    }

    /// A text with the names filled in.
    pub(crate) fn fill(&self, text: &str, caller: &str) -> String {
        let me = self.me(caller);
        let besides = |field: &str| if caller == "admin" { format!(r#","{field}":"{me}""#) } else { String::new() };
        let mut text = text.replace("{me}", me);
        for field in ["senderId", "entityId"] {
            text = text.replace(&format!("{{,{field}}}"), &besides(field));
        }
        self.names.iter().fold(text, |text, (name, id)| text.replace(&format!("{{{name}}}"), id))
    }

    /// The product as a caller meets it.
    pub(crate) fn client(&self, stack: &Stack, caller: &str) -> Client {
        if caller == "admin" { Client::clone(stack) } else { stack.as_entity(self.id(caller)) }
    }

    async fn ask(&self, client: &Client, (route, path, body, _): &Row, caller: &str) -> Reply {
        let method: Method = route.split(' ').next().unwrap().parse().unwrap();
        let body: Option<Value> = (!body.is_empty()).then(|| serde_json::from_str(&self.fill(body, caller)).unwrap());
        client.call(method, &self.fill(path, caller), body).await
    }
}

#[tokio::test]
async fn every_route_has_its_rows() {
    let stack = Stack::start().await;
    let described = stack.get("/openapi.json").await.must_be(200);
    let methods = |(path, item): (&String, &Value)| {
        let methods = item.as_object().unwrap().keys().filter(|key| key.parse::<Method>().is_ok());
        methods.map(|method| format!("{} {path}", method.to_uppercase())).collect::<Vec<_>>()
    };
    let there: BTreeSet<String> = described["paths"].as_object().unwrap().iter().flat_map(methods).collect();
    let in_table: BTreeSet<String> = TABLE.iter().map(|(route, ..)| (*route).to_owned()).collect();
    assert_eq!(there, in_table, "the product's routes, and those of the table");
}

/// A product that believes tokens, knows the secret of the agent's webhook, and lets everyone ask as often as the table does.
async fn believing() -> Option<Stack> {
    Stack::with_env(&[("SMARTSPACE_JWT_SECRET", SECRET), ("SMARTSPACE_SECRET_HOOK", services::SECRET), ("SMARTSPACE_RATE", "0")]).await
}

#[tokio::test]
async fn every_caller_may_what_the_table_says() {
    let Some(stack) = believing().await else { return };
    let refused = Scene::of(&stack).await;
    let before = kept_of(&refused, &stack).await;
    let mut wrong = Vec::new();
    for row in TABLE {
        for (caller, expected) in CALLERS.into_iter().zip(row.3) {
            // What is refused, and what is only read, changes nothing, so one scene is enough for it.
            let changes = expected < 400 && !row.0.starts_with("GET");
            let fresh = if changes { Some(Scene::of(&stack).await) } else { None };
            let scene = fresh.as_ref().unwrap_or(&refused);
            let reply = scene.ask(&scene.client(&stack, caller), row, caller).await;
            if reply.status != expected {
                wrong.push(format!("{caller}: {} {}: {expected} expected, {} {}", row.0, row.2, reply.status, reply.text));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(kept_of(&refused, &stack).await, before, "what is refused leaves no trace");
}

/// What refusals must not change. What agents do goes on by itself, and is left out.
async fn kept_of(scene: &Scene, stack: &Stack) -> Vec<Value> {
    let (space, people) = (scene.id("space"), ["stranger", "member", "owner", "agent", "newcomer", "open", "closed"]);
    let mut kept: Vec<Value> = stack.messages(space).await.into_iter().filter(|message| message["sender"]["type"] == "human").collect();
    let mut settings = stack.get(&format!("/v1/spaces/{space}")).await.must_be(200);
    settings["seq"] = Value::Null;
    kept.push(settings);
    for person in people {
        kept.push(stack.get(&format!("/v1/entities/{}", scene.id(person))).await.must_be(200));
    }
    for kind in ["memories", "goals", "plans"] {
        kept.push(stack.get(&format!("/v1/agents/{}/{kind}", scene.id("agent"))).await.must_be(200));
    }
    kept
}

#[tokio::test]
async fn who_is_not_signed_in_is_told_so_everywhere() {
    let Some(stack) = believing().await else { return };
    let scene = Scene::of(&stack).await;
    let owner = scene.id("owner");
    let claims = json!({ "sub": owner, "exp": in_seconds(600) });
    let good = Signer::secret(SECRET).token(&claims);
    let credentials = [
        ("no credential", None),
        ("a wrong key", Some(format!("{}x", stack.key))),
        ("an expired token", Some(Signer::secret(SECRET).token(&json!({ "sub": owner, "exp": in_seconds(-60) })))),
        ("a token without exp", Some(Signer::secret(SECRET).token(&json!({ "sub": owner })))),
        ("a wrong signature", Some(Signer::secret("another secret, also of 32 bytes or more").token(&claims))),
        ("alg none", Some(Signer::none().token(&claims))),
        ("another's claims under a good signature", Some(swapped(&good, &json!({ "sub": "admin", "exp": in_seconds(600) })))),
        ("another algorithm", Some(Signer::rsa("k").token(&claims))),
    ];
    for row @ (route, path, ..) in TABLE {
        for (what, credential) in &credentials {
            let (method, _) = route.split_once(' ').unwrap();
            let request = stack.request(method.parse().unwrap(), &scene.fill(path, "owner"));
            let reply = match credential {
                Some(credential) => scene.ask(&Client::with(&stack, credential), row, "owner").await,
                None => stack.send(request).await,
            };
            let expected = if path.starts_with("/v1/") { 401 } else { 200 };
            assert_eq!(reply.status, expected, "{route} with {what}: {}", reply.text);
            assert!(expected == 200 || reply.header("www-authenticate") == "Bearer", "{route} with {what}");
        }
    }
    assert_eq!(Client::with(&stack, &good).get("/v1/spaces").await.status, 200, "the good one is good");
}

/// A token that says something else under the same signature.
fn swapped(token: &str, claims: &Value) -> String {
    let other = Signer::none().token(claims);
    let (parts, others): (Vec<_>, Vec<_>) = (token.split('.').collect(), other.split('.').collect());
    [parts[0], others[1], parts[2]].join(".")
}
