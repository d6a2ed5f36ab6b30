//! A deployment whose agents ask a reader, and people who talk with them.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::{Value, json};
use smartspace_domain::ids::EntityId;
use smartspace_models::port::Model;
use smartspace_simulation::{
    client::Caller, deployment::Deployment, fixtures, input::Input, parameters::Parameters,
};
use tokio::time::{Instant, sleep};

use super::model::Reader;

/// How long a person waits for an answer. Runs that wait for each other take less.
const LIMIT: Duration = Duration::from_mins(1);

pub(crate) struct Scene {
    deployment: Arc<Deployment>,
}

impl Scene {
    /// A deployment whose models do not get to read the texts `without`.
    pub(crate) async fn new(seed: u64, without: &'static [&'static str]) -> Self {
        Self::with_model(seed, Arc::new(Reader::new(seed, without))).await
    }

    /// A deployment whose agents ask this model.
    pub(crate) async fn with_model(seed: u64, model: Arc<dyn Model>) -> Self {
        let input = Input { seed, ..Input::default() };
        let parameters =
            Parameters { people: 0, agents: 0, spaces: 0, processes: 2, ..Parameters::quiet() };
        let deployment = Deployment::with_parameters(&input, parameters, None).unwrap();
        assert!(deployment.env.model.set(model).is_ok());
        fixtures::make(&deployment).await.unwrap();
        Self { deployment }
    }

    pub(crate) fn end(&self) {
        self.deployment.end();
    }

    async fn call(&self, caller: Caller, method: Method, path: &str, body: Option<Value>) -> Value {
        let answer = self.deployment.http("scene", caller, method, path, None, body.as_ref()).await;
        let (status, body) = answer.unwrap();
        assert!(status < 300, "{path}: {status} {body}");
        body
    }

    async fn make(&self, path: &str, body: Value) -> Value {
        self.call(Caller::Operator, Method::POST, path, Some(body)).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) {
        self.call(Caller::Operator, Method::PUT, path, Some(body)).await;
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) {
        self.call(Caller::Operator, Method::PATCH, path, Some(body)).await;
    }

    /// The names of the processes that have worked on runs.
    pub(crate) fn workers(&self) -> BTreeSet<String> {
        let ledger = self.deployment.env.ledger.lock().unwrap();
        let invocations = ledger.invocations.values().flatten();
        invocations.map(|invocation| invocation.process.clone()).collect()
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        self.call(Caller::Operator, Method::GET, path, None).await
    }

    pub(crate) async fn person(&self, name: &str) -> Value {
        self.make("/v1/entities", json!({"type": "human", "name": name})).await["id"].take()
    }

    /// An agent with this task, whose runs go on after a message. The fields of `more` are added to
    /// its settings.
    pub(crate) async fn agent(&self, name: &str, task: &str, more: Value) -> Value {
        let mut agent = json!({
            "model": {"provider": "openai", "name": "reader"},
            "instructions": format!("You are {name}.\n{task}"),
            "loop": {"endAfterSend": false},
        });
        agent.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let body = json!({"type": "agent", "name": name, "agent": agent});
        self.make("/v1/entities", body).await["id"].take()
    }

    pub(crate) async fn space(&self, name: &str, members: &[Value], policy: &str) -> String {
        let body = json!({"name": name, "members": members, "triggerPolicy": policy});
        self.make("/v1/spaces", body).await["id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn post(&self, space: &str, sender: &Value, text: &str) {
        let body = json!({"text": text, "senderId": sender});
        self.make(&format!("/v1/spaces/{space}/messages"), body).await;
    }

    /// A person approves what the card of a form asks for.
    pub(crate) async fn approve(&self, card: &Value, person: &Value) {
        let run = card["runId"].as_str().unwrap();
        let call = card["parts"][0]["callId"].as_str().unwrap();
        let path = format!("/v1/runs/{run}/toolCalls/{call}/result");
        let person: EntityId = person.as_str().unwrap().parse().unwrap();
        let body = json!({"output": {"choice": "Approve"}});
        self.call(Caller::Entity(person), Method::POST, &path, Some(body)).await;
    }

    pub(crate) async fn messages(&self, space: &str) -> Vec<Value> {
        let path = format!("/v1/spaces/{space}/messages?after=0&limit=200");
        let mut page = self.get(&path).await;
        let Value::Array(messages) = page["items"].take() else { panic!("{page}") };
        messages
    }

    /// Waits until a space has a message of which this is true, if it comes in time.
    pub(crate) async fn until(&self, space: &str, is_it: impl Fn(&Value) -> bool) -> Option<Value> {
        let begun = Instant::now();
        while begun.elapsed() < LIMIT {
            let messages = self.messages(space).await;
            if let Some(message) = messages.into_iter().find(&is_it) {
                return Some(message);
            }
            sleep(Duration::from_millis(400)).await;
        }
        None
    }

    /// Waits until no run works or waits for its turn. Returns the runs of the space.
    pub(crate) async fn quiet(&self, space: &str) -> Vec<Value> {
        loop {
            self.until_nothing_is_written().await;
            // A run that has not ended by now may still post.
            let mut page = self.get(&format!("/v1/spaces/{space}/runs?limit=200")).await;
            let Value::Array(runs) = page["items"].take() else { panic!("{page}") };
            let messages = self.messages(space).await;
            let ended = |id: &Value| {
                runs.iter().any(|run| run["id"] == *id && !run["finishedAt"].is_null())
            };
            let woken = messages.iter().filter_map(|message| message["dispatch"].as_array());
            let mut woken = woken.flatten().map(|one| &one["runId"]).filter(|id| !id.is_null());
            if woken.all(ended) {
                return runs;
            }
        }
    }

    /// Waits until the table is as it was before the longest answer of a model. To look at the
    /// messages and the runs again and again would cost more than the runs.
    async fn until_nothing_is_written(&self) {
        let writes = || self.deployment.env.storage.writes();
        let mut before = writes();
        loop {
            sleep(Duration::from_secs(6)).await;
            let now = writes();
            if now == before {
                return;
            }
            before = now;
        }
    }
}

/// The text of a message. Empty if it is a card.
pub(crate) fn text(message: &Value) -> &str {
    message["parts"][0]["text"].as_str().unwrap_or_default()
}
