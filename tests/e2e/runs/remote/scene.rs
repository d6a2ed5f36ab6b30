//! A remote agent in a space, and the server that its webhooks arrive at.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    client::Reply,
    routes::triggered_run,
    stack::Stack,
    tool_server::{ReceivedRequest, ToolServer},
    waiting::{SOON, wait_for},
    webhook_senders::SECRET,
};

/// A remote agent, a person, and their space.
pub(super) struct RemoteScene {
    pub(super) stack: Stack,
    pub(super) server: ToolServer,
    pub(super) person: String,
    pub(super) agent: String,
    pub(super) space: String,
    path: String,
}

/// A remote agent that was woken.
pub(super) struct Woken<'a> {
    scene: &'a RemoteScene,
    run: String,
    token: String,
    pub(super) request: ReceivedRequest,
}

impl RemoteScene {
    /// Starts a product that stores nothing on disk. The webhooks go to this path of the server.
    /// Returns `None` if the test is skipped.
    pub(super) async fn start(path: &str) -> Option<Self> {
        let server = ToolServer::start().await;
        let allowed = server.allowed();
        let env = [("SMARTSPACE_TOOL_HOSTS", &*allowed)];
        let stack = Stack::receiving(&env).await?;
        Some(Self::on(stack, server, path).await)
    }

    /// The same with a product on a folder, which the test may kill.
    pub(super) async fn on_disk(path: &str) -> Option<Self> {
        let server = ToolServer::start().await;
        let allowed = server.allowed();
        let env = [("SMARTSPACE_TOOL_HOSTS", &*allowed), ("SMARTSPACE_SECRET_HOOK", SECRET)];
        let stack = Stack::local_with_env(&env).await?;
        Some(Self::on(stack, server, path).await)
    }

    async fn on(stack: Stack, server: ToolServer, path: &str) -> Self {
        let person = stack.person("Husam").await;
        let empty = String::new();
        let mut scene =
            Self { stack, server, person, agent: empty.clone(), space: empty, path: path.into() };
        scene.agent = scene.remote_agent("Ada", json!({})).await;
        scene.space = scene.stack.space("Team", &[&scene.person, &scene.agent]).await;
        scene
    }

    /// Creates a remote agent whose runs work side by side. The fields of `more` are added to its
    /// runtime.
    pub(super) async fn remote_agent(&self, name: &str, more: Value) -> String {
        let mut runtime = self.runtime();
        for (field, value) in more.as_object().unwrap() {
            runtime[field] = value.clone();
        }
        let agent = json!({"runtime": runtime, "concurrency": {"mode": "parallel"}});
        self.stack.agent_with(name, agent).await
    }

    pub(super) fn runtime(&self) -> Value {
        let url = format!("{}{}", self.server.url, self.path);
        json!({"type": "webhook", "url": url, "secret": "${secret.HOOK}"})
    }

    /// Posts a message of the person. Returns it, and the agent's run.
    pub(super) async fn ask(&self, text: &str) -> (Value, String) {
        let message = self.stack.post(&self.space, &self.person, text).await;
        let run = triggered_run(&message, &self.agent).expect("the message triggers a run");
        (message, run)
    }

    /// Waits for the webhook of a run.
    pub(super) async fn woken(&self, run: &str) -> Woken<'_> {
        let request = wait_for("the webhook", SOON, async || self.webhooks(run).pop()).await;
        let token = request.json()["callbacks"]["token"].as_str().unwrap().to_owned();
        Woken { scene: self, run: run.to_owned(), token, request }
    }

    /// The webhooks of a run so far.
    pub(super) fn webhooks(&self, run: &str) -> Vec<ReceivedRequest> {
        let is_its = |request: &ReceivedRequest| request.header("webhook-id") == run;
        self.server.requests().into_iter().filter(is_its).collect()
    }
}

impl Woken<'_> {
    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Calls one of the addresses that the webhook carries.
    async fn call(&self, what: &str, key: Option<&str>, body: Value) -> Reply {
        let url = self.request.json()["callbacks"][what].as_str().unwrap().to_owned();
        let expected = format!("/v1/runs/{}/{what}", self.run);
        assert!(url.ends_with(&expected), "{url}");
        let client = self.scene.stack.with(&self.token);
        let request = client.request(Method::POST, &expected).bearer_auth(&self.token).json(&body);
        let request = match key {
            Some(key) => request.header("idempotency-key", key),
            None => request,
        };
        self.scene.stack.send(request).await
    }

    pub(super) async fn post(&self, key: &str, body: Value) -> Reply {
        self.call("messages", Some(key), body).await
    }

    /// Posts until neither the run nor its space has too many calls in this second.
    pub(super) async fn post_patiently(&self, key: &str, body: Value) -> Reply {
        wait_for("an answer to a message", SOON, async || {
            let reply = self.post(key, body.clone()).await;
            (reply.status != 429).then_some(reply)
        })
        .await
    }

    pub(super) async fn react(&self, body: Value) -> Reply {
        self.call("reactions", None, body).await
    }

    pub(super) async fn post_without_key(&self, body: Value) -> Reply {
        self.call("messages", None, body).await
    }

    pub(super) async fn stream(&self, key: &str, offset: usize, text: &str, all: bool) -> Reply {
        let body = json!({"streamKey": key, "offset": offset, "text": text, "snapshot": all});
        self.stream_body(body).await
    }

    pub(super) async fn stream_body(&self, body: Value) -> Reply {
        self.call("stream", None, body).await
    }

    pub(super) async fn complete(&self, body: Value) -> Reply {
        self.call("complete", None, body).await
    }
}
