//! Servers that are slow, broken, endless or hostile: the model gets an error, and the run
//! continues.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::net::TcpSocket;

use crate::support::{
    process::Setup,
    stack::Stack,
    tool_scene::{ToolScene, http_tool},
    tool_server::ToolServer,
    waiting::patient,
};

/// How much the product's peak memory may grow while it calls such servers. Less than the
/// decompressed size of one `/bomb`.
const MORE_MEMORY: u64 = 150 * 1024 * 1024;

/// The limit for operations that do not wait, with slack for a busy machine.
const AT_ONCE: Duration = Duration::from_secs(30);

/// A tool whose timeout is longer than [`AT_ONCE`].
fn get(name: &str, url: String) -> Value {
    http_tool(name, "GET", &url, json!({"timeoutMs": 60_000}))
}

/// The status and output of a call that failed without an answer.
fn failed(error: &str) -> (String, Value) {
    ("failed".into(), json!({"error": error}))
}

/// The status and output of a call that the server refused.
fn refused(status: &str, detail: &str) -> (String, Value) {
    let error = format!("the server answered {status}");
    ("failed".into(), json!({"error": error, "body": {"detail": detail}}))
}

#[tokio::test]
async fn failures_of_a_server_are_reported_to_the_model() {
    // Bound, so that no other process gets the port, but not listening.
    let reserved = TcpSocket::new_v4().unwrap();
    reserved.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let nothing = reserved.local_addr().unwrap();
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
    let scene = ToolScene::on(stack, server, tools).await;
    let began = Instant::now();
    let expected = expected_failures();
    let names: Vec<&str> = expected.iter().map(|(name, _)| *name).collect();
    let outcomes = scene.outcomes(&names).await;
    assert_eq!(outcomes.len(), expected.len());
    for ((name, expected), outcome) in expected.into_iter().zip(outcomes) {
        assert_eq!(outcome, expected, "{name}");
    }
    assert!(began.elapsed() < patient(AT_ONCE), "{:?}", began.elapsed());
}

/// Each tool of the test above, and the status and output of its call.
fn expected_failures() -> Vec<(&'static str, (String, Value))> {
    let plain_text = || ("completed".to_owned(), json!("plain text"));
    vec![
        ("slow", failed("the server did not answer within 0.3 s")),
        ("fails", refused("500 Internal Server Error", "as you like it")),
        ("missing", refused("404 Not Found", "as you like it")),
        (
            "closes",
            failed(
                "the connection to 127.0.0.1 broke before the answer came: \
                 connection closed before message completed",
            ),
        ),
        ("nothing", failed("127.0.0.1 could not be reached: connection refused")),
        (
            "cloud",
            failed(
                "169.254.169.254 is a link-local address, \
                 which tools may reach only if SMARTSPACE_TOOL_HOSTS lists the host",
            ),
        ),
        ("elsewhere", refused("404 Not Found", "no such route")),
        ("thrice", plain_text()),
        ("often", failed("the server redirected more than 5 times")),
        ("file", failed("expected an address that begins with https:// or http://")),
        ("fine", plain_text()),
    ]
}

#[tokio::test]
async fn huge_answers_are_truncated_and_do_not_fill_the_memory() {
    let get = |url: &str, route| {
        http_tool(route, "GET", &format!("{url}/{route}"), json!({"timeoutMs": 60_000}))
    };
    let tools = |url: &str| json!(["big", "endless", "bomb"].map(|route| get(url, route)));
    let Some(scene) = ToolScene::with(tools).await else { return };
    let before = scene.stack.peak_memory();
    // Several at once, twice.
    for _ in 0..2 {
        let outcomes = scene.outcomes(&["big", "endless", "bomb", "bomb", "endless", "big"]).await;
        for ((status, output), char) in outcomes.iter().zip(["b", "e", "0", "0", "e", "b"]) {
            let output = output.as_str().unwrap();
            let (shown, note) = output.split_once(" … ").unwrap();
            assert_eq!(
                (status.as_str(), note),
                ("completed", "(longer than 1048576 bytes; the rest was not read)")
            );
            assert!(
                shown == char.repeat(shown.len()) && (10_000..32_768).contains(&shown.len()),
                "{} of {shown:.10}",
                shown.len()
            );
        }
    }
    if let (Some(before), Some(peak)) = (before, scene.stack.peak_memory()) {
        let more = peak - before;
        assert!(
            more < MORE_MEMORY,
            "peak memory grew by {} MiB, from {} MiB",
            more >> 20,
            before >> 20
        );
    }
}

/// Spellings of loopback addresses that one program or another accepts.
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
async fn no_spelling_of_a_private_address_reaches_it() {
    let server = ToolServer::start().await;
    let inner = ToolServer::start().await;
    // One host at one port is allowed, but not the addresses that it redirects to.
    let env = vec![("SMARTSPACE_TOOL_HOSTS".to_owned(), server.allowed())];
    let setup = Setup {
        alone: "it needs a product whose tools may reach one port alone",
        env,
        ..Setup::default()
    };
    let Some(stack) = Stack::of(setup).await else { return };
    let allowed = server.url.clone();
    let port = inner.port;
    let direct = LOOPBACK.iter().map(|host| format!("http://{host}:{port}/echo"));
    let redirected = LOOPBACK
        .iter()
        .filter(|host| host.is_ascii())
        .map(|host| format!("{allowed}/redirect?to=http://{host}:{port}/echo"));
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
    let scene = ToolScene::on(stack, server, |_| tools).await;
    let began = Instant::now();
    let outcomes = scene.outcomes(&names.iter().map(String::as_str).collect::<Vec<_>>()).await;
    for (url, (status, output)) in urls.iter().zip(outcomes) {
        let error = output["error"].as_str().unwrap_or_default();
        // Some systems don't resolve a name with a dot at its end.
        let says_why = error
            .ends_with(", which tools may reach only if SMARTSPACE_TOOL_HOSTS lists the host")
            || error.ends_with(". could not be reached: no address was found for it");
        assert!(status == "failed" && says_why, "{url}: {status} {output:.300}");
    }
    assert_eq!(inner.connections(), 0);
    assert!(began.elapsed() < patient(AT_ONCE), "an address was tried: {:?}", began.elapsed());
}

#[tokio::test]
async fn a_url_with_a_bad_or_templated_host_is_refused_in_the_configuration() {
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
        let problem = stack
            .create("/v1/entities", json!({"type": "agent", "name": "Ada", "agent": agent}))
            .await
            .must_be(422);
        assert_eq!(
            problem["errors"][0]["pointer"], "/agent/tools/0/execution/url",
            "{url}: {problem}"
        );
    }
}
