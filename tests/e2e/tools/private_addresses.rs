//! Private addresses, which tools cannot call in any spelling.

use std::time::Instant;

use serde_json::json;

use crate::{
    support::{
        process::Setup, stack::Stack, tool_scene::ToolScene, tool_server::ToolServer,
        waiting::patient,
    },
    tools::http_failures::{AT_ONCE, get},
};

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
        let says_why = error.ends_with(
            ", which tools may reach only if SMARTSPACE_TOOL_HOSTS lists this host, either \
                 alone or with this port",
        ) || error.ends_with(". could not be reached: no address was found for it");
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
