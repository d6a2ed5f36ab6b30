use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::watch;

use super::fake::*;
use crate::mcp::*;

fn call_script(script: impl Fn(&Seen) -> Reply + Send + Sync) -> impl Fn(&Seen) -> Reply + Send + Sync {
    move |seen| if seen.method == "tools/call" { script(seen) } else { Reply::Usual }
}

#[tokio::test]
async fn a_session_is_opened_once_for_all_calls_and_ended_at_the_end() {
    let fake = Fake::new(|_| Reply::Usual).await;
    let session = fake.session();
    assert_eq!(call(&session).await, answer("found".into()));
    assert_eq!(call(&session).await, answer("found".into()));
    session.close().await;
    session.close().await;
    assert_eq!(fake.methods(), ["initialize", "notifications/initialized", "tools/call", "tools/call", "DELETE"]);

    let call = &fake.seen()[2];
    assert_eq!(call.body["params"]["name"], "search");
    assert_eq!(call.body["params"]["arguments"], serde_json::json!({"q": "rust"}));
    assert_eq!(fake.seen()[0].body["params"]["capabilities"], serde_json::json!({}));
    let trace = |seen: &Seen| seen.header("traceparent").unwrap()[..35].to_owned();
    for (at, seen) in fake.seen().iter().enumerate() {
        assert_eq!(seen.header("authorization"), Some(format!("Bearer {SECRET}").as_str()));
        assert_eq!((seen.header("smartspace-chain-depth"), trace(seen)), (Some("3"), trace(call)));
        assert_eq!(seen.header("mcp-session-id"), (at > 0).then_some("session-1"));
        assert_eq!(seen.header("mcp-protocol-version"), (at > 0).then_some("2025-11-25"));
        let key = call_id().to_string();
        assert_eq!(seen.header("idempotency-key"), (seen.method == "tools/call").then_some(key.as_str()));
    }
}

#[tokio::test]
async fn an_answer_may_come_as_events_with_progress_before_it() {
    let fake = Fake::new(call_script(|seen| {
        let other = serde_json::json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "a log"}});
        let answer = format!("event: message\n{}", event(&seen.result(text("slow"))));
        let events =
            vec![": hello\n\n".to_owned(), event(&seen.progress("half")), event(&other), event(&seen.progress("more\nthan half")), answer];
        Reply::Events(events, Then::Hang)
    }))
    .await;
    let session = fake.session();
    let progress = watch::Sender::default();
    let called = session.call("search", &Value::Null, call_id(), PATIENCE, &progress).await;
    assert_eq!((called, progress.borrow().as_str()), (answer("slow".into()), "more than half"));
}

#[tokio::test]
async fn what_a_server_says_against_a_call_is_an_answer() {
    let (result, _) = called(|seen| {
        let mut result = text("no such city");
        result["isError"] = true.into();
        Reply::Json(seen.result(result))
    })
    .await;
    assert_eq!(result, failure("no such city"));

    let error = |id: &Value| serde_json::json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": "unknown tool"}});
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
    let cases: [(&str, fn(&Seen) -> Reply); 8] = [
        ("answered 502: no", |_| Reply::Text(502, "text/plain", "no".into())),
        ("took the request and will not answer it", |_| Reply::Text(202, "text/plain", "".into())),
        ("answered with what is neither JSON nor a stream of events", |_| Reply::Text(200, "text/plain", "".into())),
        ("sent what can't be read: EOF while parsing an object at line 1 column 1", |_| Reply::Text(200, "application/json", "{".into())),
        ("answered with what is no answer to the request", |_| Reply::Json(serde_json::json!({"jsonrpc": "2.0", "id": 99, "result": {}}))),
        ("sent what can't be read: expected value at line 1 column 1", |_| Reply::Events(vec!["data: what\n\n".into()], Then::Hang)),
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
    let never: [fn(&Seen) -> Reply; 2] = [|_| Reply::Never, |seen| Reply::Events(vec![event(&seen.progress("a"))], Then::Hang)];
    for script in never {
        let fake = Fake::new(call_script(script)).await;
        let session = fake.session();
        assert_eq!(call_within(&session, Duration::from_millis(300)).await, unknown("did not answer within 0.3 s"));
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
    fake.plays(|seen| Reply::Json(seen.result(serde_json::json!({"protocolVersion": "1999-01-01"}))));
    assert_eq!(call(&fake.session()).await, not_sent("the server docs speaks no version of MCP that is known here"));
    fake.plays(|seen| Reply::Json(serde_json::json!({"jsonrpc": "2.0", "id": seen.body["id"], "error": {"code": 1, "message": "full"}})));
    assert_eq!(call(&fake.session()).await, not_sent("the server docs refused the session: full"));
    fake.plays(|seen| if seen.method == "initialize" { Reply::Usual } else { Reply::Text(500, "text/plain", "".into()) });
    assert_eq!(call(&fake.session()).await, not_sent("the server docs answered 500"));
    assert_eq!(fake.count("tools/call"), 0);
    let server = fake.server();
    drop(fake);
    assert_eq!(call(&servers().session(&server, trail())).await, not_sent("the server docs can't be reached: connection refused"));
}

#[tokio::test]
async fn a_handshake_may_come_as_events_and_without_a_session() {
    let fake = Fake::new(|seen| match seen.method.as_str() {
        "initialize" => Reply::Events(vec![event(&seen.result(serde_json::json!({"protocolVersion": "2025-03-26"})))], Then::Hang),
        _ => Reply::Usual,
    })
    .await;
    let session = fake.session();
    assert_eq!(call(&session).await, answer("found".into()));
    session.close().await;
    assert_eq!(fake.methods(), ["initialize", "notifications/initialized", "tools/call"]);
    assert_eq!(fake.seen()[2].header("mcp-protocol-version"), Some("2025-03-26"));
}

#[tokio::test]
async fn a_call_is_sent_again_only_where_the_session_was_lost() {
    let fake = Fake::new(|_| Reply::Usual).await;
    let session = fake.session();
    assert_eq!(call(&session).await, answer("found".into()));
    let lost = AtomicUsize::new(0);
    fake.plays(call_script(move |_| match lost.fetch_add(1, Ordering::Relaxed) {
        0 => Reply::Text(404, "text/plain", "".into()),
        _ => Reply::Usual,
    }));
    assert_eq!(call(&session).await, answer("found".into()));
    let again = ["initialize", "notifications/initialized", "tools/call"];
    assert_eq!(fake.methods(), [&again[..], &["tools/call"], &again].concat());

    fake.plays(call_script(|_| Reply::Text(404, "text/plain", "".into())));
    assert_eq!(call(&session).await, not_sent("the server docs does not keep its sessions"));
    assert_eq!(fake.count("tools/call"), 5);
}

#[tokio::test]
async fn a_server_that_was_away_is_connected_anew() {
    let fake = Fake::new(|_| Reply::Usual).await;
    let (session, address) = (fake.session(), fake.address);
    assert_eq!(call(&session).await, answer("found".into()));
    drop(fake);
    let away = call(&session).await;
    assert!(away.is_err(), "{away:?}");
    let fake = Fake::at(address, |seen| match (seen.method.as_str(), seen.header("mcp-session-id")) {
        ("initialize", _) => Reply::Usual,
        _ if fake_knows(seen) => Reply::Usual,
        _ => Reply::Text(404, "text/plain", "".into()),
    })
    .await;
    assert_eq!((call(&session).await, fake.count("initialize")), (answer("found".into()), 1));
}

fn fake_knows(seen: &Seen) -> bool {
    seen.header("mcp-session-id").is_some()
}

#[tokio::test]
async fn a_broken_answer_is_asked_for_again_but_the_call_is_not() {
    let fake = Fake::new(|seen| match seen.method.as_str() {
        "tools/call" => Reply::Events(vec!["id: e1\nretry: 0\ndata:\n\n".into()], Then::End),
        "GET" => {
            let token = serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": text("late")});
            Reply::Events(vec![format!("id: e2\n{}", event(&token))], Then::End)
        }
        _ => Reply::Usual,
    })
    .await;
    assert_eq!(call(&fake.session()).await, answer("late".into()));
    assert_eq!((fake.count("tools/call"), fake.count("GET")), (1, 1));
    let resumed = fake.seen().into_iter().find(|seen| seen.method == "GET").unwrap();
    assert_eq!((resumed.header("last-event-id"), resumed.header("mcp-session-id")), (Some("e1"), Some("session-1")));
}

#[tokio::test]
async fn calls_of_one_session_may_run_at_the_same_time() {
    let fake = Fake::new(|_| Reply::Usual).await;
    let session = fake.session();
    let (first, second) = tokio::join!(call(&session), call(&session));
    assert_eq!((first, second, fake.count("initialize")), (answer("found".into()), answer("found".into()), 1));
}

#[tokio::test]
async fn dropping_a_session_ends_all_that_it_does() {
    let never: [fn(&Seen) -> Reply; 3] = [
        |seen| if seen.method == "initialize" { Reply::Never } else { Reply::Usual },
        |seen| if seen.method == "tools/call" { Reply::Never } else { Reply::Usual },
        |seen| {
            let ask = serde_json::json!({"jsonrpc": "2.0", "id": 7, "method": "ping"});
            match seen.method.as_str() {
                "tools/call" => Reply::Events(vec![event(&ask)], Then::Hang),
                "answer" => Reply::Never,
                _ => Reply::Usual,
            }
        },
    ];
    for (at, script) in never.into_iter().enumerate() {
        let fake = Fake::new(script).await;
        let before = tokio::runtime::Handle::current().metrics().num_alive_tasks();
        let session = fake.session();
        {
            let calling = call(&session);
            tokio::select! {
                result = calling => panic!("{result:?}"),
                () = fake.until(["initialize", "tools/call", "answer"][at], 1) => {}
            }
        }
        drop(session);
        // What is left is the connections and the server's side of them, which end as soon as they notice.
        let ended = async {
            while tokio::runtime::Handle::current().metrics().num_alive_tasks() > before {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(1), ended).await.unwrap();
        assert_eq!(fake.count("DELETE"), 0);
    }
}

#[tokio::test]
async fn what_a_server_asks_for_is_refused() {
    let fake = Fake::new(call_script(|seen| {
        let methods = ["sampling/createMessage", "roots/list", "elicitation/create", "ping"];
        let asks = methods.iter().enumerate().map(|(id, method)| serde_json::json!({"jsonrpc": "2.0", "id": id, "method": method}));
        let mut events: Vec<_> = asks.map(|ask| event(&ask)).collect();
        events.push(event(&seen.progress("asked")));
        Reply::Events(events, Then::Hang)
    }))
    .await;
    let session = fake.session();
    tokio::select! {
        result = call(&session) => panic!("{result:?}"),
        () = fake.until("answer", 4) => {}
    }
    let mut answers: Vec<_> = fake
        .seen()
        .iter()
        .filter(|seen| seen.method == "answer")
        .map(|seen| (seen.body["id"].clone(), seen.body["error"]["code"].clone()))
        .collect();
    answers.sort_by_key(|(id, _)| id.as_u64());
    let refused = Value::from(-32601);
    let expected = [(0, &refused), (1, &refused), (2, &refused), (3, &Value::Null)].map(|(id, code)| (Value::from(id), code.clone()));
    assert_eq!(answers, expected);
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
        ("x-key", "${secret.NONE}", "the secret NONE is not set here"),
        ("x-key", "a ${secret.DOCS} ${secret.ELSEWHERE}", "the secret ELSEWHERE may not go to 127.0.0.1"),
        ("Host", "other", "the header host can't be set"),
        ("Mcp-Session-Id", "1", "the header mcp-session-id can't be set"),
        ("x-key", "a\nb", "the value of the header x-key can't be sent"),
        ("x key", "a", "\"x key\" is no name of a header"),
    ];
    for (name, value, text) in cases {
        let server = McpServer { headers: [(name.to_owned(), value.to_owned())].into(), ..fake.server() };
        assert_eq!(call(&servers().session(&server, trail())).await, not_sent(text));
    }
    let server = McpServer { url: "http://10.0.0.1/".into(), headers: [].into(), ..fake.server() };
    let refused = call(&servers().session(&server, trail())).await;
    assert!(matches!(&refused, Err(crate::SendError::NotSent(text)) if text.contains("where tools may not go")), "{refused:?}");
    assert_eq!(fake.methods(), Vec::<String>::new());
}
