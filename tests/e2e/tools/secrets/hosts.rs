//! A secret with a list of hosts goes to these hosts only, also after redirects.

use serde_json::{Value, json};

use crate::{
    support::{
        model::call,
        secret_spellings::Search,
        stack::Stack,
        tool_scene::{ToolScene, http_tool},
        tool_server::{ReceivedRequest, ToolServer},
    },
    tools::secrets::{KEY, PLACES, secret_of, with_secret},
};

/// One call of each tool. The server has two origins: 127.0.0.1, which may receive the secret, and
/// localhost, which may not.
struct Calls {
    scene: ToolScene,
    names: Vec<String>,
    results: Vec<Value>,
}

impl Calls {
    async fn make() -> Option<Self> {
        let server = ToolServer::start().await;
        let tools = tools(&server.url, &format!("http://localhost:{}", server.port));
        let hosts = format!("{},localhost:{}", server.allowed(), server.port);
        let env = [
            ("SMARTSPACE_TOOL_HOSTS", hosts.as_str()),
            ("SMARTSPACE_SECRET_KEY", KEY),
            ("SMARTSPACE_SECRET_KEY_HOSTS", "api.example.test, 127.0.0.1"),
        ];
        let stack = Stack::with_env(&env).await?;
        let names: Vec<String> =
            tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
        let scene = ToolScene::on(stack, server, |_| json!(tools)).await;
        let results = scene.calls(names.iter().map(|name| call(name, json!({}))).collect()).await;
        Some(Self { scene, names, results })
    }

    fn of(&self, tool: &str) -> &Value {
        let index = self.names.iter().position(|name| name == tool).unwrap();
        &self.results[index]
    }

    fn output(&self, tool: &str) -> &Value {
        &self.of(tool)["output"]
    }

    /// The requests of a call, also those after redirects. A request to another origin has no
    /// idempotency key, but it has the span of the call.
    fn requests(&self, tool: &str) -> Vec<ReceivedRequest> {
        let first = self.scene.server.of_call(self.of(tool));
        let span = first.first().map_or("", |first| first.header("traceparent"));
        let is_of_call = |request: &ReceivedRequest| request.header("traceparent") == span;
        self.scene.server.requests().into_iter().filter(is_of_call).collect()
    }
}

/// Tools that send the secret to either origin, and tools that are redirected to another address.
fn tools(here: &str, there: &str) -> Vec<Value> {
    let to = |url: &str, status: &str| format!("{here}/redirect?status={status}&to={url}/echo&");
    let plain = json!({"headers": {
        "X-Plain": "hello",
        "Accept": "text/csv",
        "Authorization": "Basic ${secret.KEY}",
        "X-Api-Key": "a ${secret.KEY} b",
    }});
    let handed_on = format!("{here}/leak/302/redirect?to={there}/echo&key=${{secret.KEY}}");
    let mut tools = Vec::new();
    for place in PLACES {
        tools.push(with_secret(&format!("{place}Here"), &format!("{here}/echo"), "KEY", place));
        tools.push(with_secret(&format!("{place}There"), &format!("{there}/echo"), "KEY", place));
    }
    tools.extend([
        http_tool("same", "GET", &to("", "302"), plain.clone()),
        http_tool("moved", "GET", &to(there, "301"), plain.clone()),
        http_tool("moved307", "GET", &to(there, "307"), plain),
        with_secret("posted", &to(there, "302"), "KEY", "body"),
        with_secret("posted307", &to(there, "307"), "KEY", "body"),
        http_tool("handedOn", "GET", &handed_on, json!({})),
    ]);
    tools
}

#[tokio::test]
async fn a_secret_goes_to_its_hosts_only() {
    let Some(calls) = Calls::make().await else { return };
    let refused = json!({"error": "the secret KEY may not go to localhost; \
                                   the operator of this deployment sets its hosts"});
    for place in PLACES {
        assert_eq!(secret_of(&calls.requests(&format!("{place}Here"))[0], place), KEY);
        let there = format!("{place}There");
        assert_eq!(calls.output(&there), &refused);
        assert_eq!(calls.requests(&there).len(), 0);
    }
    assert_redirects(&calls);

    let search = Search::of(&[("the key", KEY)]);
    let requests = calls.scene.server.requests();
    let strangers: Vec<_> =
        requests.iter().filter(|request| request.header("host").starts_with("localhost")).collect();
    assert_eq!(strangers.len(), 3);
    for stranger in strangers {
        assert!(search.in_bytes(format!("{stranger:?}").as_bytes()).is_empty(), "{stranger:?}");
    }
}

/// A redirect to another origin loses the secret. If the secret can't be removed, the redirect is
/// not followed.
fn assert_redirects(calls: &Calls) {
    let headers = |request: &ReceivedRequest| {
        ["x-plain", "accept", "authorization", "x-api-key"]
            .map(|name| request.header(name).to_owned())
    };
    let all = ["hello".to_owned(), "text/csv".into(), format!("Basic {KEY}"), format!("a {KEY} b")];
    let few = ["", "text/csv", "", ""].map(str::to_owned);
    for (tool, second) in [("same", &all), ("moved", &few), ("moved307", &few)] {
        let received: Vec<_> = calls.requests(tool).iter().map(headers).collect();
        assert_eq!(received, [all.clone(), second.clone()], "{tool}");
    }
    let posted = calls.requests("posted");
    assert_eq!((posted.len(), posted[1].method.as_str(), posted[1].body.len()), (2, "GET", 0));
    for (tool, error) in [
        (
            "posted307",
            "the server redirected a POST to localhost, another origin, which is not followed; \
             whether the call took effect is not known",
        ),
        (
            "handedOn",
            "the server redirected to another origin with a secret in the address, \
             which is not followed",
        ),
    ] {
        assert_eq!(calls.output(tool), &json!({"error": error}));
        assert_eq!(calls.requests(tool).len(), 1);
    }
}
