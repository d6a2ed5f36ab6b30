use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use serde_json::json;
use tokio::sync::watch;

use crate::mcp::tests::fake::*;
use crate::mcp::*;

#[tokio::test]
async fn each_call_is_one_request() {
    let fake = Fake::stateless(|_| Reply::Usual).await;
    let servers = servers();
    let listed = servers.tools(&fake.server(), LIMIT).await;
    assert_eq!((listed.tools.len(), listed.trouble), (1, None));
    for _ in 0..2 {
        let session = servers.session(&fake.server(), trace());
        assert_eq!(call(&session).await, answer("found".into()));
        assert_eq!(call(&session).await, answer("found".into()));
        session.close().await;
    }
    let calls = ["tools/call"; 4];
    assert_eq!(fake.methods(), [&[DISCOVER, "tools/list"][..], &calls].concat());
    for request in fake.received() {
        assert_eq!(request.header("mcp-session-id"), None);
        assert_eq!(request.header("mcp-protocol-version"), Some("2026-07-28"));
        assert_eq!(request.header("mcp-method"), Some(request.method.as_str()));
        assert_eq!(request.header("authorization"), Some(format!("Bearer {SECRET}").as_str()));
        let meta = &request.body["params"]["_meta"];
        let name = |field: &str| format!("io.modelcontextprotocol/{field}");
        assert_eq!(meta[name("protocolVersion")], "2026-07-28");
        let capabilities = json!({"elicitation": {"form": {}, "url": {}}});
        assert_eq!(meta[name("clientCapabilities")], capabilities);
    }
    let call = &fake.received()[2];
    assert_eq!(call.header("mcp-name"), Some("search"));
    assert_eq!(call.body["params"]["arguments"], json!({"q": "rust"}));
}

#[tokio::test]
async fn annotated_arguments_are_sent_as_headers_too() {
    let schema = |name: &str| {
        let properties = json!({"q": {"type": "string", "x-mcp-header": name}});
        json!({"type": "object", "properties": properties})
    };
    let tools = json!([
        {"name": "search", "inputSchema": schema("Query")},
        {"name": "wrong", "inputSchema": schema("not a token")},
    ]);
    let fake = Fake::stateless(move |request| match request.method.as_str() {
        "tools/list" => Reply::Json(request.result(json!({"tools": tools}))),
        _ => Reply::Usual,
    })
    .await;
    let servers = servers();
    let listed = servers.tools(&fake.server(), LIMIT).await;
    let names: Vec<_> = listed.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["search"]);
    let session = servers.session(&fake.server(), trace());
    let input = json!({"q": "rust"});
    let progress = watch::Sender::default();
    let called = call_of(&session, call_with(&listed.tools[0], &input, &progress)).await;
    assert_eq!(called, answer("found".into()));
    let call = fake.received().into_iter().find(|it| it.method == "tools/call").unwrap();
    assert_eq!(call.header("mcp-param-query"), Some("rust"));
}

#[tokio::test]
async fn a_list_is_valid_for_as_long_as_the_server_says() {
    let fake = Fake::stateless(|request| match request.method.as_str() {
        "tools/list" => Reply::Json(request.result(json!({"tools": [tool("search")], "ttlMs": 0}))),
        _ => Reply::Usual,
    })
    .await;
    let servers = servers();
    for _ in 0..3 {
        assert_eq!(servers.tools(&fake.server(), LIMIT).await.trouble, None);
    }
    assert_eq!((fake.count("tools/list"), fake.count(DISCOVER)), (3, 1));
}

/// The question of a server.
fn question(state: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let params = json!({"mode": "form", "message": "Who?", "requestedSchema": schema});
    json!({
        "resultType": "input_required",
        "inputRequests": {"who": {"method": "elicitation/create", "params": params}},
        "requestState": state,
    })
}

#[tokio::test]
async fn a_call_is_repeated_with_the_answers_and_the_state() {
    let fake = Fake::stateless(calls(|request| {
        let params = &request.body["params"];
        Reply::Json(match params["requestState"].as_str() {
            Some("opaque") => request.result(text("done")),
            _ => request.result(question("opaque")),
        })
    }))
    .await;
    let session = fake.session();
    let tool = listed("search");
    let input = json!({});
    let progress = watch::Sender::default();
    let first = call_with(&tool, &input, &progress);
    let Ok(McpResponse::NeedsInput(required)) = session.call(&first).await else {
        panic!("the call does not ask");
    };
    assert_eq!(required.requests["who"]["params"]["message"], "Who?");
    let given = json!({"action": "accept", "content": {"name": "Ada"}});
    let answers = BTreeMap::from([("who".to_owned(), given.clone())]);
    let answers = InputAnswers { answers, round: 1, state: required.state };
    let again = McpCall { answers: Some(&answers), ..first };
    assert_eq!(call_of(&session, again).await, answer("done".into()));
    let repeated = fake.received().pop().unwrap();
    assert_eq!(repeated.body["params"]["inputResponses"], json!({"who": given}));
    assert_eq!(repeated.body["params"]["arguments"], json!({}));
    let ids: Vec<_> = fake.received().into_iter().map(|it| it.body["id"].clone()).collect();
    assert_ne!(ids[1], ids[2], "a repetition has an id of its own");
}

#[tokio::test]
async fn a_state_without_a_question_is_sent_back_at_once() {
    let rounds = AtomicUsize::new(0);
    let fake = Fake::stateless(calls(move |request| {
        let round = rounds.fetch_add(1, Ordering::Relaxed);
        let state = format!("state-{round}");
        Reply::Json(match request.body["params"]["requestState"].as_str() {
            Some("state-1") => request.result(text("done")),
            _ => request.result(json!({"resultType": "input_required", "requestState": state})),
        })
    }))
    .await;
    assert_eq!(call(&fake.session()).await, answer("done".into()));
    assert_eq!(fake.count("tools/call"), 3);
}

#[tokio::test]
async fn a_server_that_only_wants_its_state_back_is_asked_six_times() {
    let state = json!({"resultType": "input_required", "requestState": "x1"});
    let fake = Fake::stateless(calls(move |request| Reply::Json(request.result(state.clone()))));
    let fake = fake.await;
    let ended = call_within(&fake.session(), Duration::from_secs(3)).await;
    assert_eq!(ended, failure("the server docs did not answer after 5 repetitions"));
    assert_eq!(fake.count("tools/call"), 6);
}

#[tokio::test]
async fn a_call_whose_repetition_is_not_sent_may_have_taken_effect() {
    let rounds = AtomicUsize::new(0);
    let fake = Fake::stateless(calls(move |request| {
        if rounds.fetch_add(1, Ordering::Relaxed) > 0 {
            return Reply::Text(401, "text/plain", "".into());
        }
        let state = json!({"resultType": "input_required", "requestState": "x1"});
        Reply::Json(request.result(state))
    }))
    .await;
    assert_eq!(call(&fake.session()).await, unknown("did not answer after 1 repetition"));
    assert_eq!(fake.count("tools/call"), 2);
}

#[tokio::test]
async fn a_server_of_an_earlier_revision_can_not_ask() {
    let fake = Fake::new(calls(|request| Reply::Json(request.result(question("s"))))).await;
    assert_eq!(call(&fake.session()).await, answer("".into()));
}

#[tokio::test]
async fn a_server_that_refuses_the_question_for_its_revisions_gets_a_session() {
    let refusals: [fn(&Received) -> Reply; 4] = [
        |_| Reply::Text(404, "text/plain", "no".into()),
        |_| Reply::Text(500, "text/plain", "no".into()),
        |request| {
            let error = json!({"code": -32601, "message": "unknown method"});
            let id = &request.body["id"];
            Reply::Json(json!({"jsonrpc": "2.0", "id": id, "error": error}))
        },
        |request| Reply::Json(request.result(json!({"supportedVersions": ["2025-11-25"]}))),
    ];
    for refuse in refusals {
        let fake = Fake::stateless(move |request| {
            if request.method == DISCOVER { refuse(request) } else { Reply::Usual }
        })
        .await;
        let servers = servers();
        for _ in 0..2 {
            let session = servers.session(&fake.server(), trace());
            assert_eq!(call(&session).await, answer("found".into()));
        }
        assert_eq!((fake.count(DISCOVER), fake.count("initialize")), (1, 2));
    }
}

#[tokio::test]
async fn a_server_that_changes_its_revision_is_asked_again() {
    let fake = Fake::stateless(|_| Reply::Usual).await;
    let servers = servers();
    let session = servers.session(&fake.server(), trace());
    assert_eq!(call(&session).await, answer("found".into()));
    fake.replace_script(|request| match request.method.as_str() {
        DISCOVER => Reply::Text(400, "text/plain", "no session".into()),
        "tools/call" if request.header("mcp-session-id").is_none() => {
            Reply::Text(400, "text/plain", "no session".into())
        }
        _ => Reply::Usual,
    });
    assert_eq!(call(&session).await, failure("the server docs answered 400: no session"));
    assert_eq!(call(&session).await, answer("found".into()));
}

#[tokio::test]
async fn a_server_that_names_its_revision_is_asked_once_more() {
    let asked = AtomicUsize::new(0);
    let fake = Fake::stateless(move |request| {
        if request.method != DISCOVER || asked.fetch_add(1, Ordering::Relaxed) > 0 {
            return Reply::Usual;
        }
        let data = json!({"supported": ["2026-07-28"], "requested": "2026-07-28"});
        let error = json!({"code": -32022, "message": "unsupported version", "data": data});
        let answer = json!({"jsonrpc": "2.0", "id": request.body["id"], "error": error});
        Reply::Text(400, "application/json", answer.to_string().into())
    })
    .await;
    assert_eq!(call(&fake.session()).await, answer("found".into()));
    assert_eq!(fake.methods(), [DISCOVER, DISCOVER, "tools/call"]);
}
