use std::{
    io::{Read, Write},
    net::IpAddr,
    sync::Arc,
};

use async_trait::async_trait;
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use http::{HeaderName, HeaderValue, header};
use smartspace_edges::{
    names::Names,
    secrets::{FixedSecrets, KnownSecrets},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::*;
use crate::trail;

mod redirects;
mod server;

use server::{Reply, Server, answer};

const LIMIT: Duration = Duration::from_secs(20);
const SECRET: &str = "s3cret/va lue";

/// Every name is this machine's.
struct Here;

#[async_trait]
impl Names for Here {
    async fn addresses(&self, _: &str) -> std::io::Result<Vec<IpAddr>> {
        Ok(vec![IpAddr::from([127, 0, 0, 1])])
    }
}

fn secret(hosts: Option<&str>) -> Secret {
    Secret::new(SECRET.into(), hosts.map(|host| vec![host.into()])).unwrap()
}

fn egress() -> Egress {
    let known = KnownSecrets::new([("KEY".to_owned(), secret(None))].into());
    Egress::new(Arc::new(Here), "api.test, other.test".parse().unwrap(), Arc::new(FixedSecrets(Arc::new(known))))
}

fn get(url: Url) -> Outgoing {
    let headers = HeaderMap::new();
    Outgoing { method: Method::GET, url, headers, body: None, limit: LIMIT, repeatable: false, secrets: Vec::new() }
}

fn post(url: Url) -> Outgoing {
    Outgoing { method: Method::POST, body: Some(Bytes::from_static(b"{}")), ..get(url) }
}

fn of_text(status: u16, text: &'static str) -> Answer {
    let content_type = Some("text/plain".to_owned());
    Answer { status: StatusCode::from_u16(status).unwrap(), content_type, body: Bytes::from_static(text.as_bytes()), is_cut: false }
}

fn unknown<T>(text: impl Into<String>) -> Result<T, SendError> {
    Err(SendError::Unknown(text.into()))
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn a_request_is_sent_as_it_is_without_what_belongs_to_the_connection() {
    let server = Server::of(|_| Reply::Says(answer(201, "content-type: text/plain\r\n", b"done"))).await;
    let mut request = post(server.url("api.test", "/a?b=c"));
    let headers = [("x-own", "1"), ("host", "evil.test"), ("content-length", "9"), ("connection", "upgrade"), ("accept-encoding", "br")];
    request.headers = headers.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).into_iter().collect();
    assert_eq!(egress().send(request).await, Ok(of_text(201, "done")));
    let user_agent = format!("user-agent: smartspace/{}", env!("CARGO_PKG_VERSION"));
    let host = format!("host: api.test:{}", server.port());
    let mut lines =
        ["POST /a?b=c HTTP/1.1", "x-own: 1", &user_agent, "accept: */*", "accept-encoding: gzip", &host, "content-length: 2", "", "{}"];
    let heard = server.heard();
    let mut heard: Vec<_> = heard[0].split("\r\n").collect();
    heard.sort_unstable();
    lines.sort_unstable();
    assert_eq!((server.heard().len(), heard), (1, lines.to_vec()));
}

#[tokio::test]
async fn an_answer_is_an_answer_whatever_its_status_is() {
    for status in [200, 304, 400, 401, 404, 500, 503] {
        let server = Server::of(move |_| Reply::Says(answer(status, "content-type: text/plain\r\n", b""))).await;
        assert_eq!(egress().send(post(server.url("api.test", "/"))).await, Ok(of_text(status, "")));
        assert_eq!(server.heard().len(), 1);
    }
}

#[tokio::test]
async fn a_body_is_read_up_to_its_most() {
    for (size, is_cut) in [(BODY_MOST - 1, false), (BODY_MOST, false), (BODY_MOST + 1, true), (10 * 1024 * 1024, true)] {
        let server = Server::of(move |_| Reply::Says(answer(200, "", &vec![b'x'; size]))).await;
        let body = Bytes::from(vec![b'x'; size.min(BODY_MOST)]);
        let expected = Answer { status: StatusCode::OK, content_type: None, body, is_cut };
        assert_eq!(egress().send(get(server.url("api.test", "/"))).await, Ok(expected));
    }
}

#[tokio::test]
async fn an_endless_body_is_hung_up_on() {
    let server = Server::of(|_| Reply::Endless(b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![b'x'; 64 * 1024])).await;
    let answer = egress().send(get(server.url("api.test", "/"))).await.unwrap();
    assert_eq!((answer.body.len(), answer.is_cut), (BODY_MOST, true));
    server.was_hung_up_on().await;
}

#[tokio::test]
async fn a_gzip_bomb_is_unpacked_no_further_than_any_other_body() {
    let bomb = gzipped(&vec![0; 64 * 1024 * 1024]);
    assert!(bomb.len() < 128 * 1024);
    let server = Server::of(move |_| Reply::Says(answer(200, "content-encoding: gzip\r\n", &bomb))).await;
    let answer = egress().send(get(server.url("api.test", "/"))).await.unwrap();
    assert_eq!((answer.body.len(), answer.is_cut), (BODY_MOST, true));
}

#[tokio::test]
async fn a_compressed_body_is_unpacked_and_only_if_it_was_asked_for() {
    let whole = gzipped(b"hello");
    let mut unpacked = String::new();
    GzDecoder::new(whole.as_slice()).read_to_string(&mut unpacked).unwrap();
    let cut = whole[..whole.len() - 10].to_vec();
    let server = Server::of(move |index| {
        let head = |encoding: &str| format!("content-type: text/plain\r\ncontent-encoding: {encoding}\r\n");
        Reply::Says(match index {
            0 => answer(200, &head("gzip"), &whole),
            1 => answer(200, &head("identity"), b"hello"),
            2 => answer(200, &head("br"), b"hello"),
            3 => answer(200, &head("gzip"), &cut),
            _ => answer(200, &head("gzip"), b""),
        })
    })
    .await;
    let egress = egress();
    let url = server.url("api.test", "/");
    let mut answers = Vec::new();
    for _ in 0..4 {
        answers.push(egress.send(get(url.clone())).await);
    }
    answers.push(egress.send(Outgoing { method: Method::HEAD, ..get(url) }).await);
    let expected = [
        Ok(of_text(200, "hello")),
        Ok(of_text(200, "hello")),
        unknown("the answer came as \"br\", expected gzip or no compression"),
        unknown("the answer could not be read to its end: unexpected end of file"),
        Ok(of_text(200, "")),
    ];
    assert_eq!((answers.as_slice(), unpacked.as_str()), (expected.as_slice(), "hello"));
}

#[tokio::test]
async fn the_headers_of_an_answer_are_bounded() {
    let server = Server::of(|index| {
        let field = |value: usize| format!("x: {}\r\n", "y".repeat(value));
        let headers = match index {
            0 => field(60 * 1024),
            1 => field(70 * 1024),
            2 => field(1024 * 1024),
            _ => field(1).repeat(200),
        };
        Reply::Says(answer(200, &format!("content-type: text/plain\r\n{headers}"), b"ok"))
    })
    .await;
    let egress = egress();
    let mut answers = Vec::new();
    for _ in 0..4 {
        answers.push(egress.send(get(server.url("api.test", "/"))).await);
    }
    let broke = "the connection to api.test broke before the answer came: message head is too large";
    assert_eq!(answers, [Ok(of_text(200, "ok")), unknown("the answer has more than 64 KiB of headers"), unknown(broke), unknown(broke)]);
}

#[tokio::test]
async fn silence_ends_at_the_limit() {
    // Long enough for a busy machine to have read the head by then.
    let limit = Duration::from_secs(3);
    let silent = Server::of(|_| Reply::Says(Vec::new())).await;
    let late = egress().send(Outgoing { limit, ..get(silent.url("api.test", "/")) }).await;
    assert_eq!(late, unknown("the server did not answer within 3 s"));
    let half = Server::of(|_| Reply::Says(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf".to_vec())).await;
    let late = egress().send(Outgoing { limit, repeatable: true, ..get(half.url("api.test", "/")) }).await;
    assert_eq!(late, unknown("the server did not finish its answer within 3 s"));
}

#[tokio::test]
async fn a_refused_connection_was_not_sent() {
    let server = Server::of(|_| Reply::Closes).await;
    let url = server.url("api.test", "/?q=private");
    server.stop().await;
    let refused = Err(SendError::NotSent("api.test could not be reached: connection refused".into()));
    assert_eq!(egress().send(post(url.clone())).await, refused);
    assert_eq!(egress().send(Outgoing { repeatable: true, ..post(url) }).await, refused);
}

#[tokio::test]
async fn without_tls_nothing_was_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://api.test:{}/", listener.local_addr().unwrap().port()).parse().unwrap();
    let plain = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(&answer(400, "", b"no TLS here")).await.unwrap();
        // Not before the client has read it: a reset would take it away.
        while stream.read(&mut [0; 512]).await.is_ok_and(|read| read > 0) {}
    });
    let refused = egress().send(post(url)).await;
    let text = "api.test could not be reached: received corrupt message of type InvalidContentType";
    assert_eq!(refused, Err(SendError::NotSent(text.into())));
    plain.await.unwrap();
}

#[tokio::test]
async fn a_connection_that_closes_after_the_request_leaves_it_unknown() {
    let server = Server::of(|_| Reply::Closes).await;
    let broken = egress().send(post(server.url("api.test", "/?q=private"))).await;
    let text = "the connection to api.test broke before the answer came: connection closed before message completed";
    assert_eq!((broken, server.heard().len()), (unknown(text), 1));
    let server = Server::of(|_| Reply::Breaks(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf".to_vec())).await;
    let broken = egress().send(post(server.url("api.test", "/"))).await;
    let text = "the answer could not be read to its end: end of file before message length reached";
    assert_eq!((broken, server.heard().len()), (unknown(text), 1));
}

#[tokio::test]
async fn only_what_may_be_repeated_is_sent_again() {
    let failing = |index| match index {
        0 => Reply::Breaks(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf".to_vec()),
        1 => Reply::Says(answer(503, "retry-after: 0\r\ncontent-type: text/plain\r\n", b"busy")),
        _ => Reply::Says(answer(200, "content-type: text/plain\r\n", b"done")),
    };
    let server = Server::of(failing).await;
    let repeatable = Outgoing { repeatable: true, ..post(server.url("api.test", "/")) };
    assert_eq!((egress().send(repeatable.clone()).await, server.heard().len()), (Ok(of_text(200, "done")), 3));

    let server = Server::of(|_| Reply::Says(answer(503, "content-type: text/plain\r\n", b"busy"))).await;
    let repeatable = Outgoing { url: server.url("api.test", "/"), ..repeatable };
    assert_eq!((egress().send(repeatable.clone()).await, server.heard().len()), (Ok(of_text(503, "busy")), 3));

    let server = Server::of(|_| Reply::Says(answer(429, "retry-after: 60\r\ncontent-type: text/plain\r\n", b"wait"))).await;
    let repeatable = Outgoing { url: server.url("api.test", "/"), ..repeatable };
    assert_eq!((egress().send(repeatable).await, server.heard().len()), (Ok(of_text(429, "wait")), 1));
}

#[tokio::test]
async fn a_name_that_is_never_found_ends_with_the_time_to_connect() {
    struct Never;

    #[async_trait]
    impl Names for Never {
        async fn addresses(&self, _: &str) -> std::io::Result<Vec<IpAddr>> {
            std::future::pending().await
        }
    }

    let egress = Egress::new(Arc::new(Never), "".parse().unwrap(), Arc::new(FixedSecrets::default()));
    let refused = egress.send(get("http://api.test/".parse().unwrap())).await;
    let expected = Err(SendError::NotSent("api.test could not be reached: operation timed out".into()));
    assert_eq!(refused, expected);
}
