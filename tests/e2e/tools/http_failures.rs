//! Servers that are slow, broken, endless or hostile: the model gets an error, and the run
//! continues.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::net::TcpSocket;

use crate::support::{
    stack::Stack,
    tool_scene::{ToolScene, http_tool},
    tool_server::ToolServer,
    waiting::patient,
};

/// How much the product's peak memory may grow while it calls such servers. Less than the
/// decompressed size of one `/bomb`.
const MORE_MEMORY: u64 = 150 * 1024 * 1024;

/// The limit for operations that do not wait, with slack for a busy machine.
pub(crate) const AT_ONCE: Duration = Duration::from_secs(30);

/// A tool whose timeout is longer than [`AT_ONCE`].
pub(crate) fn get(name: &str, url: String) -> Value {
    http_tool(name, "GET", &url, json!({"timeoutMs": 60_000}))
}

/// The status and output of a call that failed without an answer.
pub(crate) fn failed(error: &str) -> (String, Value) {
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
                "169.254.169.254:80 is a link-local address, \
                 which tools may reach only if SMARTSPACE_TOOL_HOSTS lists this host, \
                 either alone or with this port",
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
