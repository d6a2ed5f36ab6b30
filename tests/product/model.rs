//! The model that agents ask: a server that speaks OpenAI's chat completions, Anthropic's messages and Bedrock's `ConverseStream`, and plays scripts.

mod anthropic;
mod asked;
mod bedrock;
mod billing;
mod check;
mod door;
mod gate;
mod prompt;
mod script;
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

use self::door::Door;
pub(crate) use self::{
    asked::{Api, Asked},
    billing::{Bill, Cache, blocks},
    gate::Gate,
    prompt::Line,
    script::{Answer, Part, answer, call, http, http_retry, raw_call, say, say_held, silent, stop, think, wait},
};
use super::waiting::patient;

/// The key that the product is given for it.
pub(crate) const KEY: &str = "test-key-9f2c";

/// The server. Each model has a script of its own, found by the model's name; one without a script has nothing to say.
pub(crate) struct Model {
    /// What the product takes as `OPENAI_BASE_URL`, and without its `/v1` as `ANTHROPIC_BASE_URL` and as Bedrock's endpoint.
    pub(crate) base_url: String,
    shared: Arc<Shared>,
    door: Door,
    serving: Option<JoinHandle<()>>,
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
    pub(crate) fn start(tag: &str) -> Self {
        let fixed = env::var("SMARTSPACE_TEST_MODEL_LISTEN").ok();
        let (door, serving) = if let Some(address) = &fixed {
            (Door::of_all(address), None)
        } else {
            let (door, serving) = Door::own();
            (door, Some(serving))
        };
        let shared = Arc::new(Shared {
            tag: tag.to_owned(),
            key: fixed.is_none().then_some(KEY),
            scripts: Mutex::default(),
            asked: Mutex::default(),
            count: watch::Sender::new(0),
            faults: Mutex::default(),
        });
        door.enter(&shared);
        Self { base_url: format!("http://{}/v1", door.address), shared, door, serving }
    }

    /// The name to configure for the script `model`.
    pub(crate) fn name(&self, model: &str) -> String {
        format!("{model}.{}", self.shared.tag)
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
        let enough = timeout(patient(Duration::from_secs(30)), count.wait_for(|_| self.asked(model).len() >= times)).await;
        assert!(enough.is_ok(), "{model} was asked {} times in time, not {times} times", self.asked(model).len());
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
        self.door.leave(&self.shared);
        if let Some(serving) = &self.serving {
            serving.abort();
        }
    }
}

async fn respond(shared: &Shared, api: Api, model: &str, key: &str, version: &str, body: Value) -> Response {
    let asked = Asked { key: key.to_owned(), version: version.to_owned(), ..Asked::of(api, model, body) };
    let faults = match api {
        Api::OpenAi => check::faults(&asked, shared.key),
        Api::Anthropic => anthropic::faults(&asked, shared.key),
        Api::Bedrock => bedrock::faults(&asked, shared.key),
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
