//! One short method for each thing that tests do over HTTP. A request that fails fails the test.

use std::time::Duration;

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::support::{
    client::{Client, Reply},
    deployed::deployed,
    stack::random,
    waiting::wait_for,
};

impl Client {
    /// Creates a person. Returns its id.
    pub(crate) async fn person(&self, name: &str) -> String {
        let person = json!({ "type": "human", "name": name });
        self.make("/v1/entities", person).await
    }

    /// Creates an agent that asks `model` (see [`super::model::Model::name`]). Returns its id.
    pub(crate) async fn agent(&self, name: &str, model: &str) -> String {
        self.agent_with(name, json!({ "model": { "provider": "openai", "name": model } })).await
    }

    /// Creates an agent with this configuration, by default without a limit of runs. Its runs go
    /// on after a message, because most scripts do: see [`Self::agent_of_defaults`]. Returns its
    /// id.
    pub(crate) async fn agent_with(&self, name: &str, mut agent: Value) -> String {
        if agent["budget"].is_null() {
            agent["budget"] = json!({ "runsPerMinute": 100_000 });
        }
        if agent["loop"]["endAfterSend"].is_null() {
            agent["loop"]["endAfterSend"] = json!(false);
        }
        let agent = json!({ "type": "agent", "name": name, "agent": agent });
        self.make("/v1/entities", agent).await
    }

    /// Creates an agent that asks `model`, with all defaults but the limit of runs. Returns its id.
    pub(crate) async fn agent_of_defaults(&self, name: &str, model: &str) -> String {
        let model = json!({ "provider": "openai", "name": model });
        let agent = json!({ "model": model, "budget": { "runsPerMinute": 100_000 } });
        let agent = json!({ "type": "agent", "name": name, "agent": agent });
        self.make("/v1/entities", agent).await
    }

    /// Lets the runs of an agent work side by side: each message starts its own run at once.
    pub(crate) async fn side_by_side(&self, agent: &str) {
        let change = json!({ "agent": { "concurrency": { "mode": "parallel" } } });
        self.patch(&format!("/v1/entities/{agent}"), change).await.must_be(200);
    }

    /// Creates a space. Returns its id.
    pub(crate) async fn space(&self, name: &str, members: &[&String]) -> String {
        self.space_with(name, members, json!({})).await
    }

    /// Creates a space with further settings. The operator sets no limit of runs by default.
    /// Returns its id.
    pub(crate) async fn space_with(
        &self,
        name: &str,
        members: &[&String],
        mut settings: Value,
    ) -> String {
        settings["name"] = name.into();
        settings["members"] = json!(members);
        if settings["budget"].is_null() && self.is_operator() {
            settings["budget"] = json!({ "runsPerMinute": 100_000 });
        }
        self.make("/v1/spaces", settings).await
    }

    /// Makes something. The id of what is made next is of a later millisecond, because lists are in
    /// the order of ids.
    async fn make(&self, path: &str, body: Value) -> String {
        let made = id(&self.create(path, body).await.must_be(201));
        sleep(Duration::from_millis(1)).await;
        made
    }

    /// Posts a message and returns it.
    pub(crate) async fn post(&self, space: &str, sender: &str, text: &str) -> Value {
        self.post_body(space, &json!({ "text": text, "senderId": sender })).await
    }

    /// Like [`Self::post`], with any fields.
    pub(crate) async fn post_body(&self, space: &str, body: &Value) -> Value {
        let path = format!("/v1/spaces/{space}/messages");
        let key = deployed().is_some().then(random);
        let posted = self.accepted(|| {
            let request = self.request(Method::POST, &path).bearer_auth(&self.key).json(body);
            match &key {
                Some(key) => request.header("idempotency-key", key),
                None => request,
            }
        });
        posted.await.must_be(201)
    }

    /// Edits a message.
    pub(crate) async fn edit(&self, space: &str, seq: u64, body: &Value) -> Reply {
        let path = format!("/v1/spaces/{space}/messages/{seq}");
        self.accepted(|| self.request(Method::PATCH, &path).bearer_auth(&self.key).json(body)).await
    }

    /// Deletes a message.
    pub(crate) async fn delete_message(&self, space: &str, seq: u64) -> Reply {
        let path = format!("/v1/spaces/{space}/messages/{seq}");
        self.accepted(|| self.request(Method::DELETE, &path).bearer_auth(&self.key)).await
    }

    /// The reply to a request that counts as a message. As a client does, it repeats one that the
    /// space accepts only in a later second.
    async fn accepted(&self, request: impl Fn() -> RequestBuilder) -> Reply {
        wait_for("a message is accepted", Duration::from_mins(1), async || {
            let reply = unless_overloaded(self.send(request()).await).await?;
            (reply.status != 429).then_some(reply)
        })
        .await
    }

    /// Posts a message with an idempotency key.
    pub(crate) async fn post_with_key(
        &self,
        space: &str,
        sender: &str,
        text: &str,
        key: &str,
    ) -> Reply {
        wait_for("a message is answered", Duration::from_mins(1), async || {
            let request = self.post_request(space, sender, text, Some(key));
            unless_overloaded(self.send(request).await).await
        })
        .await
    }

    /// The request that posts a message.
    pub(crate) fn post_request(
        &self,
        space: &str,
        sender: &str,
        text: &str,
        key: Option<&str>,
    ) -> RequestBuilder {
        let mut request = self
            .request(Method::POST, &format!("/v1/spaces/{space}/messages"))
            .bearer_auth(&self.key);
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        request.json(&json!({ "text": text, "senderId": sender }))
    }

    /// All messages of a space, oldest first.
    pub(crate) async fn messages(&self, space: &str) -> Vec<Value> {
        let mut all: Vec<Value> = Vec::new();
        loop {
            let after = all.last().map_or(0, seq);
            let page = self
                .get(&format!("/v1/spaces/{space}/messages?after={after}&limit=200"))
                .await
                .must_be(200);
            let items = page["items"].as_array().unwrap();
            if items.is_empty() {
                return all;
            }
            all.extend(items.iter().cloned());
        }
    }

    /// The texts of all messages of a space, oldest first.
    pub(crate) async fn texts(&self, space: &str) -> Vec<String> {
        self.messages(space).await.iter().map(|message| text(message).to_owned()).collect()
    }

    /// All items of a list.
    pub(crate) async fn all(&self, path: &str) -> Vec<Value> {
        let and = if path.contains('?') { '&' } else { '?' };
        let mut all: Vec<Value> = Vec::new();
        let mut next = path.to_owned();
        loop {
            let page = self.get(&next).await.must_be(200);
            let items = page["items"]
                .as_array()
                .unwrap_or_else(|| panic!("{next} has no items: {page:.300}"));
            all.extend(items.iter().cloned());
            match page["nextCursor"].as_str() {
                Some(cursor) => next = format!("{path}{and}cursor={}", in_query(cursor)),
                None => return all,
            }
            assert!(all.len() < 100_000, "{path} never ends");
        }
    }

    /// All runs that messages of a space triggered, newest first.
    pub(crate) async fn runs_of(&self, space: &str) -> Vec<Value> {
        self.all(&format!("/v1/spaces/{space}/runs?limit=200")).await
    }

    /// A run, with its steps.
    pub(crate) async fn run(&self, run: &str) -> Value {
        self.get(&format!("/v1/runs/{run}")).await.must_be(200)
    }

    /// Cancels a run.
    pub(crate) async fn cancel(&self, run: &str) -> Reply {
        self.call(Method::POST, &format!("/v1/runs/{run}/cancel"), None).await
    }

    /// Repeats a run.
    pub(crate) async fn retry(&self, run: &str) -> Reply {
        self.call(Method::POST, &format!("/v1/runs/{run}/retry"), None).await
    }
}

/// A reply, unless an emulator was too slow for it: it gives some of a hundred simultaneous
/// messages no `seq` in time, and leaves calls without an answer. Such a response asks to repeat
/// the request with its key after a while. Whoever repeats it at once keeps the emulator too slow.
/// The local host is never that slow.
async fn unless_overloaded(reply: Reply) -> Option<Reply> {
    if deployed().is_none() || reply.status != 503 {
        return Some(reply);
    }
    let seconds = reply.header("retry-after").parse().unwrap_or(1);
    sleep(Duration::from_secs(seconds)).await;
    None
}

/// Encodes a text as a value in a URL's query.
pub(crate) fn in_query(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// The id of an object.
pub(crate) fn id(object: &Value) -> String {
    object["id"].as_str().unwrap_or_else(|| panic!("no id in {object}")).to_owned()
}

/// The `seq` of a message.
pub(crate) fn seq(message: &Value) -> u64 {
    message["seq"].as_u64().unwrap_or_else(|| panic!("no seq in {message}"))
}

/// The text of a message.
pub(crate) fn text(message: &Value) -> &str {
    message["parts"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {message}"))
}

/// The run of an agent that a message triggered. Returns `None` if it triggered none.
pub(crate) fn triggered_run(message: &Value, agent: &str) -> Option<String> {
    let decisions = message["dispatch"].as_array()?;
    decisions.iter().find(|decision| decision["agentId"] == agent)?["runId"]
        .as_str()
        .map(str::to_owned)
}
