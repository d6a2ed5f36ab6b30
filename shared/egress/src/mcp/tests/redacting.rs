//! Servers that send a secret back.

use serde_json::json;
use tokio::sync::watch;

use crate::mcp::tests::fake::*;
use crate::mcp::*;

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
    let (tool, input) = (listed("search"), json!({}));
    let called = call_of(&fake.session(), call_with(&tool, &input, &progress)).await;
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

#[tokio::test]
async fn a_stream_with_a_secret_as_an_event_id_is_not_resumed() {
    let (result, fake) =
        called(|_| Reply::Events(vec![format!("id: {SECRET}\ndata:\n\n")], Then::End)).await;
    assert_eq!((result, fake.count("GET")), (unknown("broke off the connection"), 0));
}
