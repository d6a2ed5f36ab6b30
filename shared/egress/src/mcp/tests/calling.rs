use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::json;
use tokio::sync::watch;

use super::fake::*;
use crate::mcp::*;

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
    assert_eq!(call.body["params"]["arguments"], json!({"q": "rust"}));
    assert_eq!(fake.seen()[0].body["params"]["capabilities"], json!({}));
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
    let fake = Fake::new(calls(|seen| {
        let other = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "a log"}});
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
async fn a_handshake_may_come_as_events_and_without_a_session() {
    let fake = Fake::new(|seen| match seen.method.as_str() {
        "initialize" => Reply::Events(vec![event(&seen.result(json!({"protocolVersion": "2025-03-26"})))], Then::Hang),
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
    fake.plays(calls(move |_| match lost.fetch_add(1, Ordering::Relaxed) {
        0 => Reply::Text(404, "text/plain", "".into()),
        _ => Reply::Usual,
    }));
    assert_eq!(call(&session).await, answer("found".into()));
    let again = ["initialize", "notifications/initialized", "tools/call"];
    assert_eq!(fake.methods(), [&again[..], &["tools/call"], &again].concat());

    fake.plays(calls(|_| Reply::Text(404, "text/plain", "".into())));
    assert_eq!(call(&session).await, not_sent("the server docs does not keep its sessions"));
    assert_eq!(fake.count("tools/call"), 5);
}

#[tokio::test]
async fn a_server_that_was_away_is_connected_anew() {
    let fake = Fake::new(|_| Reply::Usual).await;
    let (session, address) = (fake.session(), fake.address);
    assert_eq!(call(&session).await, answer("found".into()));
    drop(fake);
    // Which error it is depends on whether the end of the old connection was noticed before.
    let away = call(&session).await;
    assert!(away.is_err(), "{away:?}");
    let knows = AtomicBool::new(false);
    let fake = Fake::at(address, move |seen| {
        let knew = knows.fetch_or(seen.method == "initialize", Ordering::Relaxed);
        if knew || seen.method == "initialize" { Reply::Usual } else { Reply::Text(404, "text/plain", "".into()) }
    })
    .await;
    assert_eq!(call(&session).await, answer("found".into()));
    assert_eq!(fake.count("initialize"), 1);
}

#[tokio::test]
async fn a_broken_answer_is_asked_for_again_but_the_call_is_not() {
    let fake = Fake::new(|seen| match seen.method.as_str() {
        "tools/call" => Reply::Events(vec!["id: e1\nretry: 0\ndata:\n\n".into()], Then::End),
        "GET" => {
            let token = json!({"jsonrpc": "2.0", "id": 1, "result": text("late")});
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
            let ask = json!({"jsonrpc": "2.0", "id": 7, "method": "ping"});
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
        tokio::time::timeout(PATIENCE, ended).await.unwrap();
        assert_eq!(fake.count("DELETE"), 0);
    }
}

#[tokio::test]
async fn what_a_server_asks_for_is_refused() {
    let fake = Fake::new(calls(|seen| {
        let methods = ["sampling/createMessage", "roots/list", "elicitation/create", "ping"];
        let asks = methods.iter().enumerate().map(|(id, method)| json!({"jsonrpc": "2.0", "id": id, "method": method}));
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
async fn headers_of_the_protocol_are_not_those_of_the_configuration() {
    let fake = Fake::new(|_| Reply::Usual).await;
    let headers =
        ["Host", "Accept", "Content-Type", "Mcp-Session-Id", "traceparent", "X-Team"].map(|name| (name.to_owned(), "other".to_owned()));
    let server = McpServer { headers: headers.into(), ..fake.server() };
    assert_eq!(call(&servers().session(&server, trail())).await, answer("found".into()));
    let call = &fake.seen()[2];
    let set: Vec<_> = call.headers.iter().filter(|(_, value)| *value == "other").map(|(name, _)| name.as_str()).collect();
    assert_eq!(set, ["x-team"]);
    assert_eq!(call.header("host"), Some(fake.address.to_string().as_str()));
}
