use super::*;

fn redirect(status: u16, to: &str) -> Reply {
    Reply::Says(answer(status, &format!("location: {to}\r\n"), b""))
}

fn done() -> Reply {
    Reply::Says(answer(200, "content-type: text/plain\r\n", b"done"))
}

/// The first line, the names of the headers that a request brings itself, and the body.
fn brought(request: &str) -> String {
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let first = lines.next().unwrap().trim_end_matches(" HTTP/1.1");
    let usual = ["accept-encoding", "host", "content-length"];
    let mut names: Vec<_> = lines.map(|line| line.split_once(':').unwrap().0).filter(|name| !usual.contains(name)).collect();
    names.sort_unstable();
    format!("{first} [{}] {body}", names.join(" "))
}

/// A request with headers of every kind.
fn with_headers(request: Outgoing) -> Outgoing {
    let mut sensitive = HeaderValue::from_static("s3cret");
    sensitive.set_sensitive(true);
    let plain = HeaderValue::from_static("x");
    let own = HeaderName::from_static("x-own");
    let named = [header::ACCEPT, header::CONTENT_TYPE, trail::TRACEPARENT, trail::CHAIN_DEPTH, trail::IDEMPOTENCY_KEY, own];
    let mut headers: HeaderMap = named.into_iter().map(|name| (name, plain.clone())).collect();
    headers.insert(header::AUTHORIZATION, sensitive.clone());
    headers.insert(header::USER_AGENT, sensitive);
    Outgoing { headers, ..request }
}

#[tokio::test]
async fn what_is_asked_of_the_same_origin_depends_on_the_status() {
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
        let server = Server::of(move |index| if index == 0 { redirect(status, "/b?c") } else { done() }).await;
        let request = with_headers(Outgoing { method: method.clone(), ..get(server.url("api.test", "/a")) });
        let text = if method == Method::HEAD { "" } else { "done" };
        assert_eq!(egress().send(request).await, Ok(of_text(200, text)), "{method} {status}");
        let headers = "[accept authorization content-type idempotency-key smartspace-chain-depth traceparent user-agent x-own]";
        let heard: Vec<_> = server.heard().iter().map(|request| brought(request)).collect();
        assert_eq!(heard, [format!("{method} /a {headers} "), format!("{second} /b?c {headers} ")]);
    }
}

#[tokio::test]
async fn a_body_is_sent_again_only_where_the_server_says_so() {
    let headers = "accept authorization";
    let rest = "idempotency-key smartspace-chain-depth traceparent user-agent x-own]";
    for (status, second) in [
        (302, format!("GET /b [{headers} {rest} ")),
        (307, format!("POST /b [{headers} content-type {rest} {{}}")),
        (308, format!("POST /b [{headers} content-type {rest} {{}}")),
    ] {
        let server = Server::of(move |index| if index == 0 { redirect(status, "b") } else { done() }).await;
        assert_eq!(egress().send(with_headers(post(server.url("api.test", "/a")))).await, Ok(of_text(200, "done")));
        assert_eq!(brought(&server.heard()[1]), second);
    }
}

#[tokio::test]
async fn another_origin_is_told_little() {
    let other = Server::of(|_| done()).await;
    // Another port is another origin, and so is another name of the same server.
    for target in [other.url("api.test", "/b"), other.url("other.test", "/b")] {
        let to = target.to_string();
        let server = Server::of(move |_| redirect(302, &to)).await;
        let request = Outgoing { secrets: vec![secret(Some("api.test"))], ..with_headers(post(server.url("api.test", "/a"))) };
        assert_eq!(egress().send(request).await, Ok(of_text(200, "done")));
    }
    let heard: Vec<_> = other.heard().iter().map(|request| brought(request)).collect();
    // The user agent is our own again.
    assert_eq!(heard, vec!["GET /b [accept smartspace-chain-depth traceparent user-agent] "; 2]);
    assert!(!other.heard().concat().contains("s3cret"));
}

#[tokio::test]
async fn a_body_goes_to_no_other_origin() {
    let other = Server::of(|_| done()).await;
    for status in [307, 308] {
        let to = other.url("other.test", "/").to_string();
        let server = Server::of(move |_| redirect(status, &to)).await;
        let refused = egress().send(post(server.url("api.test", "/"))).await;
        assert_eq!(refused, unknown("the server redirected a POST to other.test, another origin, which is not followed"));
    }
    assert_eq!(other.heard(), [] as [String; 0]);
}

#[tokio::test]
async fn no_redirect_leads_where_a_tool_may_not_go() {
    for (to, text) in [
        (
            "http://169.254.169.254/latest/meta-data",
            "169.254.169.254 is a link-local address, where tools may not go unless it is allowed by name",
        ),
        ("http://0x7f.1/", "127.0.0.1 is an address of this machine, where tools may not go unless it is allowed by name"),
        ("http://evil.test/", "evil.test leads to an address of this machine, where tools may not go unless it is allowed by name"),
        ("http://user:password@other.test/", "expected an address without a user or a password in it"),
        ("file:///etc/passwd", "expected an address that begins with https:// or http://"),
        ("http://", "the server redirected to what is no address"),
    ] {
        let server = Server::of(move |_| redirect(302, to)).await;
        let refused = egress().send(Outgoing { repeatable: true, ..get(server.url("api.test", "/")) }).await;
        // The first server has had the request.
        assert_eq!((refused, server.heard().len()), (unknown(text), 1));
    }
}

#[tokio::test]
async fn redirects_end() {
    let server = Server::of(|index| if index < 5 { redirect(302, "/again") } else { done() }).await;
    assert_eq!((egress().send(get(server.url("api.test", "/"))).await, server.heard().len()), (Ok(of_text(200, "done")), 6));
    let server = Server::of(|_| redirect(302, "/again")).await;
    let endless = egress().send(get(server.url("api.test", "/"))).await;
    assert_eq!((endless, server.heard().len()), (unknown("the server redirected more than 5 times"), 6));
}

#[tokio::test]
async fn a_status_of_redirects_without_a_target_is_an_answer() {
    for status in [300, 302, 304, 305] {
        let location = if status == 302 { "" } else { "location: /b\r\n" };
        let headers = format!("content-type: text/plain\r\n{location}");
        let server = Server::of(move |_| Reply::Says(answer(status, &headers, b""))).await;
        assert_eq!(egress().send(get(server.url("api.test", "/"))).await, Ok(of_text(status, "")));
    }
}

#[tokio::test]
async fn a_secret_is_handed_on_to_no_other_origin() {
    let other = Server::of(|_| done()).await;
    for query in ["q=s3cret/va%20lue", "s3cret%2Fva+lue", "q=%733cret/v%61+lue", "q=czNjcmV0L3ZhIGx1ZQ", "q=7333637265742f7661206c7565"] {
        let to = other.url("other.test", &format!("/?{query}")).to_string();
        let server = Server::of(move |_| redirect(302, &to)).await;
        let refused = egress().send(get(server.url("api.test", "/"))).await;
        assert_eq!(refused, unknown("the server redirected to another origin with a secret in the address, which is not followed"));
    }
    assert_eq!(other.heard(), [] as [String; 0]);
    let server = Server::of(|index| if index == 0 { redirect(302, "/?s3cret%2Fva+lue") } else { done() }).await;
    assert_eq!(egress().send(get(server.url("api.test", "/"))).await, Ok(of_text(200, "done")));
}

#[tokio::test]
async fn a_secret_goes_to_its_hosts_only() {
    let server = Server::of(|_| done()).await;
    let send = |host: &str| {
        let secrets = vec![secret(None), secret(Some("api.test"))];
        let request = Outgoing { secrets, repeatable: true, ..get(server.url(host, "/")) };
        async { egress().send(request).await }
    };
    assert_eq!(send("API.test").await, Ok(of_text(200, "done")));
    let refused = send("other.test").await;
    assert_eq!(refused, Err(SendError::NotSent("a secret of this request may not go to other.test".into())));
    assert_eq!(server.heard().len(), 1);
}
