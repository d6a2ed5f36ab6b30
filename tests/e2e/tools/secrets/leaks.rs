//! Servers and tools that try to leak secrets, and a search for them in everything that the product
//! shows, stores and logs.

mod tools;

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    support::{
        model::{Answer, Part, answer, call, say, stop},
        secret_spellings::{self, Search},
        socket::Socket,
        stack::Stack,
        tool_scene::{ToolScene, but},
        tool_server::{SERVER_MARKER, ToolServer},
        waiting::SOON,
    },
    tools::{
        forms::scene::answer_form,
        secrets::{
            KEY, TOKEN,
            leaks::tools::{PLAIN, leaking_tools, other_tools},
            secret_of, with_secret,
        },
    },
};

const SECRETS: [(&str, &str); 3] = [("KEY", KEY), ("TOKEN", TOKEN), ("PLAIN", PLAIN)];

/// A run whose tools leak secrets, and all places where they could show.
struct LeakScene {
    scene: ToolScene,
    /// Another server, which must not receive secrets.
    elsewhere: ToolServer,
    /// The names of the tools whose server returns the secret: `{secret}_{place}_{leak}`.
    leaking: Vec<String>,
    /// The names of the other tools.
    others: Vec<&'static str>,
    operator: Socket,
    person: Socket,
}

impl LeakScene {
    async fn start() -> Option<Self> {
        let server = ToolServer::start().await;
        let elsewhere = ToolServer::start().await;
        let hosts = format!("{},{}", server.allowed(), elsewhere.allowed());
        let env = [
            ("SMARTSPACE_TOOL_HOSTS", hosts.as_str()),
            ("SMARTSPACE_LOG", "trace"),
            ("SMARTSPACE_SECRET_KEY", KEY),
            ("SMARTSPACE_SECRET_TOKEN", TOKEN),
            ("SMARTSPACE_SECRET_PLAIN", PLAIN),
        ];
        let stack = Stack::local_with_env(&env).await?;
        let (leaking, mut tools): (Vec<String>, Vec<Value>) =
            leaking_tools(&server.url).into_iter().unzip();
        let (others, other_tools): (Vec<&str>, Vec<Value>) =
            other_tools(&server.url, &elsewhere.url).into_iter().unzip();
        tools.extend(other_tools);
        let scene = ToolScene::on(stack, server, |_| json!(tools)).await;
        let operator = scene.stack.socket().await;
        let person = scene.stack.socket_of(&scene.person).await;
        operator.subscribe(&scene.space, None).await;
        person.subscribe(&scene.space, None).await;
        Some(Self { scene, elsewhere, leaking, others, operator, person })
    }

    /// Calls all tools in one answer, which also asks people and posts a message. Returns the ended
    /// run.
    async fn call_all_tools(&self) -> Value {
        let stack = &self.scene.stack;
        let names = self.leaking.iter().map(String::as_str).chain(self.others.iter().copied());
        let mut calls: Vec<Part> =
            names.map(|name| call(name, json!({"x": "${secret.KEY}"}))).collect();
        let memory = json!({"key": "key", "value": "${secret.KEY}"});
        calls.extend([
            say("The key is ${secret.KEY}."),
            call("set_memories", json!({"memories": [memory]})),
            call("read_messages", json!({"limit": 100})),
        ]);
        let calls = Answer::of(calls).slow(1_000, Duration::ZERO);
        stack.model.plays("ada", [calls, call("get_my_runs", json!({})).into(), stop()]);
        let run = self.scene.trigger().await;
        let form =
            self.person.frame("tool.requested", SOON, |frame| frame["name"] == "asks").await.body;
        let output = json!({"said": "${secret.KEY}"});
        let form_answer = json!({"output": output, "senderId": self.scene.person});
        answer_form(stack, &form, form_answer).await.must_be(202);
        let run = stack.ended(&run, SOON * 2).await;
        assert_eq!(run["status"], "completed", "{:.2000}", run["error"]);
        run
    }

    /// Checks that the server received each secret and that its place in the output shows the
    /// secret's name instead.
    fn assert_leaks_are_masked(&self, calls: &[Value]) {
        for (name, call) in self.leaking.iter().zip(calls) {
            let mut parts = name.split('_');
            let secret = parts.next().unwrap();
            let place = parts.next().unwrap();
            let value = SECRETS.iter().find(|(name, _)| *name == secret).unwrap().1;
            let requests = self.scene.server.of_call(call);
            assert_eq!(requests.len(), 1, "{name}");
            assert_eq!(secret_of(&requests[0], place), value, "{name}");
            let output = call["output"].to_string();
            assert!(output.contains(&format!("[secret {secret}]")), "{name}: {output:.1000}");
            assert!(output.contains(SERVER_MARKER), "{name}: {output:.1000}");
            let status = if name.contains("_200_") { "completed" } else { "failed" };
            assert_eq!(call["status"], status, "{name}");
        }
    }

    /// Checks the outputs of the other tools that mention secrets.
    fn assert_other_outputs(&self, calls: &[Value]) {
        let output = |tool: &str| {
            let index = self.others.iter().position(|name| *name == tool).unwrap();
            &calls[self.leaking.len() + index]["output"]
        };
        assert_eq!(
            output("gone")["error"],
            "the header Authorization of this tool can't be sent: \
             the secret GONE is not set here; the operator of this deployment can set it"
        );
        assert_eq!(
            output("handedOn")["error"],
            "the server redirected to another origin with a secret in the address, \
             which is not followed"
        );
        assert_eq!(output("fixed"), "the key is ${secret.KEY}", "only requests are filled in");
    }

    /// Starts a run that reads the cards of the first one, and a run that is killed during a call.
    async fn run_again_and_kill(&mut self) {
        let scene = &mut self.scene;
        let read = call("enter_space", json!({"spaceId": scene.space}));
        scene.calls(vec![read, call("get_memories", json!({}))]).await;
        let calls = [call("KEY_query_200_json", json!({})), call("unknown", json!({}))];
        scene.stack.model.plays("ada", [answer(calls), stop()]);
        let slow = format!("{}/slow", scene.server.url);
        let unknown = but(with_secret("unknown", &slow, "KEY", "query"), json!({"visible": true}));
        let path = format!("/v1/entities/{}", scene.agent);
        scene.stack.patch(&path, json!({"agent": {"tools": [unknown]}})).await.must_be(200);
        let last = scene.trigger().await;
        scene.server.gate.reached(2).await;
        scene.stack.kill9();
        scene.stack.restart().await;
        let last = scene.stack.ended(&last, SOON).await;
        assert_eq!(last["steps"][0]["calls"][1]["status"], "unknown");
    }

    /// Everything that callers can see of the product, with its place.
    async fn everything_visible(&self) -> Vec<(String, Vec<u8>)> {
        let stack = &self.scene.stack;
        let space = &self.scene.space;
        let mut all = Vec::new();
        for path in self.paths().await {
            let reply = stack.get(&path).await;
            assert_eq!(reply.status, 200, "{path}");
            all.push((path, format!("{:?} {}", reply.headers, reply.text).into_bytes()));
        }
        for message in stack.messages(space).await {
            all.push((format!("message {}", message["seq"]), message.to_string().into_bytes()));
        }
        for (name, socket) in [("the operator", &self.operator), ("a person", &self.person)] {
            all.extend(socket.frames().iter().map(|frame| {
                (format!("{} to {name}", frame.kind), frame.body.to_string().into_bytes())
            }));
        }
        for (index, request) in stack.model.requests("ada").iter().enumerate() {
            all.push((format!("model request {index}"), request.body.to_string().into_bytes()));
        }
        let files = stack.files().into_iter();
        all.extend(files.map(|(name, bytes)| (format!("the file {name}"), bytes)));
        all
    }

    /// The paths of the API that show the agent, the space and the runs.
    async fn paths(&self) -> Vec<String> {
        let agent = &self.scene.agent;
        let space = &self.scene.space;
        let mut paths = vec![
            "/v1/entities".to_owned(),
            "/v1/spaces".to_owned(),
            format!("/v1/entities/{agent}"),
            format!("/v1/spaces/{space}"),
            format!("/v1/spaces/{space}/runs"),
            format!("/v1/agents/{agent}/runs"),
            format!("/v1/agents/{agent}/memories"),
            format!("/v1/agents/{agent}/goals"),
        ];
        let runs = self.scene.stack.runs_of(space).await;
        paths.extend(runs.iter().map(run_path));
        paths
    }
}

fn run_path(run: &Value) -> String {
    format!("/v1/runs/{}", run["id"].as_str().unwrap())
}

#[tokio::test]
async fn no_secret_is_ever_visible_whatever_servers_and_tools_do() {
    let Some(mut leaks) = LeakScene::start().await else { return };
    let run = leaks.call_all_tools().await;
    let calls = run["steps"][0]["calls"].as_array().unwrap();
    leaks.assert_leaks_are_masked(calls);
    leaks.assert_other_outputs(calls);
    leaks.run_again_and_kill().await;

    let all = leaks.everything_visible().await;
    let search = Search::of(&SECRETS);
    let found: Vec<_> = all
        .iter()
        .map(|(place, bytes)| (place, search.in_bytes(bytes)))
        .filter(|(_, found)| !found.is_empty())
        .collect();
    assert!(found.is_empty(), "{found:#?}");
    for request in leaks.elsewhere.requests() {
        let text = format!("{request:?}");
        assert!(search.in_bytes(text.as_bytes()).is_empty(), "{text}");
    }
    assert_search_covers(&all, &run_path(&run));
}

/// Checks that the searched places contain what the server sent in addition to the secrets, so that
/// a leaked secret would have been found there in each spelling.
fn assert_search_covers(all: &[(String, Vec<u8>)], run_path: &str) {
    let contains_marker = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(SERVER_MARKER);
    for place in [
        run_path,
        "message ",
        "message.updated to the operator",
        "message.updated to a person",
        "model request ",
        "the file log",
        "the file table",
    ] {
        let is_covered =
            all.iter().any(|(name, bytes)| name.starts_with(place) && contains_marker(bytes));
        assert!(is_covered, "the server's marker is not found in {place}");
    }
    let (_, shown) = all.iter().find(|(place, _)| place == run_path).unwrap();
    for (name, spelling) in secret_spellings::spellings(SERVER_MARKER) {
        assert!(String::from_utf8_lossy(shown).contains(&spelling), "{name} {spelling}");
    }
}
