//! Requests without a response, and their retries.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use crate::request::tests::*;

#[tokio::test]
async fn a_silent_server_times_out() {
    // Even a busy machine has read the head within this limit.
    let limit = Duration::from_secs(3);
    let silent = Server::start(|_| Reply::Bytes(Vec::new())).await;
    let late = egress().send(Outgoing { limit, ..get(silent.url("api.test", "/")) }).await;
    assert_eq!(late, unknown("the server did not answer within 3 s"));
    let half = Server::start(|_| {
        Reply::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf".to_vec())
    })
    .await;
    let late =
        egress().send(Outgoing { limit, repeatable: true, ..get(half.url("api.test", "/")) }).await;
    assert_eq!(late, unknown("the server did not finish its answer within 3 s"));
}

#[tokio::test]
async fn a_refused_connection_is_not_sent() {
    let server = Server::start(|_| Reply::Close).await;
    let url = server.url("api.test", "/?q=private");
    server.stop().await;
    let refused =
        Err(SendError::NotSent("api.test could not be reached: connection refused".into()));
    assert_eq!(egress().send(post(url.clone())).await, refused);
    assert_eq!(egress().send(Outgoing { repeatable: true, ..post(url) }).await, refused);
}

#[tokio::test]
async fn a_failed_tls_handshake_is_not_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url =
        format!("https://api.test:{}/", listener.local_addr().unwrap().port()).parse().unwrap();
    let plain = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(&response(400, "", b"no TLS here")).await.unwrap();
        // Waits until the client has read the response, because a reset could discard it.
        while stream.read(&mut [0; 512]).await.is_ok_and(|read| read > 0) {}
    });
    let refused = egress().send(post(url)).await;
    let text = "api.test could not be reached: received corrupt message of type InvalidContentType";
    assert_eq!(refused, Err(SendError::NotSent(text.into())));
    plain.await.unwrap();
}

#[tokio::test]
async fn a_connection_that_closes_after_the_request_leaves_the_outcome_unknown() {
    let server = Server::start(|_| Reply::Close).await;
    let broken = egress().send(post(server.url("api.test", "/?q=private"))).await;
    let text = "the connection to api.test broke before the answer came: \
        connection closed before message completed";
    assert_eq!((broken, server.received().len()), (unknown(text), 1));
    let server = Server::start(|_| {
        Reply::ThenClose(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf".to_vec())
    })
    .await;
    let broken = egress().send(post(server.url("api.test", "/"))).await;
    let text = "the answer could not be read to its end: end of file before message length reached";
    assert_eq!((broken, server.received().len()), (unknown(text), 1));
}

#[tokio::test]
async fn a_repeatable_request_is_retried_until_it_succeeds_or_must_wait_too_long() {
    let failing = |index| match index {
        0 => Reply::ThenClose(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf".to_vec()),
        1 => Reply::Bytes(response(503, "retry-after: 0\r\ncontent-type: text/plain\r\n", b"busy")),
        _ => Reply::Bytes(response(200, "content-type: text/plain\r\n", b"done")),
    };
    let server = Server::start(failing).await;
    let repeatable = Outgoing { repeatable: true, ..post(server.url("api.test", "/")) };
    assert_eq!(
        (egress().send(repeatable.clone()).await, server.received().len()),
        (Ok(text_response(200, "done")), 3)
    );

    let server =
        Server::start(|_| Reply::Bytes(response(503, "content-type: text/plain\r\n", b"busy")))
            .await;
    let repeatable = Outgoing { url: server.url("api.test", "/"), ..repeatable };
    assert_eq!(
        (egress().send(repeatable.clone()).await, server.received().len()),
        (Ok(text_response(503, "busy")), 3)
    );

    let server = Server::start(|_| {
        Reply::Bytes(response(429, "retry-after: 60\r\ncontent-type: text/plain\r\n", b"wait"))
    })
    .await;
    let repeatable = Outgoing { url: server.url("api.test", "/"), ..repeatable };
    assert_eq!(
        (egress().send(repeatable).await, server.received().len()),
        (Ok(text_response(429, "wait")), 1)
    );
}

#[tokio::test]
async fn name_resolution_times_out_with_the_connect_limit() {
    struct Never;

    #[async_trait]
    impl Resolver for Never {
        async fn addresses(&self, _: &str) -> std::io::Result<Vec<IpAddr>> {
            std::future::pending().await
        }
    }

    let egress =
        Egress::new(Arc::new(Never), "".parse().unwrap(), Arc::new(FixedSecrets::default()));
    let refused = egress.send(get("http://api.test/".parse().unwrap())).await;
    let expected =
        Err(SendError::NotSent("api.test could not be reached: operation timed out".into()));
    assert_eq!(refused, expected);
}
