//! Answers that are too long, malformed or repeated without end.

use serde_json::json;
use tokio::sync::watch;

use crate::mcp::tests::fake::*;

fn deep() -> String {
    format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))
}

#[tokio::test]
async fn an_answer_has_a_size_limit() {
    let (result, _) =
        called(|request| Reply::Json(request.result(text(&"x".repeat(10_000_000))))).await;
    assert_eq!(result, unknown("answered with more than 5120 KiB"));
    let (result, _) = called(|request| {
        Reply::Events(vec![event(&request.result(text(&"x".repeat(5_300_000))))], Then::Hang)
    })
    .await;
    assert_eq!(result, unknown("sent an event of more than 5 MiB"));
    // Endless events, in one event and in many.
    let (result, _) =
        called(|_| Reply::Events(vec![format!("data: {}\n", "x".repeat(10_000))], Then::Repeat))
            .await;
    assert_eq!(result, unknown("sent an event of more than 5 MiB"));
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
    let (tool, input) = (listed("search"), json!({}));
    let called = call_of(&fake.session(), call_with(&tool, &input, &progress)).await;
    assert_eq!(
        (called, progress.borrow().clone()),
        (answer("done".into()), format!("a  {}", "é".repeat(497)))
    );
}
