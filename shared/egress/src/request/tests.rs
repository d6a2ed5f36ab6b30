use std::{net::IpAddr, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use reqwest::Url;
use smartspace_ports::{
    resolver::Resolver,
    secrets::{FixedSecrets, KnownSecrets, Secret},
};

use crate::request::*;
use crate::trace_context;

mod bodies;
mod failing;
mod redirects;
mod server;

use server::{Reply, Server, response};

const LIMIT: Duration = Duration::from_secs(20);
const SECRET: &str = "s3cret/va lue";

/// Resolves every name to this machine.
struct Here;

#[async_trait]
impl Resolver for Here {
    async fn addresses(&self, _: &str) -> std::io::Result<Vec<IpAddr>> {
        Ok(vec![IpAddr::from([127, 0, 0, 1])])
    }
}

fn secret(hosts: Option<&str>) -> Secret {
    Secret::new(SECRET.into(), hosts.map(|host| vec![host.into()])).unwrap()
}

fn egress() -> Egress {
    let known = KnownSecrets::new([("KEY".to_owned(), secret(None))].into());
    Egress::new(
        Arc::new(Here),
        "api.test, other.test".parse().unwrap(),
        Arc::new(FixedSecrets(Arc::new(known))),
    )
}

fn get(url: Url) -> Outgoing {
    let headers = HeaderMap::new();
    Outgoing {
        method: Method::GET,
        url,
        headers,
        body: None,
        limit: LIMIT,
        repeatable: false,
        only_status: false,
        secrets: Vec::new(),
    }
}

fn post(url: Url) -> Outgoing {
    Outgoing { method: Method::POST, body: Some(Bytes::from_static(b"{}")), ..get(url) }
}

fn text_response(status: u16, text: &'static str) -> HttpResponse {
    let content_type = Some("text/plain".to_owned());
    HttpResponse {
        status: StatusCode::from_u16(status).unwrap(),
        content_type,
        body: Bytes::from_static(text.as_bytes()),
        is_cut: false,
    }
}

fn unknown<T>(text: impl Into<String>) -> Result<T, SendError> {
    Err(SendError::Unknown(text.into()))
}

#[tokio::test]
async fn a_request_is_sent_without_headers_of_the_connection() {
    let server =
        Server::start(|_| Reply::Bytes(response(201, "content-type: text/plain\r\n", b"done")))
            .await;
    let mut request = post(server.url("api.test", "/a?b=c"));
    let headers = [
        ("x-own", "1"),
        ("host", "evil.test"),
        ("content-length", "9"),
        ("connection", "upgrade"),
        ("accept-encoding", "br"),
    ];
    request.headers = headers
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
        .into_iter()
        .collect();
    assert_eq!(egress().send(request).await, Ok(text_response(201, "done")));
    let user_agent = format!("user-agent: smartspace/{}", env!("CARGO_PKG_VERSION"));
    let host = format!("host: api.test:{}", server.port());
    let mut lines = [
        "POST /a?b=c HTTP/1.1",
        "x-own: 1",
        &user_agent,
        "accept: */*",
        "accept-encoding: gzip",
        &host,
        "content-length: 2",
        "",
        "{}",
    ];
    let received = server.received();
    assert_eq!(received.len(), 1);
    let mut received: Vec<_> = received[0].split("\r\n").collect();
    received.sort_unstable();
    lines.sort_unstable();
    assert_eq!(received, lines);
}

#[tokio::test]
async fn a_response_with_any_status_is_returned() {
    for status in [200, 304, 400, 401, 404, 500, 503] {
        let server = Server::start(move |_| {
            Reply::Bytes(response(status, "content-type: text/plain\r\n", b""))
        })
        .await;
        assert_eq!(
            egress().send(post(server.url("api.test", "/"))).await,
            Ok(text_response(status, ""))
        );
        assert_eq!(server.received().len(), 1);
    }
}

#[tokio::test]
async fn response_headers_have_a_size_limit() {
    let server = Server::start(|index| {
        let field = |value: usize| format!("x: {}\r\n", "y".repeat(value));
        let headers = match index {
            0 => field(60 * 1024),
            1 => field(70 * 1024),
            2 => field(1024 * 1024),
            _ => field(1).repeat(200),
        };
        Reply::Bytes(response(200, &format!("content-type: text/plain\r\n{headers}"), b"ok"))
    })
    .await;
    let egress = egress();
    let mut answers = Vec::new();
    for _ in 0..4 {
        answers.push(egress.send(get(server.url("api.test", "/"))).await);
    }
    let broke =
        "the connection to api.test broke before the answer came: message head is too large";
    assert_eq!(
        answers,
        [
            Ok(text_response(200, "ok")),
            unknown("the answer has more than 64 KiB of headers"),
            unknown(broke),
            unknown(broke)
        ]
    );
}
