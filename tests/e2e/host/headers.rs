//! The headers of answers, and of requests that are not answered.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    host::raw::{answer, sent},
    support::{
        client::Reply,
        files::{PIXEL, announced},
        stack::Stack,
        waiting::SOON,
    },
};

fn assert_private(reply: &Reply, what: &str) {
    assert_eq!(reply.header("cache-control"), "no-store", "{what}");
    assert_eq!(reply.header("x-content-type-options"), "nosniff", "{what}");
}

#[tokio::test]
async fn no_private_answer_is_stored() {
    let Some(stack) = Stack::with_secret(&["--invites", "guests"]).await else { return };
    let (person, _, space) = stack.pair().await;
    let own = stack.as_entity(&person);
    let upload = announced("a.png", "image/png", PIXEL);
    let calls = [
        ("GET", "/v1/me".to_owned(), json!({}), 200),
        ("GET", format!("/v1/spaces/{space}/messages"), json!({}), 200),
        ("POST", "/v1/socketTickets".to_owned(), json!({}), 201),
        ("POST", format!("/v1/spaces/{space}/attachments"), upload, 201),
        ("GET", "/v1/spaces/none".to_owned(), json!({}), 404),
        ("GET", "/nothing".to_owned(), json!({}), 404),
        ("DELETE", "/v1/me".to_owned(), json!({}), 405),
        ("POST", "/v1/mcp".to_owned(), json!({}), 406),
        ("POST", "/v1/chat".to_owned(), json!({}), 422),
        ("PUT", format!("/files/{space}/att_1"), json!({}), 403),
        ("GET", "/v1/socket".to_owned(), json!({}), 400),
        ("GET", "/healthz".to_owned(), json!({}), 200),
    ];
    for (method, path, body, status) in calls {
        let body = (method != "GET").then_some(body);
        let reply = own.call(method.parse().unwrap(), &path, body).await;
        assert_eq!(reply.status, status, "{method} {path}: {}", reply.text);
        assert_private(&reply, &path);
    }
    let invite = json!({ "uses": 1, "expiresIn": "1 day" });
    let invite = stack.create(&format!("/v1/spaces/{space}/invites"), invite).await;
    assert_private(&invite, "the invite");
    for path in ["/v1/me", "/v1/mcp"] {
        let reply = stack.send(stack.request(Method::POST, path)).await;
        assert_private(&reply, path);
    }
}

#[tokio::test]
async fn public_files_are_compressed_and_cached() {
    let Some(stack) = Stack::with(&[]).await else { return };
    // It leaves the body as it came.
    let client = reqwest::Client::builder().no_gzip().build().unwrap();
    let ask = async |path: &str, accepted: &str, tag: &str| {
        let request = client.get(format!("{}{path}", stack.url));
        let request = request.header("accept-encoding", accepted).header("if-none-match", tag);
        let response = request.send().await.unwrap();
        let headers = response.headers().clone();
        let header = move |name: &str| {
            headers.get(name).map_or("", |value| value.to_str().unwrap()).to_owned()
        };
        (response.status().as_u16(), header, response.bytes().await.unwrap())
    };
    for (path, caching) in [("/openapi.json", "public, max-age=300"), ("/", "public, max-age=60")] {
        let (status, header, _) = ask(path, "identity", "\"x\"").await;
        assert_eq!((status, header("content-encoding").as_str()), (200, ""));
        assert_eq!(header("cache-control"), caching);
        assert!(header("vary").contains("accept-encoding"), "{}", header("vary"));
        let (status, _, body) = ask(path, "identity", &header("etag")).await;
        assert_eq!((status, body.len()), (304, 0));
    }
    let (_, header, body) = ask("/openapi.json", "gzip", "\"x\"").await;
    assert_eq!(header("content-encoding"), "gzip");
    assert!(body.len() < 48_000, "{}", body.len());
    assert_eq!(ask("/openapi.json", "gzip", &header("etag")).await.0, 304);
}

#[tokio::test]
async fn the_console_keeps_other_pages_away() {
    let Some(stack) = Stack::with(&[]).await else { return };
    let page = stack.send(stack.request(Method::GET, "/")).await;
    assert_eq!(page.header("cross-origin-opener-policy"), "same-origin");
    assert!(page.header("permissions-policy").starts_with("camera=(), "));
    assert_eq!(page.header("strict-transport-security"), "", "this page came over HTTP");
    let Some(public) = Stack::with(&["--public-url", "https://team.example"]).await else { return };
    let page = public.send(public.request(Method::GET, "/")).await;
    assert_eq!(page.header("strict-transport-security"), "max-age=31536000");
    let policy = page.header("content-security-policy");
    assert!(
        policy.contains("connect-src 'self' wss://team.example https://team.example;"),
        "{policy}"
    );
}

#[tokio::test]
async fn only_requests_for_this_machine_are_answered() {
    let Some(stack) = Stack::with(&["--public-url", "https://team.example"]).await else { return };
    let ask = async |host: &str, path: &str| {
        let request = stack.request(Method::GET, path).bearer_auth(&stack.key);
        stack.send(request.header("host", host)).await
    };
    for host in ["localhost:1", "127.0.0.1", "[::1]:7700", "team.example"] {
        ask(host, "/v1/me").await.must_be(200);
    }
    for path in ["/", "/v1/me", "/v1/mcp", "/files/a/b", "/openapi.json", "/v1/socket"] {
        let refused = ask("evil.example:7700", path).await;
        assert_private(&refused, path);
        assert_eq!(refused.header("content-type"), "application/problem+json");
        let detail = refused.must_be(421)["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains("evil.example"), "{detail}");
    }
    for head in [
        "GET /v1/me HTTP/1.1\r\n\r\n",
        "GET /v1/me HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        "GET /v1/me HTTP/1.1\r\nHost:\r\n\r\n",
    ] {
        let head = head.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
        let answer = answer(&mut sent(&stack, &head, b"").await, SOON).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{head}: {answer}");
    }
}

#[tokio::test]
async fn addresses_in_answers_are_the_configured_ones() {
    let flags = ["--public-url", "https://team.example", "--invites", "members"];
    let Some(stack) = Stack::with_secret(&flags).await else { return };
    let (person, _, space) = stack.pair().await;
    let own = stack.as_entity(&person);
    let ask = async |path: &str, body: Value| {
        let request = own.request(Method::POST, path).bearer_auth(&own.key).json(&body);
        let request = request.header("x-forwarded-proto", "http").header("host", "localhost");
        own.send(request.header("x-forwarded-prefix", "/elsewhere")).await
    };
    let ticket = ask("/v1/socketTickets", json!({})).await.must_be(201);
    let upload = announced("a.png", "image/png", PIXEL);
    let upload = ask(&format!("/v1/spaces/{space}/attachments"), upload).await.must_be(201);
    for (url, begin) in [
        (&ticket["url"], "wss://team.example/v1/socket?ticket="),
        (&upload["uploadUrl"], "https://team.example/files/"),
    ] {
        assert!(url.as_str().unwrap().starts_with(begin), "{url}");
    }
    // The adapters reach the API from inside, whatever the configured address is.
    stack.model.answers("ada", |_| crate::support::model::stop());
    let parts = json!([{"type": "text", "text": "Hello?"}]);
    let body = json!({
        "id": space,
        "messages": [{"id": "1", "role": "user", "parts": parts}],
        "trigger": "submit-message",
    });
    let turn = ask("/v1/chat", body).await;
    assert_eq!((turn.status, turn.header("cache-control")), (200, "no-store"));
    assert!(turn.text.contains("[DONE]"), "{}", turn.text);
    // Without it, the scheme is that of the connection.
    let Some(plain) = Stack::with(&[]).await else { return };
    let request = plain.request(Method::POST, "/v1/socketTickets").bearer_auth(&plain.key);
    let request = request.header("x-forwarded-proto", "https").json(&json!({}));
    let url = plain.send(request).await.must_be(201)["url"].clone();
    assert!(url.as_str().unwrap().starts_with("ws://127.0.0.1:"), "{url}");
}
