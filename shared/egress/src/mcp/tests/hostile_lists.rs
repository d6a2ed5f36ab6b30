//! Tool lists that are too long, or whose tools can not be offered to a model.

use serde_json::json;

use crate::mcp::tests::fake::*;
use crate::mcp::*;

fn lists(
    list: impl Fn(&Received) -> Reply + Send + Sync,
) -> impl Fn(&Received) -> Reply + Send + Sync {
    move |request| if request.method == "tools/list" { list(request) } else { Reply::Usual }
}

#[tokio::test]
async fn at_most_a_hundred_tools_are_listed() {
    let names: Vec<String> = (0..5_000).map(|at| format!("tool_{at:04}")).collect();
    let tools: Vec<Value> = names.iter().rev().map(|name| tool(name)).collect();
    let fake =
        Fake::new(lists(move |request| Reply::Json(request.result(json!({ "tools": tools })))))
            .await;
    let servers = servers();
    let expected = names[..100].iter().map(|name| listed(name)).collect();
    assert_eq!(
        servers.tools(&fake.server(), LIMIT).await,
        Listed { tools: expected, trouble: None }
    );
    let last = McpServer { allowed_tools: Some(vec!["tool_4999".into()]), ..fake.server() };
    assert_eq!(
        servers.tools(&last, LIMIT).await,
        Listed { tools: [listed("tool_4999")].into(), trouble: None }
    );
}

#[tokio::test]
async fn tools_that_can_not_be_offered_are_left_out() {
    let with = |name: &str, field: &str, value: Value| {
        let mut tool = tool(name);
        tool[field] = value;
        tool
    };
    let tools = vec![
        with("long", "description", "é".repeat(3_000).into()),
        with("controlled", "description", "a\u{1b}[31m\u{0}b\nc".into()),
        with("wordless", "description", Value::Null),
        tool("twice"),
        with("twice", "description", "Another one.".into()),
        with("big", "inputSchema", json!({"description": "x".repeat(16 * 1024)})),
        with("no_object", "inputSchema", json!(true)),
        with("no_schema", "inputSchema", Value::Null),
        tool("line\nbreak"),
        tool(&"n".repeat(257)),
        tool(""),
        with("x", "name", json!(7)),
        json!("no tool"),
    ];
    let fake =
        Fake::new(lists(move |request| Reply::Json(request.result(json!({ "tools": tools })))))
            .await;
    let described = |name: &str, description: String| ListedTool { description, ..listed(name) };
    let expected = [
        described("controlled", "a [31m b\nc".into()),
        described("long", "é".repeat(2_048)),
        listed("twice"),
        described("wordless", String::new()),
    ];
    assert_eq!(
        servers().tools(&fake.server(), LIMIT).await,
        Listed { tools: expected.into(), trouble: None }
    );
}

#[tokio::test]
async fn a_tool_list_has_a_size_limit() {
    let trouble = |text: &str| Listed { tools: [].into(), trouble: Some(text.into()) };
    let fake = Fake::new(lists(|request| {
        let mut long = tool("a");
        long["description"] = "x".repeat(1_000_000).into();
        Reply::Json(request.result(json!({"tools": [long], "nextCursor": "more"})))
    }))
    .await;
    assert_eq!(
        servers().tools(&fake.server(), LIMIT).await,
        trouble("the server docs sent more than 1 MiB")
    );
    assert!(fake.count("tools/list") <= 5);
}
