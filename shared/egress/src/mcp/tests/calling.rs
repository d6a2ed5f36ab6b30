use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::json;
use tokio::sync::watch;

use crate::mcp::tests::fake::*;
use crate::mcp::*;

#[tokio::test]
async fn all_calls_share_one_session_until_it_is_closed() {
    let fake = Fake::new(|_| Reply::Usual).await;
    let session = fake.session();
    assert_eq!(call(&session).await, answer("found".into()));
    assert_eq!(call(&session).await, answer("found".into()));
    session.close().await;
    session.close().await;
    assert_eq!(
        fake.methods(),
        ["initialize", "notifications/initialized", "tools/call", "tools/call", "DELETE"]
    );

    let call = &fake.received()[2];
    assert_eq!(call.body["params"]["name"], "search");
    assert_eq!(call.body["params"]["arguments"], json!({"q": "rust"}));
    assert_eq!(fake.received()[0].body["params"]["capabilities"], json!({}));
    let trace = |request: &Received| request.header("traceparent").unwrap()[..35].to_owned();
    for (at, request) in fake.received().iter().enumerate() {
        assert_eq!(request.header("authorization"), Some(format!("Bearer {SECRET}").as_str()));
        assert_eq!(
            (request.header("smartspace-chain-depth"), trace(request)),
            (Some("3"), trace(call))
        );
        assert_eq!(request.header("mcp-session-id"), (at > 0).then_some("session-1"));
        assert_eq!(request.header("mcp-protocol-version"), (at > 0).then_some("2025-11-25"));
        let key = call_id().to_string();
        assert_eq!(
            request.header("idempotency-key"),
            (request.method == "tools/call").then_some(key.as_str())
        );
    }
}

#[tokio::test]
async fn an_event_stream_may_have_progress_before_the_answer() {
    let fake = Fake::new(calls(|request| {
        let params = json!({"level": "info", "data": "a log"});
        let other = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params});
        let answer = format!("event: message\n{}", event(&request.result(text("slow"))));
        let events = vec![
            ": hello\n\n".to_owned(),
            event(&request.progress("half")),
            event(&other),
            event(&request.progress("more\nthan half")),
            answer,
        ];
        Reply::Events(events, Then::Hang)
    }))
    .await;
    let session = fake.session();
    let progress = watch::Sender::default();
    let tool = listed("search");
    let called = call_of(&session, call_with(&tool, &Value::Null, &progress)).await;
    assert_eq!((called, progress.borrow().as_str()), (answer("slow".into()), "more than half"));
}

#[tokio::test]
async fn a_handshake_may_be_an_event_stream_without_a_session_id() {
    let fake = Fake::new(|request| match request.method.as_str() {
        "initialize" => Reply::Events(
            vec![event(&request.result(json!({"protocolVersion": "2025-03-26"})))],
            Then::Hang,
        ),
        _ => Reply::Usual,
    })
    .await;
    let session = fake.session();
    assert_eq!(call(&session).await, answer("found".into()));
    session.close().await;
    assert_eq!(fake.methods(), ["initialize", "notifications/initialized", "tools/call"]);
    assert_eq!(fake.received()[2].header("mcp-protocol-version"), Some("2025-03-26"));
}

#[tokio::test]
async fn a_call_is_sent_again_only_after_its_session_expired() {
    let fake = Fake::new(|_| Reply::Usual).await;
    let session = fake.session();
    assert_eq!(call(&session).await, answer("found".into()));
    let lost = AtomicUsize::new(0);
    fake.replace_script(calls(move |_| match lost.fetch_add(1, Ordering::Relaxed) {
        0 => Reply::Text(404, "text/plain", "".into()),
        _ => Reply::Usual,
    }));
    assert_eq!(call(&session).await, answer("found".into()));
    let again = ["initialize", "notifications/initialized", "tools/call"];
    assert_eq!(fake.methods(), [&again[..], &["tools/call"], &again].concat());

    fake.replace_script(calls(|_| Reply::Text(404, "text/plain", "".into())));
    assert_eq!(call(&session).await, not_sent("the server docs does not keep its sessions"));
    assert_eq!(fake.count("tools/call"), 5);
}

#[tokio::test]
async fn a_session_reconnects_after_the_server_restarts() {
    let fake = Fake::new(|_| Reply::Usual).await;
    let session = fake.session();
    let address = fake.address;
    assert_eq!(call(&session).await, answer("found".into()));
    drop(fake);
    // The kind of error depends on whether the client has already noticed the closed connection.
    let away = call(&session).await;
    assert!(away.is_err(), "{away:?}");
    let has_session = AtomicBool::new(false);
    let fake = Fake::at(address, move |request| {
        let had_session = has_session.fetch_or(request.method == "initialize", Ordering::Relaxed);
        if had_session || request.method == "initialize" {
            Reply::Usual
        } else {
            Reply::Text(404, "text/plain", "".into())
        }
    })
    .await;
    assert_eq!(call(&session).await, answer("found".into()));
    assert_eq!(fake.count("initialize"), 1);
}

#[tokio::test]
async fn a_broken_answer_is_resumed_without_a_second_call() {
    let fake = Fake::new(|request| match request.method.as_str() {
        "tools/call" => Reply::Events(vec!["id: e1\nretry: 0\ndata:\n\n".into()], Then::End),
        "GET" => {
            let answer = json!({"jsonrpc": "2.0", "id": 1, "result": text("late")});
            Reply::Events(vec![format!("id: e2\n{}", event(&answer))], Then::End)
        }
        _ => Reply::Usual,
    })
    .await;
    assert_eq!(call(&fake.session()).await, answer("late".into()));
    assert_eq!((fake.count("tools/call"), fake.count("GET")), (1, 1));
    let resumed = fake.received().into_iter().find(|request| request.method == "GET").unwrap();
    assert_eq!(
        (resumed.header("last-event-id"), resumed.header("mcp-session-id")),
        (Some("e1"), Some("session-1"))
    );
}

#[tokio::test]
async fn concurrent_calls_share_one_session() {
    let fake = Fake::new(|_| Reply::Usual).await;
    let session = fake.session();
    let (first, second) = tokio::join!(call(&session), call(&session));
    assert_eq!(
        (first, second, fake.count("initialize")),
        (answer("found".into()), answer("found".into()), 1)
    );
}

#[tokio::test]
async fn dropping_a_session_aborts_all_its_work() {
    let never: [fn(&Received) -> Reply; 3] = [
        |request| if request.method == "initialize" { Reply::Never } else { Reply::Usual },
        |request| if request.method == "tools/call" { Reply::Never } else { Reply::Usual },
        |request| {
            let ask = json!({"jsonrpc": "2.0", "id": 7, "method": "ping"});
            match request.method.as_str() {
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
        // Only tasks of the connections and of the server are left. They end once they notice the
        // closed connection.
        let ended = async {
            while tokio::runtime::Handle::current().metrics().num_alive_tasks() > before {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(LIMIT, ended).await.unwrap();
        assert_eq!(fake.count("DELETE"), 0);
    }
}

#[tokio::test]
async fn requests_of_a_server_are_refused_except_ping() {
    let fake = Fake::new(calls(|request| {
        let methods = ["sampling/createMessage", "roots/list", "elicitation/create", "ping"];
        let asks = methods
            .iter()
            .enumerate()
            .map(|(id, method)| json!({"jsonrpc": "2.0", "id": id, "method": method}));
        let mut events: Vec<_> = asks.map(|ask| event(&ask)).collect();
        events.push(event(&request.progress("asked")));
        Reply::Events(events, Then::Hang)
    }))
    .await;
    let session = fake.session();
    tokio::select! {
        result = call(&session) => panic!("{result:?}"),
        () = fake.until("answer", 4) => {}
    }
    let mut answers: Vec<_> = fake
        .received()
        .iter()
        .filter(|request| request.method == "answer")
        .map(|request| (request.body["id"].clone(), request.body["error"]["code"].clone()))
        .collect();
    answers.sort_by_key(|(id, _)| id.as_u64());
    let refused = Value::from(-32601);
    let expected = [(0, &refused), (1, &refused), (2, &refused), (3, &Value::Null)]
        .map(|(id, code)| (Value::from(id), code.clone()));
    assert_eq!(answers, expected);
}

#[tokio::test]
async fn a_configuration_can_not_set_headers_of_the_protocol() {
    let fake = Fake::new(|_| Reply::Usual).await;
    let headers = ["Host", "Accept", "Content-Type", "Mcp-Session-Id", "traceparent", "X-Team"]
        .map(|name| (name.to_owned(), "other".to_owned()));
    let server = McpServer { headers: headers.into(), ..fake.server() };
    assert_eq!(call(&servers().session(&server, trace())).await, answer("found".into()));
    let call = &fake.received()[2];
    let set: Vec<_> = call
        .headers
        .iter()
        .filter(|(_, value)| *value == "other")
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(set, ["x-team"]);
    assert_eq!(call.header("host"), Some(fake.address.to_string().as_str()));
}
