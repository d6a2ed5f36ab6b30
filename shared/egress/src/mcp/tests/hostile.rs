use serde_json::json;
use tokio::sync::watch;

use super::fake::*;
use crate::mcp::*;

fn lists(list: impl Fn(&Seen) -> Reply + Send + Sync) -> impl Fn(&Seen) -> Reply + Send + Sync {
    move |seen| if seen.method == "tools/list" { list(seen) } else { Reply::Usual }
}

fn deep() -> String {
    format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))
}

#[tokio::test]
async fn answers_that_are_too_long_are_left() {
    let (result, _) = called(|seen| Reply::Json(seen.result(text(&"x".repeat(10_000_000))))).await;
    assert_eq!(result, unknown("answered with more than 4096 KiB"));
    let (result, _) = called(|seen| Reply::Events(vec![event(&seen.result(text(&"x".repeat(1_100_000))))], Then::Hang)).await;
    assert_eq!(result, unknown("sent an event of more than 1 MiB"));
    // One that never ends, in lines and in one line.
    let (result, _) = called(|_| Reply::Events(vec![format!("data: {}\n", "x".repeat(10_000))], Then::Repeat)).await;
    assert_eq!(result, unknown("sent an event of more than 1 MiB"));
    let (result, _) = called(|seen| Reply::Events(vec![event(&seen.progress(&"x".repeat(10_000)))], Then::Repeat)).await;
    assert_eq!(result, unknown("sent an answer of more than 8 MiB"));
    let (result, _) = called(|_| Reply::Events(vec![":\n\n".repeat(10_000)], Then::Repeat)).await;
    assert_eq!(result, unknown("sent an answer of more than 8 MiB"));
    let (result, _) = called(|_| Reply::Text(400, "text/plain", "x".repeat(100_000).into())).await;
    assert_eq!(result, failure("the server docs answered 400"));
}

#[tokio::test]
async fn what_is_not_plain_json_is_read_by_nobody() {
    let raw = r#"{"$serde_json::private::RawValue": "[[[]]]"}"#;
    for hostile in [deep(), raw.to_owned(), r#"{"a": 1, "a": 2}"#.to_owned()] {
        let wrapped =
            move |seen: &Seen| format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"structuredContent":{hostile}}}}}"#, seen.body["id"]);
        let in_event = wrapped.clone();
        for result in [
            called(move |seen| Reply::Text(200, "application/json", wrapped(seen).into())).await.0,
            called(move |seen| Reply::Events(vec![format!("data: {}\n\n", in_event(seen))], Then::Hang)).await.0,
        ] {
            assert_eq!(result, unknown("sent what can't be read as JSON"));
        }
    }
    // In the handshake too.
    let fake = Fake::new(|_| Reply::Text(200, "application/json", deep().into())).await;
    assert_eq!(call(&fake.session()).await, not_sent("the server docs sent what can't be read as JSON"));
    // In a text it stays a text.
    let (result, _) = called(move |seen| Reply::Json(seen.result(text(raw)))).await;
    assert_eq!(result, answer(raw.into()));
}

#[tokio::test]
async fn of_many_tools_the_first_hundred_are_taken() {
    let names: Vec<String> = (0..5_000).map(|at| format!("tool_{at:04}")).collect();
    let tools: Vec<Value> = names.iter().rev().map(|name| tool(name)).collect();
    let fake = Fake::new(lists(move |seen| Reply::Json(seen.result(json!({ "tools": tools }))))).await;
    let servers = servers();
    let expected = names[..100].iter().map(|name| listed(name)).collect();
    assert_eq!(servers.tools(&fake.server(), PATIENCE).await, Listed { tools: expected, trouble: None });
    let last = McpServer { allowed_tools: Some(vec!["tool_4999".into()]), ..fake.server() };
    assert_eq!(servers.tools(&last, PATIENCE).await, Listed { tools: [listed("tool_4999")].into(), trouble: None });
}

#[tokio::test]
async fn of_each_tool_only_what_can_be_offered_is_taken() {
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
    let fake = Fake::new(lists(move |seen| Reply::Json(seen.result(json!({ "tools": tools }))))).await;
    let described = |name: &str, description: String| ListedTool { description, ..listed(name) };
    let expected = [
        described("controlled", "a [31m b\nc".into()),
        described("long", "é".repeat(2_048)),
        listed("twice"),
        described("wordless", String::new()),
    ];
    assert_eq!(servers().tools(&fake.server(), PATIENCE).await, Listed { tools: expected.into(), trouble: None });
}

#[tokio::test]
async fn a_list_that_is_too_long_is_none() {
    let trouble = |text: &str| Listed { tools: [].into(), trouble: Some(text.into()) };
    let fake = Fake::new(lists(|seen| {
        let mut long = tool("a");
        long["description"] = "x".repeat(1_000_000).into();
        Reply::Json(seen.result(json!({"tools": [long], "nextCursor": "more"})))
    }))
    .await;
    assert_eq!(servers().tools(&fake.server(), PATIENCE).await, trouble("the server docs sent more than 1 MiB"));
    assert!(fake.count("tools/list") <= 5);
}

#[tokio::test]
async fn many_requests_of_a_server_are_not_answered_one_by_one() {
    let asks: Vec<String> = (0..1_000).map(|id| event(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}))).collect();
    let fake = Fake::new(move |seen| match seen.method.as_str() {
        "tools/call" => Reply::Events([asks.clone(), vec![event(&seen.result(text("done")))]].concat(), Then::End),
        _ => Reply::Usual,
    })
    .await;
    assert_eq!(call(&fake.session()).await, answer("done".into()));
    assert!(fake.count("answer") <= 20);
}

#[tokio::test]
async fn a_secret_does_not_come_back() {
    let echo = |seen: &Seen| seen.header("authorization").unwrap().to_owned();
    let hidden = "Bearer [secret DOCS]";
    let (result, _) = called(move |seen| Reply::Json(seen.result(text(&echo(seen))))).await;
    assert_eq!(result, answer(hidden.into()));
    let (result, _) = called(move |seen| Reply::Json(seen.result(json!({"structuredContent": {"a": [echo(seen)]}})))).await;
    assert_eq!(result, answer(json!({"a": [hidden]})));
    // Escaped within a text that is JSON.
    let (result, _) = called(move |seen| {
        let escaped = echo(seen).replace('s', "\\u0073");
        Reply::Json(seen.result(text(&format!(r#"{{"a": "{escaped}"}}"#))))
    })
    .await;
    assert_eq!(result, answer(json!({ "a": hidden })));
    let (result, _) =
        called(move |seen| Reply::Json(json!({"jsonrpc": "2.0", "id": seen.body["id"], "error": {"code": 1, "message": echo(seen)}})))
            .await;
    assert_eq!(result, failure(hidden));
    let (result, _) = called(move |seen| Reply::Text(400, "text/plain", echo(seen).into())).await;
    assert_eq!(result, failure(&format!("the server docs answered 400: {hidden}")));
    let (result, _) = called(move |seen| {
        let escaped = format!(r#"{{"detail": "{}"}}"#, echo(seen).replace('s', "\\u0073"));
        Reply::Text(400, "application/json", escaped.into())
    })
    .await;
    assert_eq!(result, failure(&format!(r#"the server docs answered 400: {{"detail":"{hidden}"}}"#)));
    let (result, _) = called(move |seen| Reply::Text(500, "text/plain", echo(seen).into())).await;
    assert_eq!(result, unknown(&format!("answered 500: {hidden}")));

    let fake = Fake::new(move |seen| match seen.method.as_str() {
        "tools/call" => Reply::Events(vec![event(&seen.progress(&echo(seen))), event(&seen.result(text(&echo(seen))))], Then::Hang),
        "tools/list" => {
            let schema = json!({"type": "object", "title": echo(seen)});
            Reply::Json(seen.result(json!({"tools": [{"name": "a", "description": echo(seen), "inputSchema": schema}]})))
        }
        _ => Reply::Usual,
    })
    .await;
    let progress = watch::Sender::default();
    let called = fake.session().call("search", &json!({}), call_id(), PATIENCE, &progress).await;
    assert_eq!((called, progress.borrow().as_str()), (answer(hidden.into()), hidden));
    let input_schema = json!({"type": "object", "title": hidden}).to_string().into();
    let expected = ListedTool { name: "a".into(), description: hidden.into(), input_schema, ..listed("a") };
    assert_eq!(servers().tools(&fake.server(), PATIENCE).await, Listed { tools: [expected].into(), trouble: None });
}

#[tokio::test]
async fn progress_is_one_short_line() {
    let fake = Fake::new(|seen| match seen.method.as_str() {
        "tools/call" => {
            let long = format!("a\u{1b}\n{}", "é".repeat(1_000));
            Reply::Events(vec![event(&seen.progress(&long)), event(&seen.result(text("done")))], Then::End)
        }
        _ => Reply::Usual,
    })
    .await;
    let progress = watch::Sender::default();
    let called = fake.session().call("search", &json!({}), call_id(), PATIENCE, &progress).await;
    assert_eq!((called, progress.borrow().clone()), (answer("done".into()), format!("a  {}", "é".repeat(497))));
}

#[tokio::test]
async fn a_secret_is_no_name_of_a_session() {
    let fake = Fake::new(|seen| if seen.method == "initialize" { Reply::Session(SECRET) } else { Reply::Usual }).await;
    assert_eq!(call(&fake.session()).await, not_sent("the server docs gave its session a name that can't be used"));
}
