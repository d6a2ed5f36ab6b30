use crate::request::tests::*;

fn redirect(status: u16, to: &str) -> Reply {
    Reply::Bytes(response(status, &format!("location: {to}\r\n"), b""))
}

fn done() -> Reply {
    Reply::Bytes(response(200, "content-type: text/plain\r\n", b"done"))
}

/// The method and path of a request, the names of its own headers, and its body.
fn summary(request: &str) -> String {
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let first = lines.next().unwrap().trim_end_matches(" HTTP/1.1");
    let of_the_client = ["accept-encoding", "host", "content-length"];
    let mut names: Vec<_> = lines
        .map(|line| line.split_once(':').unwrap().0)
        .filter(|name| !of_the_client.contains(name))
        .collect();
    names.sort_unstable();
    format!("{first} [{}] {body}", names.join(" "))
}

/// A request with headers of every kind.
fn with_headers(request: Outgoing) -> Outgoing {
    let mut sensitive = HeaderValue::from_static("s3cret");
    sensitive.set_sensitive(true);
    let plain = HeaderValue::from_static("x");
    let own = HeaderName::from_static("x-own");
    let named = [
        header::ACCEPT,
        header::CONTENT_TYPE,
        trace_context::TRACEPARENT,
        trace_context::CHAIN_DEPTH,
        trace_context::IDEMPOTENCY_KEY,
        own,
    ];
    let mut headers: HeaderMap = named.into_iter().map(|name| (name, plain.clone())).collect();
    headers.insert(header::AUTHORIZATION, sensitive.clone());
    headers.insert(header::USER_AGENT, sensitive);
    Outgoing { headers, ..request }
}

#[tokio::test]
async fn the_method_after_a_redirect_depends_on_the_status() {
    for (method, status, second) in [
        (Method::GET, 301, "GET"),
        (Method::GET, 302, "GET"),
        (Method::GET, 303, "GET"),
        (Method::GET, 307, "GET"),
        (Method::GET, 308, "GET"),
        (Method::HEAD, 302, "HEAD"),
        (Method::POST, 301, "GET"),
        (Method::POST, 302, "GET"),
        (Method::POST, 303, "GET"),
        (Method::PUT, 303, "GET"),
    ] {
        let server =
            Server::start(move |index| if index == 0 { redirect(status, "/b?c") } else { done() })
                .await;
        let request =
            with_headers(Outgoing { method: method.clone(), ..get(server.url("api.test", "/a")) });
        let text = if method == Method::HEAD { "" } else { "done" };
        assert_eq!(egress().send(request).await, Ok(text_response(200, text)), "{method} {status}");
        let headers = "[accept authorization content-type idempotency-key \
            smartspace-chain-depth traceparent user-agent x-own]";
        let received: Vec<_> = server.received().iter().map(|request| summary(request)).collect();
        let expected = [format!("{method} /a {headers} "), format!("{second} /b?c {headers} ")];
        assert_eq!(received, expected);
    }
}

#[tokio::test]
async fn a_body_is_sent_again_only_after_307_and_308() {
    let headers = "accept authorization";
    let rest = "idempotency-key smartspace-chain-depth traceparent user-agent x-own]";
    for (status, second) in [
        (302, format!("GET /b [{headers} {rest} ")),
        (307, format!("POST /b [{headers} content-type {rest} {{}}")),
        (308, format!("POST /b [{headers} content-type {rest} {{}}")),
    ] {
        let server =
            Server::start(move |index| if index == 0 { redirect(status, "b") } else { done() })
                .await;
        assert_eq!(
            egress().send(with_headers(post(server.url("api.test", "/a")))).await,
            Ok(text_response(200, "done"))
        );
        assert_eq!(summary(&server.received()[1]), second);
    }
}

#[tokio::test]
async fn another_origin_gets_only_harmless_headers() {
    let other = Server::start(|_| done()).await;
    // Another port or another name of the same server is another origin.
    for target in [other.url("api.test", "/b"), other.url("other.test", "/b")] {
        let to = target.to_string();
        let server = Server::start(move |_| redirect(302, &to)).await;
        let request = Outgoing {
            secrets: vec![secret(Some("api.test"))],
            ..with_headers(post(server.url("api.test", "/a")))
        };
        assert_eq!(egress().send(request).await, Ok(text_response(200, "done")));
    }
    let received: Vec<_> = other.received().iter().map(|request| summary(request)).collect();
    // The user agent is the client's default again.
    assert_eq!(received, ["GET /b [accept smartspace-chain-depth traceparent user-agent] "; 2]);
    assert!(!other.received().concat().contains("s3cret"));
}

#[tokio::test]
async fn a_body_is_not_sent_to_another_origin() {
    let other = Server::start(|_| done()).await;
    for status in [307, 308] {
        let to = other.url("other.test", "/").to_string();
        let server = Server::start(move |_| redirect(status, &to)).await;
        let refused = egress().send(post(server.url("api.test", "/"))).await;
        assert_eq!(
            refused,
            unknown(
                "the server redirected a POST to other.test, another origin, which is not followed"
            )
        );
    }
    assert_eq!(other.received(), [] as [String; 0]);
}

#[tokio::test]
async fn every_redirect_target_is_checked() {
    for (to, text) in [
        (
            "http://169.254.169.254/latest/meta-data",
            "169.254.169.254:80 is a link-local address, \
             which tools may reach only if SMARTSPACE_TOOL_HOSTS lists this host, \
             either alone or with this port",
        ),
        (
            "http://0x7f.1/",
            "127.0.0.1:80 is an address of this machine, \
             which tools may reach only if SMARTSPACE_TOOL_HOSTS lists this host, \
             either alone or with this port",
        ),
        (
            "http://evil.test/",
            "evil.test:80 resolves to an address of this machine, \
             which tools may reach only if SMARTSPACE_TOOL_HOSTS lists this host, \
             either alone or with this port",
        ),
        (
            "http://user:password@other.test/",
            "expected an address without a user or a password in it",
        ),
        ("file:///etc/passwd", "expected an address that begins with https:// or http://"),
        ("http://", "the server redirected to an invalid address"),
    ] {
        let server = Server::start(move |_| redirect(302, to)).await;
        let refused =
            egress().send(Outgoing { repeatable: true, ..get(server.url("api.test", "/")) }).await;
        // The first server has received the request, so the outcome is unknown.
        assert_eq!((refused, server.received().len()), (unknown(text), 1));
    }
}

#[tokio::test]
async fn the_number_of_redirects_is_limited() {
    let server =
        Server::start(|index| if index < 5 { redirect(302, "/again") } else { done() }).await;
    assert_eq!(
        (egress().send(get(server.url("api.test", "/"))).await, server.received().len()),
        (Ok(text_response(200, "done")), 6)
    );
    let server = Server::start(|_| redirect(302, "/again")).await;
    let endless = egress().send(get(server.url("api.test", "/"))).await;
    assert_eq!(
        (endless, server.received().len()),
        (unknown("the server redirected more than 5 times"), 6)
    );
}

#[tokio::test]
async fn a_redirect_status_without_a_target_is_returned() {
    for status in [300, 302, 304, 305] {
        let location = if status == 302 { "" } else { "location: /b\r\n" };
        let headers = format!("content-type: text/plain\r\n{location}");
        let server = Server::start(move |_| Reply::Bytes(response(status, &headers, b""))).await;
        assert_eq!(
            egress().send(get(server.url("api.test", "/"))).await,
            Ok(text_response(status, ""))
        );
    }
}

#[tokio::test]
async fn a_secret_in_a_redirect_target_is_not_sent_to_another_origin() {
    let other = Server::start(|_| done()).await;
    for query in [
        "q=s3cret/va%20lue",
        "s3cret%2Fva+lue",
        "q=%733cret/v%61+lue",
        "q=czNjcmV0L3ZhIGx1ZQ",
        "q=7333637265742f7661206c7565",
    ] {
        let to = other.url("other.test", &format!("/?{query}")).to_string();
        let server = Server::start(move |_| redirect(302, &to)).await;
        let refused = egress().send(get(server.url("api.test", "/"))).await;
        assert_eq!(
            refused,
            unknown(
                "the server redirected to another origin with a secret in the address, \
                 which is not followed"
            )
        );
    }
    assert_eq!(other.received(), [] as [String; 0]);
    let server =
        Server::start(|index| if index == 0 { redirect(302, "/?s3cret%2Fva+lue") } else { done() })
            .await;
    assert_eq!(
        egress().send(get(server.url("api.test", "/"))).await,
        Ok(text_response(200, "done"))
    );
}

#[tokio::test]
async fn a_request_with_a_secret_goes_only_to_the_hosts_of_the_secret() {
    let server = Server::start(|_| done()).await;
    let send = |host: &str| {
        let secrets = vec![secret(None), secret(Some("api.test"))];
        let request = Outgoing { secrets, repeatable: true, ..get(server.url(host, "/")) };
        async { egress().send(request).await }
    };
    assert_eq!(send("API.test").await, Ok(text_response(200, "done")));
    let refused = send("other.test").await;
    assert_eq!(
        refused,
        Err(SendError::Refused(
            "a secret of this request may not go to other.test: the list of its hosts \
             (locally SMARTSPACE_SECRET_NAME_HOSTS) does not have this host"
                .into()
        ))
    );
    assert_eq!(server.received().len(), 1);
}
