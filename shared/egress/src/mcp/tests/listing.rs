use serde_json::json;
use tokio::time::{advance, pause, resume};

use crate::mcp::tests::fake::*;
use crate::mcp::*;

fn all(names: &[&str]) -> Listed {
    Listed { tools: names.iter().map(|name| listed(name)).collect(), trouble: None }
}

/// A server with these tools.
fn lists(tools: Vec<Value>) -> impl Fn(&Received) -> Reply + Send + Sync {
    move |request| {
        if request.method == "tools/list" {
            Reply::Json(request.result(json!({ "tools": tools })))
        } else {
            Reply::Usual
        }
    }
}

/// Advances the clock. It runs normally again afterwards, so that it does not jump during requests.
async fn pass(time: Duration) {
    pause();
    advance(time).await;
    resume();
}

#[tokio::test]
async fn all_pages_are_read_in_one_session() {
    let fake = Fake::new(|request| {
        let page = match request.body["params"]["cursor"].as_str() {
            None => json!({"tools": [tool("c"), tool("a")], "nextCursor": "2"}),
            Some("2") => json!({"tools": [tool("b"), tool("a")], "nextCursor": "3"}),
            Some(_) => json!({"tools": []}),
        };
        if request.method == "tools/list" {
            Reply::Json(request.result(page))
        } else {
            Reply::Usual
        }
    })
    .await;
    assert_eq!(servers().tools(&fake.server(), LIMIT).await, all(&["a", "b", "c"]));
    let methods = [
        "initialize",
        "notifications/initialized",
        "tools/list",
        "tools/list",
        "tools/list",
        "DELETE",
    ];
    assert_eq!(fake.methods(), methods);
    assert!(fake.received().iter().all(|request| request.header("traceparent").is_none()
        && request.header("authorization").is_some()));
}

#[tokio::test]
async fn the_number_of_pages_is_limited() {
    let fake = Fake::new(|request| match request.method.as_str() {
        "tools/list" => {
            Reply::Json(request.result(json!({"tools": [tool("a")], "nextCursor": "again"})))
        }
        _ => Reply::Usual,
    })
    .await;
    assert_eq!(
        (servers().tools(&fake.server(), LIMIT).await, fake.count("tools/list")),
        (all(&["a"]), 20)
    );
}

#[tokio::test]
async fn hints_and_allowed_tools_are_applied() {
    let hinted = |name: &str, hints: Value| {
        let mut tool = tool(name);
        tool["annotations"] = hints;
        tool
    };
    let tools = vec![
        hinted("a", json!({"readOnlyHint": true})),
        hinted("b", json!({"idempotentHint": true, "readOnlyHint": "yes"})),
        tool("c"),
    ];
    let fake = Fake::new(lists(tools)).await;
    let servers = servers();
    let [a, b, c] = ["a", "b", "c"].map(listed);
    let expected = [
        ListedTool { read_only: true, idempotent: true, ..a },
        ListedTool { idempotent: true, ..b.clone() },
        c,
    ];
    assert_eq!(
        servers.tools(&fake.server(), LIMIT).await,
        Listed { tools: expected.into(), trouble: None }
    );
    let few = McpServer { allowed_tools: Some(vec!["z".into(), "b".into()]), ..fake.server() };
    let expected = [ListedTool { idempotent: true, ..b }];
    assert_eq!(servers.tools(&few, LIMIT).await, Listed { tools: expected.into(), trouble: None });
    assert_eq!(fake.count("tools/list"), 1);
}

#[tokio::test]
async fn a_list_is_cached_for_five_minutes_per_settings() {
    let fake = Fake::new(lists(vec![tool("a")])).await;
    let servers = servers();
    assert_eq!(servers.tools(&fake.server(), LIMIT).await, all(&["a"]));
    fake.replace_script(lists(vec![tool("b")]));
    pass(Duration::from_secs(290)).await;
    assert_eq!(servers.tools(&fake.server(), LIMIT).await, all(&["a"]));
    let other = McpServer { headers: [].into(), ..fake.server() };
    assert_eq!(servers.tools(&other, LIMIT).await, all(&["b"]));
    pass(Duration::from_secs(11)).await;
    assert_eq!(servers.tools(&fake.server(), LIMIT).await, all(&["b"]));
    assert_eq!(fake.count("tools/list"), 3);
}

#[tokio::test]
async fn an_unreachable_server_keeps_its_last_known_tools() {
    let fake = Fake::new(lists(vec![tool("a")])).await;
    let servers = servers();
    let server = fake.server();
    let address = fake.address;
    assert_eq!(servers.tools(&server, LIMIT).await, all(&["a"]));
    drop(fake);
    pass(Duration::from_mins(5)).await;
    let away = || Listed {
        trouble: Some("the server docs can't be reached: connection refused".into()),
        ..all(&["a"])
    };
    assert_eq!(servers.tools(&server, LIMIT).await, away());
    // The server is back, but the failure is still cached.
    let fake = Fake::at(address, lists(vec![tool("b")])).await;
    pass(Duration::from_secs(5)).await;
    assert_eq!((servers.tools(&server, LIMIT).await, fake.methods().len()), (away(), 0));
    pass(Duration::from_secs(6)).await;
    assert_eq!(servers.tools(&server, LIMIT).await, all(&["b"]));
}

#[tokio::test]
async fn concurrent_callers_share_one_request() {
    let fake = Fake::new(lists(vec![tool("a")])).await;
    let servers = servers();
    let server = fake.server();
    let asked = futures::future::join_all((0..20).map(|_| servers.tools(&server, LIMIT))).await;
    assert_eq!((asked, fake.count("tools/list")), (vec![all(&["a"]); 20], 1));
}

#[tokio::test]
async fn concurrent_callers_share_one_timeout() {
    let fake = Fake::new(|_| Reply::Never).await;
    let servers = servers();
    let server = fake.server();
    let asked =
        futures::future::join_all((0..20).map(|_| servers.tools(&server, Duration::from_secs(3))))
            .await;
    let dead =
        Listed { trouble: Some("the server docs did not answer within 3 s".into()), ..all(&[]) };
    assert_eq!((asked, fake.count("initialize")), (vec![dead.clone(); 20], 1));
    assert_eq!((servers.tools(&server, LIMIT).await, fake.count("initialize")), (dead, 1));
}

#[tokio::test]
async fn a_cancelled_caller_does_not_block_the_next_one() {
    let fake = Fake::new(|_| Reply::Never).await;
    let servers = servers();
    let server = fake.server();
    tokio::select! {
        listed = servers.tools(&server, LIMIT) => panic!("{listed:?}"),
        () = fake.until("initialize", 1) => {}
    }
    fake.replace_script(lists(vec![tool("a")]));
    assert_eq!(servers.tools(&server, LIMIT).await, all(&["a"]));
}

#[tokio::test]
async fn a_list_that_can_not_be_read_has_a_reason() {
    let trouble = |text: &str| Listed { trouble: Some(text.into()), ..all(&[]) };
    let fake = Fake::new(|request| match request.method.as_str() {
        "tools/list" => {
            let error = json!({"code": -32601, "message": "Method not found"});
            Reply::Json(json!({"jsonrpc": "2.0", "id": request.body["id"], "error": error}))
        }
        _ => Reply::Usual,
    })
    .await;
    assert_eq!(
        servers().tools(&fake.server(), LIMIT).await,
        trouble("the server docs does not list its tools: Method not found")
    );
    fake.replace_script(|_| Reply::Text(401, "text/plain", "".into()));
    let unauthorized = trouble(
        "the server docs requires authorization (401): set it in the headers of the server",
    );
    assert_eq!(servers().tools(&fake.server(), LIMIT).await, unauthorized);
    fake.replace_script(|_| Reply::Text(302, "text/plain", "".into()));
    let redirect = trouble("the server docs answered with a redirect (302), which is not followed");
    assert_eq!(servers().tools(&fake.server(), LIMIT).await, redirect);
    let server = McpServer {
        headers: [("x-key".to_owned(), "${secret.NONE}".to_owned())].into(),
        ..fake.server()
    };
    assert_eq!(
        servers().tools(&server, LIMIT).await,
        trouble("the header x-key can't be sent: the secret NONE is not set here")
    );
}
