use serde_json::json;
use tokio::sync::watch;

use crate::mcp::tests::fake::*;
use crate::mcp::*;

fn lists(
    list: impl Fn(&Received) -> Reply + Send + Sync,
) -> impl Fn(&Received) -> Reply + Send + Sync {
    move |request| if request.method == "tools/list" { list(request) } else { Reply::Usual }
}

fn deep() -> String {
    format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))
}

#[tokio::test]
async fn an_answer_has_a_size_limit() {
    let (result, _) =
        called(|request| Reply::Json(request.result(text(&"x".repeat(10_000_000))))).await;
    assert_eq!(result, unknown("answered with more than 4096 KiB"));
    let (result, _) = called(|request| {
        Reply::Events(vec![event(&request.result(text(&"x".repeat(1_100_000))))], Then::Hang)
    })
    .await;
    assert_eq!(result, unknown("sent an event of more than 1 MiB"));
    // Endless events, in one event and in many.
    let (result, _) =
        called(|_| Reply::Events(vec![format!("data: {}\n", "x".repeat(10_000))], Then::Repeat))
            .await;
    assert_eq!(result, unknown("sent an event of more than 1 MiB"));
    let (result, _) = called(|request| {
        Reply::Events(vec![event(&request.progress(&"x".repeat(10_000)))], Then::Repeat)
    })
    .await;
    assert_eq!(result, unknown("sent an answer of more than 8 MiB"));
    let (result, _) = called(|_| Reply::Events(vec![":\n\n".repeat(10_000)], Then::Repeat)).await;
    assert_eq!(result, unknown("sent an answer of more than 8 MiB"));
    let (result, _) = called(|_| Reply::Text(400, "text/plain", "x".repeat(100_000).into())).await;
    assert_eq!(result, failure("the server docs answered 400"));
}

#[tokio::test]
async fn only_plain_json_is_accepted() {
    let raw = r#"{"$serde_json::private::RawValue": "[[[]]]"}"#;
    for hostile in [deep(), raw.to_owned(), r#"{"a": 1, "a": 2}"#.to_owned()] {
        let wrapped = move |request: &Received| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{},"result":{{"structuredContent":{hostile}}}}}"#,
                request.body["id"]
            )
        };
        let in_event = wrapped.clone();
        for result in [
            called(move |request| Reply::Text(200, "application/json", wrapped(request).into()))
                .await
                .0,
            called(move |request| {
                Reply::Events(vec![format!("data: {}\n\n", in_event(request))], Then::Hang)
            })
            .await
            .0,
        ] {
            assert_eq!(result, unknown("sent data that can't be read as JSON"));
        }
    }
    // The same in the handshake.
    let fake = Fake::new(|_| Reply::Text(200, "application/json", deep().into())).await;
    assert_eq!(
        call(&fake.session()).await,
        not_sent("the server docs sent data that can't be read as JSON")
    );
    // The same JSON in a text stays a text.
    let (result, _) = called(move |request| Reply::Json(request.result(text(raw)))).await;
    assert_eq!(result, answer(raw.into()));
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

#[tokio::test]
async fn the_number_of_refused_server_requests_is_limited() {
    let asks: Vec<String> = (0..1_000)
        .map(|id| event(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"})))
        .collect();
    let fake = Fake::new(move |request| match request.method.as_str() {
        "tools/call" => Reply::Events(
            [asks.clone(), vec![event(&request.result(text("done")))]].concat(),
            Then::End,
        ),
        _ => Reply::Usual,
    })
    .await;
    assert_eq!(call(&fake.session()).await, answer("done".into()));
    assert!(fake.count("answer") <= 20);
}

#[tokio::test]
async fn an_echoed_secret_is_redacted_in_answers_and_refusals() {
    let echo = |request: &Received| request.header("authorization").unwrap().to_owned();
    let hidden = "Bearer [secret DOCS]";
    let (result, _) =
        called(move |request| Reply::Json(request.result(text(&echo(request))))).await;
    assert_eq!(result, answer(hidden.into()));
    let (result, _) = called(move |request| {
        Reply::Json(request.result(json!({"structuredContent": {"a": [echo(request)]}})))
    })
    .await;
    assert_eq!(result, answer(json!({"a": [hidden]})));
    // Escaped in a text that is JSON.
    let (result, _) = called(move |request| {
        let escaped = echo(request).replace('s', "\\u0073");
        Reply::Json(request.result(text(&format!(r#"{{"a": "{escaped}"}}"#))))
    })
    .await;
    assert_eq!(result, answer(json!({ "a": hidden })));
    let (result, _) = called(move |request| {
        let error = json!({"code": 1, "message": echo(request)});
        Reply::Json(json!({"jsonrpc": "2.0", "id": request.body["id"], "error": error}))
    })
    .await;
    assert_eq!(result, failure(hidden));
    let (result, _) =
        called(move |request| Reply::Text(400, "text/plain", echo(request).into())).await;
    assert_eq!(result, failure(&format!("the server docs answered 400: {hidden}")));
    let (result, _) = called(move |request| {
        let escaped = format!(r#"{{"detail": "{}"}}"#, echo(request).replace('s', "\\u0073"));
        Reply::Text(400, "application/json", escaped.into())
    })
    .await;
    assert_eq!(
        result,
        failure(&format!(r#"the server docs answered 400: {{"detail":"{hidden}"}}"#))
    );
    let (result, _) =
        called(move |request| Reply::Text(500, "text/plain", echo(request).into())).await;
    assert_eq!(result, unknown(&format!("answered 500: {hidden}")));
}

#[tokio::test]
async fn an_echoed_secret_is_redacted_in_progress_and_tool_lists() {
    let echo = |request: &Received| request.header("authorization").unwrap().to_owned();
    let hidden = "Bearer [secret DOCS]";
    let fake = Fake::new(move |request| match request.method.as_str() {
        "tools/call" => Reply::Events(
            vec![
                event(&request.progress(&echo(request))),
                event(&request.result(text(&echo(request)))),
            ],
            Then::Hang,
        ),
        "tools/list" => {
            let schema = json!({"type": "object", "title": echo(request)});
            let tool = json!({"name": "a", "description": echo(request), "inputSchema": schema});
            Reply::Json(request.result(json!({ "tools": [tool] })))
        }
        _ => Reply::Usual,
    })
    .await;
    let progress = watch::Sender::default();
    let called = fake.session().call("search", &json!({}), call_id(), LIMIT, &progress).await;
    assert_eq!((called, progress.borrow().as_str()), (answer(hidden.into()), hidden));
    let input_schema = json!({"type": "object", "title": hidden}).to_string().into();
    let expected =
        ListedTool { name: "a".into(), description: hidden.into(), input_schema, ..listed("a") };
    assert_eq!(
        servers().tools(&fake.server(), LIMIT).await,
        Listed { tools: [expected].into(), trouble: None }
    );
}

#[tokio::test]
async fn a_progress_message_is_one_line_of_limited_length() {
    let fake = Fake::new(|request| match request.method.as_str() {
        "tools/call" => {
            let long = format!("a\u{1b}\n{}", "é".repeat(1_000));
            Reply::Events(
                vec![event(&request.progress(&long)), event(&request.result(text("done")))],
                Then::End,
            )
        }
        _ => Reply::Usual,
    })
    .await;
    let progress = watch::Sender::default();
    let called = fake.session().call("search", &json!({}), call_id(), LIMIT, &progress).await;
    assert_eq!(
        (called, progress.borrow().clone()),
        (answer("done".into()), format!("a  {}", "é".repeat(497)))
    );
}

#[tokio::test]
async fn a_secret_as_a_session_id_is_refused() {
    let fake = Fake::new(|request| {
        if request.method == "initialize" { Reply::Session(SECRET) } else { Reply::Usual }
    })
    .await;
    assert_eq!(
        call(&fake.session()).await,
        not_sent("the server docs sent a session id that can't be used")
    );
}
