//! The fake model that agents ask: a server that speaks OpenAI's chat completions, Anthropic's
//! messages and Bedrock's `ConverseStream`.
//!
//! It answers as the test's script says. It also checks each request as a provider would. A fault
//! in any request fails the test, even if the script answers it.

mod anthropic;
mod bedrock;
mod billing;
mod check;
mod files;
mod gate;
mod openai;
mod pictures;
mod prompt;
mod request;
mod script;
mod server;
mod writing;

use std::{
    collections::{HashMap, VecDeque},
    env,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::response::Response;
use serde_json::Value;
use tokio::{sync::watch, task::JoinHandle, time::timeout};

use crate::support::model::server::ModelServer;
pub(crate) use crate::support::model::{
    bedrock::event as bedrock_event,
    billing::{Bill, Cache, blocks},
    gate::Gate,
    prompt::{Line, Prompt},
    request::{Api, ModelRequest},
    script::{
        Answer, Part, answer, call, http, http_retry, raw_call, say, say_held, silent, stop, think,
        wait,
    },
    writing::{Beat, play},
};
use crate::support::waiting::patient;

/// The API key that the product sends to the fake model.
pub(crate) const KEY: &str = "test-key-9f2c";

/// The fake model of one test. Each model name has its own script. A model without a script ends
/// each run at once.
pub(crate) struct Model {
    /// The value of `OPENAI_BASE_URL`. Without `/v1` it is `ANTHROPIC_BASE_URL` and the endpoint of
    /// Bedrock.
    pub(crate) base_url: String,
    shared: Arc<Shared>,
    server: ModelServer,
    serving: Option<JoinHandle<()>>,
}

struct Shared {
    /// The suffix of this test's model names. Runs of an earlier test on the same deployed stack
    /// may still send requests.
    tag: String,
    key: Option<&'static str>,
    scripts: Mutex<HashMap<String, Script>>,
    requests: Mutex<Vec<ModelRequest>>,
    count: watch::Sender<usize>,
    faults: Mutex<Vec<String>>,
    drawn: Mutex<Vec<Value>>,
    drawing: Gate,
}

enum Script {
    List(VecDeque<Answer>),
    Each(Arc<dyn Fn(&ModelRequest) -> Answer + Send + Sync>),
}

impl Model {
    /// Starts the server on a free port, or at `SMARTSPACE_TEST_MODEL_LISTEN`, where a deployed
    /// stack looks for it.
    pub(crate) fn start(tag: &str) -> Self {
        let fixed = env::var("SMARTSPACE_TEST_MODEL_LISTEN").ok();
        let (server, serving) = if let Some(address) = &fixed {
            (ModelServer::shared(address), None)
        } else {
            let (server, serving) = ModelServer::own();
            (server, Some(serving))
        };
        let shared = Arc::new(Shared {
            tag: tag.to_owned(),
            key: fixed.is_none().then_some(KEY),
            scripts: Mutex::default(),
            requests: Mutex::default(),
            count: watch::Sender::new(0),
            faults: Mutex::default(),
            drawn: Mutex::default(),
            drawing: Gate::closed(),
        });
        server.add(&shared);
        Self { base_url: format!("http://{}/v1", server.address), shared, server, serving }
    }

    /// The name to configure for an agent that follows the script `model`.
    pub(crate) fn name(&self, model: &str) -> String {
        format!("{model}.{}", self.shared.tag)
    }

    /// Gives the answers one after the other, then ends each run at once.
    pub(crate) fn plays<A: Into<Answer>>(&self, model: &str, answers: impl IntoIterator<Item = A>) {
        self.script(model, Script::List(answers.into_iter().map(Into::into).collect()));
    }

    /// Gives one answer in each run, then ends the run.
    pub(crate) fn replies<A: Into<Answer>>(
        &self,
        model: &str,
        reply: impl Fn(&ModelRequest) -> A + Send + Sync + 'static,
    ) {
        self.answers(
            model,
            move |request| if request.step() == 0 { reply(request).into() } else { stop() },
        );
    }

    /// Computes the answer to each request.
    pub(crate) fn answers(
        &self,
        model: &str,
        answer: impl Fn(&ModelRequest) -> Answer + Send + Sync + 'static,
    ) {
        self.script(model, Script::Each(Arc::new(answer)));
    }

    fn script(&self, model: &str, script: Script) {
        self.shared.scripts.lock().unwrap().insert(model.into(), script);
    }

    /// The requests to `model` so far.
    pub(crate) fn requests(&self, model: &str) -> Vec<ModelRequest> {
        self.shared
            .requests
            .lock()
            .unwrap()
            .iter()
            .filter(|request| request.model == model)
            .cloned()
            .collect()
    }

    /// Waits for the `times`-th request to `model` and returns it.
    pub(crate) async fn nth_request(&self, model: &str, times: usize) -> ModelRequest {
        let mut count = self.shared.count.subscribe();
        let enough = timeout(
            patient(Duration::from_secs(30)),
            count.wait_for(|_| self.requests(model).len() >= times),
        )
        .await;
        assert!(
            enough.is_ok(),
            "{model} got {} requests within the time limit, expected {times}",
            self.requests(model).len()
        );
        drop(enough);
        self.requests(model).swap_remove(times - 1)
    }

    /// The faults in requests so far.
    pub(crate) fn faults(&self) -> Vec<String> {
        self.shared.faults.lock().unwrap().clone()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.server.remove(&self.shared);
        if let Some(serving) = &self.serving {
            serving.abort();
        }
    }
}

async fn respond(
    shared: &Shared,
    api: Api,
    model: &str,
    key: &str,
    version: &str,
    body: Value,
) -> Response {
    let request = ModelRequest {
        key: key.to_owned(),
        version: version.to_owned(),
        ..ModelRequest::of(api, model, body)
    };
    let faults = match api {
        Api::OpenAi => openai::faults(&request, shared.key),
        Api::Anthropic => anthropic::faults(&request, shared.key),
        Api::Bedrock => bedrock::faults(&request, shared.key),
    };
    shared
        .faults
        .lock()
        .unwrap()
        .extend(faults.into_iter().map(|fault| format!("{}: {fault}", request.model)));
    // Record and answer under one lock, so that the n-th request gets the n-th answer.
    let each = {
        let mut scripts = shared.scripts.lock().unwrap();
        shared.requests.lock().unwrap().push(request.clone());
        match scripts.get_mut(&request.model) {
            None => Err(stop()),
            Some(Script::List(answers)) => Err(answers.pop_front().unwrap_or_else(stop)),
            Some(Script::Each(answer)) => Ok(Arc::clone(answer)),
        }
    };
    shared.count.send_modify(|count| *count += 1);
    let answer = match each {
        Ok(each) => each(&request),
        Err(answer) => answer,
    };
    writing::respond(answer, &request).await
}
