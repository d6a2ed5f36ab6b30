use serde_json::json;
use tokio::time::{advance, pause, resume};

use super::fake::*;
use crate::mcp::*;

fn all(names: &[&str]) -> Listed {
    Listed { tools: names.iter().map(|name| listed(name)).collect(), trouble: None }
}

/// A server with these tools.
fn lists(tools: Vec<Value>) -> impl Fn(&Seen) -> Reply + Send + Sync {
    move |seen| if seen.method == "tools/list" { Reply::Json(seen.result(json!({ "tools": tools }))) } else { Reply::Usual }
}

/// Without waiting, and without a clock that jumps while requests are under way.
async fn pass(time: Duration) {
    pause();
    advance(time).await;
    resume();
}

#[tokio::test]
async fn all_pages_are_read_in_one_session() {
    let fake = Fake::new(|seen| {
        let page = match seen.body["params"]["cursor"].as_str() {
            None => json!({"tools": [tool("c"), tool("a")], "nextCursor": "2"}),
            Some("2") => json!({"tools": [tool("b"), tool("a")], "nextCursor": "3"}),
            Some(_) => json!({"tools": []}),
        };
        if seen.method == "tools/list" { Reply::Json(seen.result(page)) } else { Reply::Usual }
    })
    .await;
    assert_eq!(servers().tools(&fake.server(), PATIENCE).await, all(&["a", "b", "c"]));
    let methods = ["initialize", "notifications/initialized", "tools/list", "tools/list", "tools/list", "DELETE"];
    assert_eq!(fake.methods(), methods);
    assert!(fake.seen().iter().all(|seen| seen.header("traceparent").is_none() && seen.header("authorization").is_some()));
}

#[tokio::test]
async fn pages_without_end_are_left() {
    let fake = Fake::new(|seen| match seen.method.as_str() {
        "tools/list" => Reply::Json(seen.result(json!({"tools": [tool("a")], "nextCursor": "again"}))),
        _ => Reply::Usual,
    })
    .await;
    assert_eq!((servers().tools(&fake.server(), PATIENCE).await, fake.count("tools/list")), (all(&["a"]), 20));
}

#[tokio::test]
async fn hints_and_allowed_tools_are_applied() {
    let hinted = |name: &str, hints: Value| {
        let mut tool = tool(name);
        tool["annotations"] = hints;
        tool
    };
    let tools =
        vec![hinted("a", json!({"readOnlyHint": true})), hinted("b", json!({"idempotentHint": true, "readOnlyHint": "yes"})), tool("c")];
    let fake = Fake::new(lists(tools)).await;
    let servers = servers();
    let [a, b, c] = ["a", "b", "c"].map(listed);
    let expected = [ListedTool { read_only: true, idempotent: true, ..a }, ListedTool { idempotent: true, ..b.clone() }, c];
    assert_eq!(servers.tools(&fake.server(), PATIENCE).await, Listed { tools: expected.into(), trouble: None });
    let few = McpServer { allowed_tools: Some(vec!["z".into(), "b".into()]), ..fake.server() };
    let expected = [ListedTool { idempotent: true, ..b }];
    assert_eq!(servers.tools(&few, PATIENCE).await, Listed { tools: expected.into(), trouble: None });
    assert_eq!(fake.count("tools/list"), 1);
}

#[tokio::test]
async fn a_list_is_kept_for_five_minutes_for_the_same_settings() {
    let fake = Fake::new(lists(vec![tool("a")])).await;
    let servers = servers();
    assert_eq!(servers.tools(&fake.server(), PATIENCE).await, all(&["a"]));
    fake.plays(lists(vec![tool("b")]));
    pass(Duration::from_secs(290)).await;
    assert_eq!(servers.tools(&fake.server(), PATIENCE).await, all(&["a"]));
    let other = McpServer { headers: [].into(), ..fake.server() };
    assert_eq!(servers.tools(&other, PATIENCE).await, all(&["b"]));
    pass(Duration::from_secs(11)).await;
    assert_eq!(servers.tools(&fake.server(), PATIENCE).await, all(&["b"]));
    assert_eq!(fake.count("tools/list"), 3);
}

#[tokio::test]
async fn a_server_that_is_away_has_its_last_known_tools() {
    let fake = Fake::new(lists(vec![tool("a")])).await;
    let (servers, server, address) = (servers(), fake.server(), fake.address);
    assert_eq!(servers.tools(&server, PATIENCE).await, all(&["a"]));
    drop(fake);
    pass(Duration::from_mins(5)).await;
    let away = || Listed { trouble: Some("the server docs can't be reached: connection refused".into()), ..all(&["a"]) };
    assert_eq!(servers.tools(&server, PATIENCE).await, away());
    // It is back, but that is not asked at once.
    let fake = Fake::at(address, lists(vec![tool("b")])).await;
    pass(Duration::from_secs(5)).await;
    assert_eq!((servers.tools(&server, PATIENCE).await, fake.methods().len()), (away(), 0));
    pass(Duration::from_secs(6)).await;
    assert_eq!(servers.tools(&server, PATIENCE).await, all(&["b"]));
}

#[tokio::test]
async fn those_who_ask_at_the_same_time_share_one_question() {
    let fake = Fake::new(lists(vec![tool("a")])).await;
    let (servers, server) = (servers(), fake.server());
    let asked = futures::future::join_all((0..20).map(|_| servers.tools(&server, PATIENCE))).await;
    assert_eq!((asked, fake.count("tools/list")), (vec![all(&["a"]); 20], 1));
}

#[tokio::test]
async fn those_who_wait_for_a_dead_server_wait_once() {
    let fake = Fake::new(|_| Reply::Never).await;
    let (servers, server) = (servers(), fake.server());
    let asked = futures::future::join_all((0..20).map(|_| servers.tools(&server, Duration::from_secs(3)))).await;
    let dead = Listed { trouble: Some("the server docs did not answer within 3 s".into()), ..all(&[]) };
    assert_eq!((asked, fake.count("initialize")), (vec![dead.clone(); 20], 1));
    assert_eq!((servers.tools(&server, PATIENCE).await, fake.count("initialize")), (dead, 1));
}

#[tokio::test]
async fn who_gives_up_lets_the_next_one_ask() {
    let fake = Fake::new(|_| Reply::Never).await;
    let (servers, server) = (servers(), fake.server());
    tokio::select! {
        listed = servers.tools(&server, PATIENCE) => panic!("{listed:?}"),
        () = fake.until("initialize", 1) => {}
    }
    fake.plays(lists(vec![tool("a")]));
    assert_eq!(servers.tools(&server, PATIENCE).await, all(&["a"]));
}

#[tokio::test]
async fn why_there_is_no_list_is_said() {
    let trouble = |text: &str| Listed { trouble: Some(text.into()), ..all(&[]) };
    let fake = Fake::new(|seen| match seen.method.as_str() {
        "tools/list" => {
            Reply::Json(json!({"jsonrpc": "2.0", "id": seen.body["id"], "error": {"code": -32601, "message": "Method not found"}}))
        }
        _ => Reply::Usual,
    })
    .await;
    assert_eq!(servers().tools(&fake.server(), PATIENCE).await, trouble("the server docs does not list its tools: Method not found"));
    fake.plays(|_| Reply::Text(401, "text/plain", "".into()));
    let asks = trouble("the server docs asks for authorisation (401); set headers for it");
    assert_eq!(servers().tools(&fake.server(), PATIENCE).await, asks);
    fake.plays(|_| Reply::Text(302, "text/plain", "".into()));
    let redirect = trouble("the server docs answered with a redirect (302), which is not followed");
    assert_eq!(servers().tools(&fake.server(), PATIENCE).await, redirect);
    let server = McpServer { headers: [("x-key".to_owned(), "${secret.NONE}".to_owned())].into(), ..fake.server() };
    assert_eq!(servers().tools(&server, PATIENCE).await, trouble("the header x-key can't be sent: the secret NONE is not set here"));
}
