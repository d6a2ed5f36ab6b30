use serde_json::json;
use tokio::sync::watch;

use super::fake::*;
use crate::mcp::*;

type Answers = fn(&Seen) -> Reply;

#[tokio::test]
async fn what_a_server_says_against_a_call_is_an_answer() {
    let (result, _) = called(|seen| {
        let mut result = text("no such city");
        result["isError"] = true.into();
        Reply::Json(seen.result(result))
    })
    .await;
    assert_eq!(result, failure("no such city"));

    let error = |id: &Value| json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": "unknown tool"}});
    let (result, _) = called(move |seen| Reply::Json(error(&seen.body["id"]))).await;
    assert_eq!(result, failure("unknown tool"));
    // With another status, and without an id.
    let (result, _) = called(move |_| Reply::Text(400, "application/json", error(&Value::Null).to_string().into())).await;
    assert_eq!(result, failure("unknown tool"));
    let (result, _) = called(|_| Reply::Text(429, "text/plain", "slow down\n".into())).await;
    assert_eq!(result, failure("the server docs answered 429: slow down"));
    let (result, _) = called(|_| Reply::Text(413, "text/html", "<html>".into())).await;
    assert_eq!(result, failure("the server docs answered 413"));
    let (result, _) = called(|_| Reply::Text(307, "text/plain", "".into())).await;
    assert_eq!(result, failure("the server docs answered with a redirect (307), which is not followed"));
}

#[tokio::test]
async fn a_refusal_says_what_to_do() {
    let (result, fake) = called(|_| Reply::Text(401, "text/plain", "".into())).await;
    assert_eq!(result, not_sent("the server docs asks for authorisation (401); set headers for it"));
    assert_eq!(fake.count("tools/call"), 1);
    let fake = Fake::new(|_| Reply::Text(403, "text/plain", "".into())).await;
    assert_eq!(call(&fake.session()).await, not_sent("the server docs asks for authorisation (403); set headers for it"));
    assert_eq!(fake.methods(), ["initialize"]);
}

#[tokio::test]
async fn what_has_no_readable_answer_is_of_unknown_outcome_and_sent_once() {
    let cases: [(&str, Answers); 9] = [
        ("did not answer: connection closed before message completed", |_| Reply::Close),
        ("answered 502: no", |_| Reply::Text(502, "text/plain", "no".into())),
        ("took the request and will not answer it", |_| Reply::Text(202, "text/plain", "".into())),
        ("answered with what is neither JSON nor a stream of events", |_| Reply::Text(200, "text/plain", "".into())),
        ("sent what can't be read as JSON", |_| Reply::Text(200, "application/json", "{".into())),
        ("answered with what is no answer to the request", |_| Reply::Json(json!({"jsonrpc": "2.0", "id": 99, "result": {}}))),
        ("sent what can't be read as JSON", |_| Reply::Events(vec!["data: what\n\n".into()], Then::Hang)),
        ("broke off the connection", |seen| Reply::Events(vec![event(&seen.progress("a"))], Then::Break)),
        ("broke off the connection", |seen| Reply::Events(vec![event(&seen.progress("a"))], Then::End)),
    ];
    for (text, script) in cases {
        let (result, fake) = called(script).await;
        assert_eq!((result, fake.count("tools/call")), (unknown(text), 1));
    }
}

#[tokio::test]
async fn an_answer_that_does_not_come_is_given_up_and_the_server_is_told() {
    let never: [Answers; 2] = [|_| Reply::Never, |seen| Reply::Events(vec![event(&seen.progress("a"))], Then::Hang)];
    for script in never {
        let fake = Fake::new(calls(script)).await;
        let session = fake.session();
        // Long enough for a busy machine to have sent the call by then.
        assert_eq!(call_within(&session, Duration::from_secs(3)).await, unknown("did not answer within 3 s"));
        fake.until("notifications/cancelled", 1).await;
        let seen = fake.seen();
        let [called, cancelled] =
            ["tools/call", "notifications/cancelled"].map(|method| seen.iter().find(|seen| seen.method == method).unwrap());
        assert_eq!((&cancelled.body["params"]["requestId"], fake.count("tools/call")), (&called.body["id"], 1));
        // The session is fine.
        fake.plays(|_| Reply::Usual);
        assert_eq!((call(&session).await, fake.count("initialize")), (answer("found".into()), 1));
    }
}

#[tokio::test]
async fn where_there_is_no_session_nothing_was_sent() {
    let fake = Fake::new(|_| Reply::Never).await;
    assert_eq!(call_within(&fake.session(), Duration::from_millis(200)).await, not_sent("the server docs did not answer within 0.2 s"));
    fake.plays(|seen| Reply::Json(seen.result(json!({"protocolVersion": "1999-01-01"}))));
    assert_eq!(call(&fake.session()).await, not_sent("the server docs speaks no version of MCP that is known here"));
    fake.plays(|seen| Reply::Json(json!({"jsonrpc": "2.0", "id": seen.body["id"], "error": {"code": 1, "message": "full"}})));
    assert_eq!(call(&fake.session()).await, not_sent("the server docs refused the session: full"));
    fake.plays(|seen| if seen.method == "initialize" { Reply::Usual } else { Reply::Text(500, "text/plain", "".into()) });
    assert_eq!(call(&fake.session()).await, not_sent("the server docs answered 500"));
    assert_eq!(fake.count("tools/call"), 0);
    let server = fake.server();
    drop(fake);
    assert_eq!(call(&servers().session(&server, trail())).await, not_sent("the server docs can't be reached: connection refused"));
}

#[tokio::test]
async fn only_allowed_tools_are_called_and_only_with_objects() {
    let fake = Fake::new(|_| Reply::Usual).await;
    let session = servers().session(&McpServer { allowed_tools: Some(vec!["read".into()]), ..fake.server() }, trail());
    assert_eq!(call(&session).await, not_sent("the tool search of the server docs is not allowed here"));
    let session = fake.session();
    let called = session.call("search", &Value::from(1), call_id(), PATIENCE, &watch::Sender::default()).await;
    assert_eq!((called, fake.methods()), (not_sent("expected an object as input"), Vec::<String>::new()));
}

#[tokio::test]
async fn a_header_or_secret_that_can_not_be_sent_is_said() {
    let fake = Fake::new(|_| Reply::Usual).await;
    let cases = [
        ("x-key", "${secret.NONE}", "the header x-key can't be sent: the secret NONE is not set here"),
        ("x-key", "a ${secret.DOCS} ${secret.ELSEWHERE}", "the header x-key can't be sent: the secret ELSEWHERE may not go to 127.0.0.1"),
        (
            "x-key",
            "a\nb",
            "the header x-key can't be sent: the text holds a line break or another control character, which no header can carry",
        ),
        ("x key", "a", "\"x key\" is no name of a header"),
    ];
    for (name, value, text) in cases {
        let server = McpServer { headers: [(name.to_owned(), value.to_owned())].into(), ..fake.server() };
        assert_eq!(call(&servers().session(&server, trail())).await, not_sent(text));
    }
    let server = McpServer { url: "http://10.0.0.1/".into(), headers: [].into(), ..fake.server() };
    let refused = call(&servers().session(&server, trail())).await;
    assert!(
        matches!(&refused, Err(crate::SendError::NotSent(text)) if text.contains("where tools may not go unless it is allowed by name")),
        "{refused:?}"
    );
    assert_eq!(fake.methods(), Vec::<String>::new());
}
