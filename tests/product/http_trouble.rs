//! Servers that are slow, broken, endless or hostile: an error to the model, and the run goes on.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::net::TcpSocket;

use super::{
    acting::{Acting, http_tool},
    process::Setup,
    stack::Stack,
    tool_server::ToolServer,
    waiting::patient,
};

/// What the product may have in memory on top of what it had before it called, whatever a server sends: less than `/bomb` becomes once.
const MORE_MEMORY: u64 = 150 * 1024 * 1024;

/// What is over at once takes no longer, also while other tests use the machine.
const AT_ONCE: Duration = Duration::from_secs(30);

/// Whoever waits for an answer waits for longer than [`AT_ONCE`].
fn get(name: &str, url: String) -> Value {
    http_tool(name, "GET", &url, json!({"timeoutMs": 60_000}))
}

fn failed(error: &str) -> (String, Value) {
    ("failed".into(), json!({"error": error}))
}

#[tokio::test]
async fn what_goes_wrong_at_a_server_is_told() {
    // It has the port, so that nobody else gets it, and does not listen.
    let deaf = TcpSocket::new_v4().unwrap();
    deaf.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let nothing = deaf.local_addr().unwrap();
    let server = ToolServer::start().await;
    let hosts = format!("{},{nothing}", server.allowed());
    let Some(stack) = Stack::with_env(&[("SMARTSPACE_TOOL_HOSTS", &hosts)]).await else { return };
    let tools = |url: &str| {
        json!([
            http_tool("slow", "GET", &format!("{url}/slow"), json!({"timeoutMs": 300})),
            get("fails", format!("{url}/status/500")),
            get("missing", format!("{url}/status/404")),
            get("closes", format!("{url}/close")),
            get("nothing", format!("http://{nothing}/")),
            get("cloud", format!("{url}/redirect?to=http://169.254.169.254/latest/meta-data")),
            get("elsewhere", format!("{url}/redirect?to=/nowhere")),
            get("thrice", format!("{url}/again/3")),
            get("often", format!("{url}/again/6")),
            get("file", format!("{url}/redirect?to=file:///etc/passwd")),
            get("fine", format!("{url}/text")),
        ])
    };
    let acting = Acting::on(stack, server, tools).await;
    let began = Instant::now();
    let names = ["slow", "fails", "missing", "closes", "nothing", "cloud", "elsewhere", "thrice", "often", "file", "fine"];
    let outcomes = acting.outcomes(&names).await;
    let body = json!({"detail": "as you like it"});
    let expected = [
        failed("the server did not answer within 0.3 s"),
        ("failed".into(), json!({"error": "the server answered 500 Internal Server Error", "body": body})),
        ("failed".into(), json!({"error": "the server answered 404 Not Found", "body": body})),
        failed("the connection to 127.0.0.1 broke before the answer came: connection closed before message completed"),
        failed("127.0.0.1 could not be reached: connection refused"),
        failed("169.254.169.254 is a link-local address, where tools may not go unless it is allowed by name"),
        ("failed".into(), json!({"error": "the server answered 404 Not Found", "body": {"detail": "no such route"}})),
        ("completed".into(), json!("plain text")),
        failed("the server redirected more than 5 times"),
        failed("expected an address that begins with https:// or http://"),
        ("completed".into(), json!("plain text")),
    ];
    for ((name, outcome), expected) in names.iter().zip(outcomes).zip(expected) {
        assert_eq!(outcome, expected, "{name}");
    }
    assert!(began.elapsed() < patient(AT_ONCE), "{:?}", began.elapsed());
}

#[tokio::test]
async fn whatever_a_server_sends_little_of_it_is_kept() {
    let get = |url: &str, route| http_tool(route, "GET", &format!("{url}/{route}"), json!({"timeoutMs": 60_000}));
    let tools = |url: &str| json!(["big", "endless", "bomb"].map(|route| get(url, route)));
    let Some(acting) = Acting::with(tools).await else { return };
    let before = acting.stack.peak_memory();
    // Some at once, and again.
    for _ in 0..2 {
        let outcomes = acting.outcomes(&["big", "endless", "bomb", "bomb", "endless", "big"]).await;
        for ((status, output), char) in outcomes.iter().zip(["b", "e", "0", "0", "e", "b"]) {
            let output = output.as_str().unwrap();
            let (shown, note) = output.split_once(" … ").unwrap();
            assert_eq!((status.as_str(), note), ("completed", "(longer than 1048576 bytes; the rest was not read)"));
            assert!(shown == char.repeat(shown.len()) && (10_000..32_768).contains(&shown.len()), "{} of {shown:.10}", shown.len());
        }
    }
    if let (Some(before), Some(peak)) = (before, acting.stack.peak_memory()) {
        let more = peak - before;
        assert!(more < MORE_MEMORY, "the calls took {} MiB besides the {} MiB before them", more >> 20, before >> 20);
    }
}

/// Loopback in every spelling that somebody ever understood.
const LOOPBACK: [&str; 22] = [
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "127.0.1",
    "0x7f.1",
    "0x7F000001",
    "0177.0.0.1",
    "0177.0.0.01",
    "2130706433",
    "017700000001",
    "127.255.255.254",
    "127.000.000.001",
    "0",
    "0.0.0.0",
    "localhost",
    "LocalHost.",
    "①②⑦.⓪.⓪.①",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::]",
];

#[tokio::test]
async fn no_spelling_of_a_private_address_leads_to_it() {
    let server = ToolServer::start().await;
    let inner = ToolServer::start().await;
    // What is allowed is one host at one port, and not what it redirects to.
    let env = vec![("SMARTSPACE_TOOL_HOSTS".to_owned(), server.allowed())];
    let setup = Setup { alone: "it needs a product whose tools may reach one port alone", env, ..Setup::default() };
    let Some(stack) = Stack::of(setup).await else { return };
    let (at, port) = (&server.url.clone(), inner.port);
    let direct = LOOPBACK.iter().map(|host| format!("http://{host}:{port}/echo"));
    let redirected = LOOPBACK.iter().filter(|host| host.is_ascii()).map(|host| format!("{at}/redirect?to=http://{host}:{port}/echo"));
    let others = [
        "169.254.169.254",
        "[fe80::1]",
        "[fd00:ec2::254]",
        "10.0.0.1",
        "192.168.0.1",
        "100.64.0.1",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
    ];
    let others = others.iter().map(|host| format!("http://{host}:{port}/echo"));
    let urls: Vec<String> = direct.chain(redirected).chain(others).collect();
    let names: Vec<String> = (0..urls.len()).map(|index| format!("t{index}")).collect();
    let tools = names.iter().zip(&urls).map(|(name, url)| get(name, url.clone())).collect();
    let acting = Acting::on(stack, server, |_| tools).await;
    let began = Instant::now();
    let outcomes = acting.outcomes(&names.iter().map(String::as_str).collect::<Vec<_>>()).await;
    for (url, (status, output)) in urls.iter().zip(outcomes) {
        let error = output["error"].as_str().unwrap_or_default();
        // With a dot at its end not every system knows the name.
        let says_why = error.ends_with(", where tools may not go unless it is allowed by name")
            || error.ends_with(". could not be reached: no address was found for it");
        assert!(status == "failed" && says_why, "{url}: {status} {output:.300}");
    }
    assert_eq!(inner.connections(), 0, "nobody even knocked");
    assert!(began.elapsed() < patient(AT_ONCE), "nothing was tried: {:?}", began.elapsed());
}

#[tokio::test]
async fn what_leads_to_a_host_that_is_not_one_is_refused_when_it_is_configured() {
    let stack = Stack::start().await;
    let model = json!({"provider": "openai", "name": "m"});
    for url in [
        "http://{{input.host}}/",
        "http://${secret.HOST}/",
        "http://a.test{{input.x}}/",
        "{{input.url}}",
        "https://user:password@a.test/",
        "http://a.test@evil.test/",
        "http://a.test\\@evil.test/",
        "file:///etc/passwd",
        "ftp://a.test/",
        "//a.test/",
        "http:///x",
        "http://a b/",
        "http://300.0.0.1/",
        "http://[::1/",
        "http://a.test/${secret.KEY}",
        "http://a.test/{{x}}",
        "http://a.test/{{input.x",
        "http://a.test/?k=${secret.key}",
    ] {
        let agent = json!({"model": model, "tools": [get("t", url.to_owned())]});
        let problem = stack.create("/v1/entities", json!({"type": "agent", "name": "Ada", "agent": agent})).await.must_be(422);
        assert_eq!(problem["errors"][0]["pointer"], "/agent/tools/0/execution/url", "{url}: {problem}");
    }
}
