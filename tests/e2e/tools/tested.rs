//! `POST /v1/tools/test`: one call of a tool outside of runs.

use serde_json::{Value, json};

use crate::support::{
    mcp_server::McpServer,
    stack::Stack,
    tool_scene::{but, http_tool},
    tool_server::ToolServer,
};

const KEY: &str = "a-key-that-nobody-may-see";

async fn scene() -> Option<(Stack, ToolServer)> {
    let server = ToolServer::start().await;
    let hosts = server.allowed();
    let env = [("SMARTSPACE_TOOL_HOSTS", hosts.as_str()), ("SMARTSPACE_SECRET_KEY", KEY)];
    Some((Stack::with_env(&env).await?, server))
}

async fn test(stack: &Stack, body: Value) -> Value {
    stack.create("/v1/tools/test", body).await.must_be(200)
}

fn result(tested: &Value) -> Value {
    serde_json::from_str(tested["result"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn a_test_makes_one_real_call_and_shows_what_a_model_reads() {
    let Some((stack, server)) = scene().await else { return };
    let url = format!("{}/echo/{{{{input.city}}}}", server.url);
    let headers = json!({"headers": {"X-Api-Key": "${secret.KEY}"}});
    let tool = http_tool("weather", "GET", &url, headers);
    let tested = test(&stack, json!({"tool": tool, "input": {"city": "Oslo"}})).await;
    assert_eq!((&tested["status"], &tested["isError"]), (&json!(200), &json!(false)));
    assert!(tested["milliseconds"].is_u64(), "{tested}");
    let [request] = &server.requests()[..] else { panic!("{:?}", server.requests()) };
    assert_eq!(request.header("x-api-key"), KEY);
    let shown = tested["result"].as_str().unwrap();
    assert!(shown.contains("Oslo") && !shown.contains(KEY), "{shown}");

    let tool = http_tool("no", "GET", &format!("{}/status/404", server.url), json!({}));
    let tested = test(&stack, json!({ "tool": tool })).await;
    assert_eq!((&tested["status"], &tested["isError"]), (&json!(404), &json!(true)));
    let body = json!({"detail": "as you like it"});
    let expected = json!({"error": "the server answered 404 Not Found", "body": body});
    assert_eq!(result(&tested), expected);

    let guarded = http_tool("no", "GET", "http://10.0.0.1/", json!({}));
    let tested = test(&stack, json!({ "tool": guarded })).await;
    assert_eq!((&tested["status"], &tested["isError"]), (&Value::Null, &json!(true)));
    assert!(result(&tested)["error"].is_string(), "{tested}");
    assert_eq!(stack.all("/v1/runs").await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_tool_of_a_server_is_tested() {
    let server = McpServer::start().await;
    let hosts = server.allowed();
    let env = [("SMARTSPACE_TOOL_HOSTS", hosts.as_str())];
    let Some(stack) = Stack::with_env(&env).await else { return };
    let entry = json!({"name": "every", "url": server.url()});
    let body = json!({"mcp": {"server": entry, "tool": "get-sum"}, "input": {"a": 2, "b": 40}});
    let tested = test(&stack, body).await;
    assert_eq!((&tested["status"], &tested["isError"]), (&Value::Null, &json!(false)));
    assert_eq!(result(&tested), "The sum of 2 and 40 is 42.");
    let body = json!({"mcp": {"server": entry, "tool": "nothing"}});
    let refused = stack.create("/v1/tools/test", body).await.must_be(422);
    assert_eq!(refused["errors"][0]["pointer"], "/mcp/tool");
}

#[tokio::test]
async fn what_can_not_be_tested_is_refused() {
    let Some((stack, server)) = scene().await else { return };
    let tool = http_tool("a", "GET", &format!("{}/echo", server.url), json!({}));
    let closed = json!({"properties": {"city": {"type": "string"}}, "required": ["city"]});
    let execution = json!({"type": "space"});
    for (body, pointer) in [
        (json!({}), ""),
        (
            json!({"tool": but(tool.clone(), json!({"execution": execution}))}),
            "/tool/execution/type",
        ),
        (json!({"tool": but(tool.clone(), json!({"name": "a b"}))}), "/tool/name"),
        (json!({"tool": but(tool.clone(), json!({"inputSchema": closed}))}), "/input"),
        (json!({"tool": tool, "more": 1}), "/more"),
        (
            json!({"mcp": {"server": {"name": "a", "url": "ftp://a"}, "tool": "b"}}),
            "/mcp/server/url",
        ),
    ] {
        let refused = stack.create("/v1/tools/test", body.clone()).await.must_be(422);
        assert_eq!(refused["errors"][0]["pointer"], pointer, "{body}: {refused}");
    }
    assert_eq!(server.connections(), 0);
}
