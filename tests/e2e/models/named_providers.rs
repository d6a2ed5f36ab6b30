//! Providers that the deployment names itself.

use serde_json::{Value, json};

use crate::{
    models::dialects::{
        scene::product,
        server::DialectServer,
        servers::{azure, ollama},
    },
    support::model::KEY,
};

#[tokio::test]
async fn named_providers_are_listed_without_their_keys_and_refused_if_unknown() {
    let azure = DialectServer::start(azure::dialect()).await;
    let ollama = DialectServer::start(ollama::dialect()).await;
    let Some((stack, _folder)) = product(&[&azure, &ollama]).await else { return };
    let reply = stack.get("/v1/providers").await;
    assert!(!reply.text.contains(KEY), "{}", reply.text);
    let listed = reply.must_be(200)["items"].clone();
    let listed = listed.as_array().unwrap();
    let names: Vec<&str> = listed.iter().map(|item| item["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["anthropic", "azure", "bedrock", "ollama", "openai", "scripted"]);
    let find = |name: &str| listed.iter().find(|item| item["name"] == name).unwrap();
    let apis: Vec<&Value> = [find("azure"), find("ollama")].iter().map(|it| &it["api"]).collect();
    assert_eq!(apis, ["openai", "openai"]);
    let model = json!({ "provider": "groq", "name": "m" });
    let agent = json!({ "type": "agent", "name": "Ada", "agent": { "model": model } });
    let refused = stack.create("/v1/entities", agent).await.must_be(422);
    let detail = refused["errors"][0]["detail"].as_str().unwrap();
    assert!(detail.contains(&names.join(", ")), "{detail}");
}
