//! What models cost is the affair of the operator and of the owners of a space.

use reqwest::Method;
use serde_json::{Value, json};

use super::{scene::Scene, stack_with_tokens};
use crate::support::{
    client::Client,
    routes::seq,
    socket::Socket,
    stack::Stack,
    waiting::{SOON, wait_for},
};

/// The callers, and whether they may know what models cost.
const READERS: [(&str, bool); 4] =
    [("member", false), ("guest", false), ("owner", true), ("admin", true)];

/// Sets a router that chooses nobody.
async fn set_router(stack: &Stack, space: &str) {
    let script = json!({"rules": [{"choose": {"agents": []}}]});
    let model = json!({"provider": "scripted", "name": "demo", "script": script});
    let gate = json!({"mode": "off"});
    let settings = json!({"triggerPolicy": "router", "router": {"model": model}, "gate": gate});
    stack.patch(&format!("/v1/spaces/{space}"), settings).await.must_be(200);
}

async fn post_with_key(stack: &Stack, client: &Client, space: &str) -> Value {
    let path = format!("/v1/spaces/{space}/messages");
    let request = client.request(Method::POST, &path).bearer_auth(&client.key);
    let request = request.header("Idempotency-Key", "costs");
    stack.send(request.json(&json!({"text": "Who knows?"}))).await.must_be(201)
}

async fn follower(client: &Client, space: &str, after: Option<u64>) -> Socket {
    let socket = client.socket().await;
    socket.subscribe(space, after).await;
    socket
}

#[tokio::test]
async fn only_owners_and_the_operator_read_what_a_router_costs() {
    let Some(stack) = stack_with_tokens().await else { return };
    let scene = Scene::new(&stack).await;
    let space = scene.id("space");
    set_router(&stack, space).await;
    let mut followers = Vec::new();
    for (caller, is_shown) in READERS {
        let client = scene.client(&stack, caller);
        let socket = follower(&client, space, None).await;
        followers.push((caller, is_shown, client, socket));
    }
    let member = scene.client(&stack, "member");
    let posted = post_with_key(&stack, &member, space).await;
    let is_same = |message: &Value| message["id"] == posted["id"] && message["router"].is_object();
    for (caller, is_shown, client, socket) in &followers {
        let frame = socket.frame("message.updated", SOON, |it| is_same(&it["message"])).await;
        let listed = wait_for("the decision", SOON, async || {
            let path = format!("/v1/spaces/{space}/messages");
            let page = client.get(&path).await.must_be(200);
            page["items"].as_array().unwrap().iter().find(|it| is_same(it)).cloned()
        })
        .await;
        let late = follower(client, space, Some(seq(&posted) - 1)).await;
        let replayed = late.frame("message.created", SOON, |it| is_same(&it["message"])).await;
        for seen in [&frame.body["message"], &listed, &replayed.body["message"]] {
            let router = &seen["router"];
            assert!(router["latencyMs"].is_u64(), "{caller}: {seen}");
            let found = (router["model"].is_string(), router["usage"].is_object());
            assert_eq!(found, (*is_shown, *is_shown), "{caller}: {seen}");
        }
    }
    let repeated = post_with_key(&stack, &member, space).await;
    assert_eq!(repeated["id"], posted["id"]);
    assert!(repeated["router"].get("usage").is_none(), "{repeated}");
}

#[tokio::test]
async fn only_owners_and_the_operator_read_what_a_run_costs() {
    let Some(stack) = stack_with_tokens().await else { return };
    let scene = Scene::new(&stack).await;
    let [space, run] = ["space", "run"].map(|name| scene.id(name));
    let mut followers = Vec::new();
    for (caller, is_shown) in READERS {
        let client = scene.client(&stack, caller);
        let shown = client.get(&format!("/v1/runs/{run}")).await.must_be(200);
        let path = format!("/v1/spaces/{space}/runs");
        let listed = client.get(&path).await.must_be(200)["items"].clone();
        let listed = listed.as_array().unwrap().iter().find(|it| it["id"] == run).cloned();
        for seen in [&shown, &listed.unwrap()] {
            assert_eq!(seen["usage"].is_object(), is_shown, "{caller}: {seen}");
        }
        followers.push((caller, follower(&client, space, None).await));
    }
    stack.cancel(run).await.must_be(202);
    for (caller, socket) in followers {
        let frame = socket.frame("run.canceled", SOON, |it| it["run"]["id"] == run).await;
        // Frames do not say who owns the space: owners read the usage over HTTP.
        let is_shown = caller == "admin";
        assert_eq!(frame.body["run"]["usage"].is_object(), is_shown, "{caller}: {}", frame.body);
    }
}

#[tokio::test]
async fn only_owners_and_the_operator_read_the_scores_of_the_gate() {
    let Some(stack) = stack_with_tokens().await else { return };
    let scene = Scene::new(&stack).await;
    let space = scene.id("space");
    let shadow = json!({"gate": {"mode": "shadow"}});
    stack.patch(&format!("/v1/spaces/{space}"), shadow).await.must_be(200);
    let mut followers = Vec::new();
    for (caller, is_shown) in READERS {
        let client = scene.client(&stack, caller);
        let socket = follower(&client, space, None).await;
        let settings = client.get(&format!("/v1/spaces/{space}")).await.must_be(200);
        assert_eq!(settings["gate"]["mode"], "shadow", "{caller}: all members read the setting");
        followers.push((caller, is_shown, client, socket));
    }
    for (sender, is_shown) in [("member", false), ("owner", true)] {
        let client = scene.client(&stack, sender);
        let path = format!("/v1/spaces/{space}/messages");
        let posted = client.create(&path, json!({"text": "Hello."})).await.must_be(201);
        assert_eq!(posted["gate"].is_object(), is_shown, "{sender}: {posted}");
        for (caller, is_shown, client, socket) in &followers {
            let is_same = |it: &Value| it["message"]["id"] == posted["id"];
            let frame = socket.frame("message.created", SOON, is_same).await;
            let page = client.get(&path).await.must_be(200);
            let mut listed = page["items"].as_array().unwrap().iter();
            let listed = listed.find(|it| it["id"] == posted["id"]).unwrap();
            for seen in [&frame.body["message"], listed] {
                assert_eq!(seen["gate"].is_object(), *is_shown, "{caller}: {seen}");
            }
        }
    }
}
