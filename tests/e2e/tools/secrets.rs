//! Secrets: tools send them to their hosts, and no server can make the product show them to anyone.

mod hosts;
mod leaks;

use serde_json::{Value, json};

use crate::support::{
    stack::Stack,
    tool_scene::{ToolScene, http_tool},
    tool_server::{ReceivedRequest, ToolServer},
};

/// A secret with the characters that need escapes in one encoding or another.
const KEY: &str = r#"p&ss"w\o/rd+=%é"#;
/// A secret that looks like base64.
const TOKEN: &str = "c2VjcmV0LXRva2VuLWZvci10b29scw==";
/// The places of a request that a secret may be in.
const PLACES: [&str; 3] = ["header", "query", "body"];

/// A tool whose requests have a secret in this place.
fn with_secret(tool: &str, url: &str, secret: &str, place: &str) -> Value {
    let value = format!("${{secret.{secret}}}");
    match place {
        "header" => {
            let headers = json!({"Authorization": format!("Bearer {value}"), "X-Api-Key": value});
            http_tool(tool, "GET", &format!("{url}?z=1"), json!({"headers": headers}))
        }
        "query" => {
            http_tool(tool, "GET", &format!("{url}?z=1&key={value}&and=x-{value}"), json!({}))
        }
        _ => {
            let body = json!({"key": value, "in": [format!("<{value}>")]});
            http_tool(tool, "POST", &format!("{url}?z=1"), json!({"body": body}))
        }
    }
}

/// The secret in this place of a request.
fn secret_of(request: &ReceivedRequest, place: &str) -> String {
    match place {
        "header" => request.header("x-api-key").to_owned(),
        "query" => request.parameter("key").unwrap_or_default(),
        _ => request.json()["key"].as_str().unwrap_or_default().to_owned(),
    }
}

#[tokio::test]
async fn a_missing_secret_is_reported_by_name() {
    let server = ToolServer::start().await;
    let hosts = server.allowed();
    let env = [
        ("SMARTSPACE_TOOL_HOSTS", hosts.as_str()),
        ("SMARTSPACE_SECRET_KEY", KEY),
        ("OTHER_KEY", TOKEN),
    ];
    let Some(stack) = Stack::with_env(&env).await else { return };
    let names = ["GONE", "OTHER_KEY", "SMARTSPACE_SECRET_KEY", "OPENAI_API_KEY", "KEY_HOSTS"];
    let tools = |url: &str| {
        names.iter().map(|name| with_secret(name, &format!("{url}/echo"), name, "header")).collect()
    };
    let scene = ToolScene::on(stack, server, tools).await;
    for (name, (status, output)) in names.iter().zip(scene.outcomes(&names).await) {
        let why = format!(
            "the secret {name} is not set here; the operator of this deployment can set it"
        );
        let error = format!("the header Authorization of this tool can't be sent: {why}");
        assert_eq!((status.as_str(), output), ("failed", json!({"error": error})));
    }
    // Only variables with the prefix SMARTSPACE_SECRET_ are secrets.
    assert_eq!(scene.server.connections(), 0);
}
