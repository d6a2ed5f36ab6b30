//! The model that agents ask: a server that speaks OpenAI's chat completions and Anthropic's messages, and plays scripts.

mod anthropic;
mod asked;
mod billing;
mod check;
mod gate;
mod prompt;
mod script;
mod writing;

use std::{
    collections::{HashMap, VecDeque},
    env,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, StatusCode, Uri},
    response::{IntoResponse, Response},
    routing::post,
    serve::ListenerExt,
};
use serde_json::Value;
use tokio::{net::TcpListener, sync::watch, task::JoinHandle, time::timeout};

pub(crate) use self::{
    asked::{Api, Asked},
    billing::{Bill, Cache, blocks},
    gate::Gate,
    prompt::Line,
    script::{Answer, Part, answer, call, http, http_retry, raw_call, say, say_held, silent, stop, think, wait},
};

/// The key that the product is given for it.
pub(crate) const KEY: &str = "test-key-9f2c";

/// The server. Each model has a script of its own, found by the model's name; one without a script has nothing to say.
pub(crate) struct Model {
    /// What the product takes as `OPENAI_BASE_URL`, and without its `/v1` as `ANTHROPIC_BASE_URL`.
    pub(crate) base_url: String,
    shared: Arc<Shared>,
    serving: JoinHandle<()>,
}

struct Shared {
    /// Stands behind the names of this test's models: on a deployed stack another test's runs may still ask.
    tag: String,
    key: Option<&'static str>,
    scripts: Mutex<HashMap<String, Script>>,
    asked: Mutex<Vec<Asked>>,
    count: watch::Sender<usize>,
    faults: Mutex<Vec<String>>,
}

enum Script {
    List(VecDeque<Answer>),
    Each(Arc<dyn Fn(&Asked) -> Answer + Send + Sync>),
}

impl Model {
    /// Starts it on a free port, or where `SMARTSPACE_TEST_MODEL_LISTEN` says that a deployed stack finds it.
    pub(crate) async fn start(tag: &str) -> Self {
        let fixed = env::var("SMARTSPACE_TEST_MODEL_LISTEN").ok();
        let listener = listen(fixed.as_deref().unwrap_or("127.0.0.1:0")).await;
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let shared = Arc::new(Shared {
            tag: format!(".{tag}"),
            key: fixed.is_none().then_some(KEY),
            scripts: Mutex::default(),
            asked: Mutex::default(),
            count: watch::Sender::new(0),
            faults: Mutex::default(),
        });
        let router = Router::new()
            .route("/v1/chat/completions", post(complete))
            .route("/v1/messages", post(write_message))
            .fallback(lost)
            .with_state(Arc::clone(&shared));
        let listener = listener.tap_io(|connection| {
            let _ = connection.set_nodelay(true);
        });
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { base_url, shared, serving }
    }

    /// The name to configure for the script `model`.
    pub(crate) fn name(&self, model: &str) -> String {
        format!("{model}{}", self.shared.tag)
    }

    /// Gives the answers one after the other, then has nothing more to say.
    pub(crate) fn plays<A: Into<Answer>>(&self, model: &str, answers: impl IntoIterator<Item = A>) {
        self.script(model, Script::List(answers.into_iter().map(Into::into).collect()));
    }

    /// Gives one answer in each run, then ends it.
    pub(crate) fn replies<A: Into<Answer>>(&self, model: &str, reply: impl Fn(&Asked) -> A + Send + Sync + 'static) {
        self.answers(model, move |asked| if asked.step() == 0 { reply(asked).into() } else { stop() });
    }

    /// Answers every request by what it says.
    pub(crate) fn answers(&self, model: &str, answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) {
        self.script(model, Script::Each(Arc::new(answer)));
    }

    fn script(&self, model: &str, script: Script) {
        self.shared.scripts.lock().unwrap().insert(model.into(), script);
    }

    /// What `model` was asked so far.
    pub(crate) fn asked(&self, model: &str) -> Vec<Asked> {
        self.shared.asked.lock().unwrap().iter().filter(|asked| asked.model == model).cloned().collect()
    }

    /// Waits until `model` was asked so many times, and gives the last of them.
    pub(crate) async fn asked_times(&self, model: &str, times: usize) -> Asked {
        let mut count = self.shared.count.subscribe();
        let enough = timeout(Duration::from_secs(30), count.wait_for(|_| self.asked(model).len() >= times)).await;
        assert!(enough.is_ok(), "{model} was asked {} times within 30 s, not {times} times", self.asked(model).len());
        drop(enough);
        self.asked(model).swap_remove(times - 1)
    }

    /// What was wrong with requests so far.
    pub(crate) fn faults(&self) -> Vec<String> {
        self.shared.faults.lock().unwrap().clone()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// A fixed address may still belong to the test before.
async fn listen(address: &str) -> TcpListener {
    let until = Instant::now() + Duration::from_mins(1);
    loop {
        match TcpListener::bind(address).await {
            Ok(listener) => return listener,
            Err(error) => assert!(Instant::now() < until, "the model can't listen on {address}: {error}"),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn complete(State(shared): State<Arc<Shared>>, headers: HeaderMap, Json(body): Json<Value>) -> Response {
    let key = header(&headers, "authorization");
    respond(&shared, Api::OpenAi, key.strip_prefix("Bearer ").unwrap_or_default(), "", body).await
}

async fn write_message(State(shared): State<Arc<Shared>>, headers: HeaderMap, Json(body): Json<Value>) -> Response {
    respond(&shared, Api::Anthropic, header(&headers, "x-api-key"), header(&headers, "anthropic-version"), body).await
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

async fn respond(shared: &Shared, api: Api, key: &str, version: &str, body: Value) -> Response {
    let Some(model) = body["model"].as_str().and_then(|name| name.strip_suffix(&shared.tag)).map(str::to_owned) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let asked = Asked { key: key.to_owned(), version: version.to_owned(), ..Asked::of(api, &model, body) };
    let faults = match api {
        Api::OpenAi => check::faults(&asked, shared.key),
        Api::Anthropic => anthropic::faults(&asked, shared.key),
    };
    shared.faults.lock().unwrap().extend(faults.into_iter().map(|fault| format!("{}: {fault}", asked.model)));
    // Recorded and answered under one lock: the n-th request gets the n-th answer.
    let each = {
        let mut scripts = shared.scripts.lock().unwrap();
        shared.asked.lock().unwrap().push(asked.clone());
        match scripts.get_mut(&asked.model) {
            None => Err(stop()),
            Some(Script::List(answers)) => Err(answers.pop_front().unwrap_or_else(stop)),
            Some(Script::Each(answer)) => Ok(Arc::clone(answer)),
        }
    };
    shared.count.send_modify(|count| *count += 1);
    let answer = match each {
        Ok(each) => each(&asked),
        Err(answer) => answer,
    };
    writing::respond(answer, &asked).await
}

async fn lost(State(shared): State<Arc<Shared>>, uri: Uri) -> StatusCode {
    shared.faults.lock().unwrap().push(format!("asked for {uri}"));
    StatusCode::NOT_FOUND
}
