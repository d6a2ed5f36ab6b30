//! A deployment like on AWS, in one process on a virtual clock. Each invocation has an environment
//! of its function for itself, with the function's caches. As on Lambda, a later invocation reuses
//! a free environment.

mod environment;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, atomic::AtomicU32},
};

use axum::{body::Body, http::Request};
use http_body_util::BodyExt;
use jsonwebtoken::{EncodingKey, Header, encode};
use serde_json::{Value, json};
use smartspace_domain::{Result, Time};
use smartspace_embedded_table::{EmbeddedTable, NAME, client_on};
use smartspace_ports::ids::{IdSource, RandomIds};
use smartspace_ports::sockets::PostPermits;
use smartspace_run::counters::Counted;
use smartspace_store::table::schema;
use tokio::{sync::watch, time::Instant};
use tower::ServiceExt;

use crate::{
    ledger::{Counter, Ledger},
    locked,
    ports::CountedPorts,
    text::Words,
    timeline::Span,
};

use environment::Environment;

const ADMIN_KEY: &str = "the-operator-of-what-it-costs";
/// The secret that signs people's tokens.
const JWT_SECRET: &str = "thirty-two bytes and a few more of what it costs";
/// The start of the wall clock, in milliseconds since 1970.
const START_OF_CLOCK: i64 = 1_795_000_000_000;
/// The CPU time of an invocation, or of a run, in milliseconds, on a seventh of a core. A cautious
/// estimate.
const CPU_MILLISECONDS: f64 = 20.0;

pub(crate) struct Deployment {
    /// The counts since it was last cleared.
    pub(crate) ledger: Mutex<Ledger>,
    /// The calls in order of their ends.
    pub(crate) spans: Mutex<Vec<Span>>,
    pub(crate) table: EmbeddedTable,
    /// Whether every invocation gets a new environment.
    fresh: bool,
    begun: Instant,
    free: Mutex<BTreeMap<&'static str, Vec<Arc<Environment>>>>,
    working: watch::Sender<usize>,
    stopping: watch::Sender<bool>,
    words: Arc<Words>,
    answers: Arc<AtomicU32>,
}

/// The caller of a request.
#[derive(Clone, Copy)]
pub(crate) enum Caller<'a> {
    /// With the admin key.
    Operator,
    /// With a token.
    Person(&'a str),
}

impl Caller<'_> {
    /// Signs in with the admin key, or with a token of the person.
    fn bearer(self) -> Result<String, String> {
        let Self::Person(id) = self else { return Ok(format!("Bearer {ADMIN_KEY}")) };
        let claims = json!({"sub": id, "exp": 4_000_000_000_u64});
        let key = EncodingKey::from_secret(JWT_SECRET.as_bytes());
        let token = encode(&Header::default(), &claims, &key).map_err(|error| error.to_string())?;
        Ok(format!("Bearer {token}"))
    }
}

impl Deployment {
    /// Starts a deployment with an empty table.
    pub(crate) async fn start(fresh: bool, words: Arc<Words>) -> Result<Arc<Self>, String> {
        let deployment = Arc::new(Self {
            ledger: Mutex::default(),
            spans: Mutex::default(),
            table: EmbeddedTable::in_memory()?,
            fresh,
            begun: Instant::now(),
            free: Mutex::default(),
            working: watch::channel(0).0,
            stopping: watch::channel(false).0,
            words,
            answers: Arc::default(),
        });
        let ports = CountedPorts {
            deployment: Arc::clone(&deployment),
            name: Arc::new(Mutex::new("setting")),
            post_permits: PostPermits::default(),
        };
        schema::create_table(&client_on(ports), NAME).await.map_err(|error| error.to_string())?;
        Ok(deployment)
    }

    pub(crate) fn now(&self) -> Time {
        Time::from_millis(START_OF_CLOCK + self.begun.elapsed().as_millis() as i64)
    }

    /// Marks work in progress until the returned value is dropped.
    pub(crate) fn works(&self) -> Counted {
        Counted::new(self.working.clone())
    }

    /// Waits until no work is in progress.
    pub(crate) async fn quiet(&self) {
        let _ = self.working.subscribe().wait_for(|working| *working == 0).await;
    }

    /// Invokes a function and counts the invocation under `name`.
    pub(crate) async fn invoke<T, F: Future<Output = T>>(
        self: &Arc<Self>,
        function: &'static str,
        name: &'static str,
        work: impl FnOnce(Arc<Environment>) -> F,
    ) -> T {
        let free = locked(&self.free).entry(function).or_default().pop().filter(|_| !self.fresh);
        let environment = free.unwrap_or_else(|| Environment::new(self));
        *locked(&environment.name) = name;
        let begun = Instant::now();
        let done = work(Arc::clone(&environment)).await;
        {
            let mut ledger = locked(&self.ledger);
            ledger.count(name, Counter::Invocation, 1.0);
            ledger.count(
                name,
                Counter::Milliseconds,
                begun.elapsed().as_secs_f64() * 1e3 + CPU_MILLISECONDS,
            );
        }
        locked(&self.free).entry(function).or_default().push(environment);
        done
    }

    /// Receives a job from a queue, invokes the function, and deletes the job.
    async fn deliver<F: Future<Output = Result<()>>>(
        self: Arc<Self>,
        function: &'static str,
        name: &'static str,
        work: impl FnOnce(Arc<Environment>) -> F,
    ) {
        locked(&self.ledger).count(name, Counter::Receive, 1.0);
        if let Err(error) = self.invoke(function, name, work).await {
            locked(&self.ledger).doubts.insert(format!("a job of {name} failed: {error}"));
        }
        locked(&self.ledger).count(name, Counter::Delete, 1.0);
    }

    /// Sends a POST request to the HTTP API. Returns the created object.
    pub(crate) async fn post(
        self: &Arc<Self>,
        by: Caller<'_>,
        path: &str,
        body: &Value,
    ) -> Result<Value, String> {
        let key = format!("{:032x}", RandomIds.random());
        let request = Request::post(path)
            .header("authorization", by.bearer()?)
            .header("idempotency-key", key);
        let request =
            request.body(Body::from(body.to_string())).map_err(|error| error.to_string())?;
        self.request(path, request, 201).await
    }

    /// Sends a GET request to the HTTP API. Returns the answer.
    pub(crate) async fn get(self: &Arc<Self>, by: Caller<'_>, path: &str) -> Result<Value, String> {
        let request = Request::get(path).header("authorization", by.bearer()?);
        let request = request.body(Body::empty()).map_err(|error| error.to_string())?;
        self.request(path, request, 200).await
    }

    async fn request(
        self: &Arc<Self>,
        path: &str,
        request: Request<Body>,
        expected: u16,
    ) -> Result<Value, String> {
        locked(&self.ledger).count("api", Counter::Http, 1.0);
        let Ok(answer) =
            self.invoke("api", "api", |environment| environment.api.clone().oneshot(request)).await;
        let status = answer.status();
        let bytes =
            answer.into_body().collect().await.map_err(|error| error.to_string())?.to_bytes();
        let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        if status == expected { Ok(body) } else { Err(format!("{path}: {status} {body}")) }
    }
}
