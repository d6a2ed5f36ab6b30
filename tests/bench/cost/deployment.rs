//! A deployment like on AWS, in one process on a virtual clock. Each invocation has an environment
//! of its function for itself, with the function's caches. As on Lambda, a later invocation reuses
//! a free environment.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, atomic::AtomicU32},
    time::Duration,
};

use axum::{Router, body::Body, http::Request};
use futures::{FutureExt, future::BoxFuture};
use http_body_util::BodyExt;
use jsonwebtoken::{EncodingKey, Header, encode};
use serde_json::{Value, json};
use smartspace::embedded_table::{EmbeddedTable, NAME, client_on};
use smartspace_api::{AdminKey, Api, SocketUrl, Tokens};
use smartspace_broadcast::Broadcast;
use smartspace_domain::{
    Result, Time,
    jobs::{BroadcastJob, RunJob, TriggerJob},
};
use smartspace_egress::{Egress, ToolHosts};
use smartspace_pipeline::Pipeline;
use smartspace_ports::{
    cancel_signal::NoCancelSignal,
    ids::{IdSource, RandomIds},
    resolver::SystemResolver,
    secrets::FixedSecrets,
};
use smartspace_run::{Runs, counters::Counted};
use smartspace_socket::Socket;
use smartspace_store::{Store, table::schema};
use smartspace_sweep::Sweep;
use smartspace_trigger::Triggers;
use tokio::{sync::watch, time::Instant};
use tower::ServiceExt;

use crate::{
    ledger::{Ledger, What},
    locked,
    model::SlowModel,
    ports::{CountedDelivery, CountedQueue, Edge},
    text::Words,
};

/// The operator's key.
const ADMIN_KEY: &str = "the-operator-of-what-it-costs";
/// The secret that signs people's tokens.
const JWT_SECRET: &str = "thirty-two bytes and a few more of what it costs";
/// The start of the wall clock, in milliseconds since 1970.
const MORNING: i64 = 1_795_000_000_000;
/// The time limit of an invocation of `run`.
const RUNS_FOR: Duration = Duration::from_mins(15);
/// The retention of ended runs.
const KEPT: Duration = Duration::from_hours(30 * 24);
/// The CPU time of an invocation in milliseconds, on a seventh of a core. A cautious estimate.
const WORKS: f64 = 20.0;

pub(crate) struct Deployment {
    /// The counts since it was last cleared.
    pub(crate) ledger: Mutex<Ledger>,
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

/// An environment. It has the libraries of all functions, but uses only those of its own.
pub(crate) struct Environment {
    name: Arc<Mutex<&'static str>>,
    pub(crate) edge: Edge,
    pub(crate) api: Router,
    pub(crate) socket: Socket,
    pub(crate) runs: Runs,
    triggers: Triggers,
    broadcast: Broadcast,
    pub(crate) sweep: Sweep,
}

/// The caller of a request.
#[derive(Clone, Copy)]
pub(crate) enum As<'a> {
    /// With the admin key.
    Operator,
    /// With a token.
    Person(&'a str),
}

impl Deployment {
    /// Starts a deployment with an empty table.
    pub(crate) async fn start(fresh: bool, words: Arc<Words>) -> Result<Arc<Self>, String> {
        let deployment = Arc::new(Self {
            ledger: Mutex::default(),
            table: EmbeddedTable::in_memory()?,
            fresh,
            begun: Instant::now(),
            free: Mutex::default(),
            working: watch::channel(0).0,
            stopping: watch::channel(false).0,
            words,
            answers: Arc::default(),
        });
        let edge =
            Edge { deployment: Arc::clone(&deployment), name: Arc::new(Mutex::new("setting")) };
        schema::create_table(&client_on(edge), NAME).await.map_err(|error| error.to_string())?;
        Ok(deployment)
    }

    /// The wall clock.
    pub(crate) fn now(&self) -> Time {
        Time::from_millis(MORNING + self.begun.elapsed().as_millis() as i64)
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
            ledger.count(name, What::Invocation, 1.0);
            ledger.count(name, What::Milliseconds, begun.elapsed().as_secs_f64() * 1e3 + WORKS);
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
        locked(&self.ledger).count(name, What::Receive, 1.0);
        if let Err(error) = self.invoke(function, name, work).await {
            locked(&self.ledger).doubts.insert(format!("a job of {name} failed: {error}"));
        }
        locked(&self.ledger).count(name, What::Delete, 1.0);
    }

    /// Sends a POST request to the HTTP API. Returns the created object.
    pub(crate) async fn post(
        self: &Arc<Self>,
        by: As<'_>,
        path: &str,
        body: &Value,
    ) -> Result<Value, String> {
        let bearer = match by {
            As::Operator => ADMIN_KEY.to_owned(),
            As::Person(id) => {
                let claims = json!({"sub": id, "exp": 4_000_000_000_u64});
                encode(
                    &Header::default(),
                    &claims,
                    &EncodingKey::from_secret(JWT_SECRET.as_bytes()),
                )
                .map_err(|error| error.to_string())?
            }
        };
        let key = format!("{:032x}", RandomIds.random());
        let request = Request::post(path)
            .header("authorization", format!("Bearer {bearer}"))
            .header("idempotency-key", key);
        let request =
            request.body(Body::from(body.to_string())).map_err(|error| error.to_string())?;
        locked(&self.ledger).count("api", What::Http, 1.0);
        let Ok(answer) =
            self.invoke("api", "api", |environment| environment.api.clone().oneshot(request)).await;
        let status = answer.status();
        let bytes =
            answer.into_body().collect().await.map_err(|error| error.to_string())?.to_bytes();
        let created: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        if status == 201 { Ok(created) } else { Err(format!("{path}: {status} {created}")) }
    }
}

impl Environment {
    fn new(deployment: &Arc<Deployment>) -> Arc<Self> {
        let name = Arc::new(Mutex::new("setting"));
        let edge = Edge { deployment: Arc::clone(deployment), name: Arc::clone(&name) };
        let clock = Arc::new(edge.clone());
        let sockets = Arc::new(edge.clone());
        let store =
            Store::new(client_on(edge.clone()), NAME, Some(KEPT), Arc::new(|| RandomIds.random()));
        let pipeline = Pipeline {
            store: store.clone(),
            runs: Arc::new(CountedQueue { edge: edge.clone(), deliver: run }),
            broadcasts: Arc::new(CountedQueue { edge: edge.clone(), deliver: broadcast }),
            triggers: Arc::new(CountedQueue { edge: edge.clone(), deliver: trigger }),
            alarms: Arc::new(edge.clone()),
            cancel_signal: Arc::new(NoCancelSignal),
            clock: clock.clone(),
            ids: Arc::new(RandomIds),
            is_rate_limited: true,
        };
        let model = Arc::new(SlowModel {
            edge: edge.clone(),
            words: Arc::clone(&deployment.words),
            answers: Arc::clone(&deployment.answers),
        });
        let secrets = Arc::new(FixedSecrets::default());
        let egress = Egress::new(Arc::new(SystemResolver), ToolHosts::default(), secrets.clone());
        let api = Api {
            pipeline: pipeline.clone(),
            admin_key: AdminKey::new(ADMIN_KEY),
            tokens: Tokens::signed_with(JWT_SECRET, false).ok(),
            secrets,
            socket_url: SocketUrl::OfHost("/v1/socket"),
            cors_origins: Vec::new(),
        };
        Arc::new(Self {
            name,
            edge,
            api: smartspace_api::router(api, Router::new()),
            socket: Socket { pipeline: pipeline.clone(), sockets: sockets.clone() },
            runs: Runs::new(
                pipeline.clone(),
                sockets.clone(),
                model,
                egress,
                Arc::default(),
                deployment.stopping.subscribe(),
            ),
            triggers: Triggers { pipeline: pipeline.clone() },
            broadcast: Broadcast { store, sockets, clock },
            sweep: Sweep { pipeline },
        })
    }
}

fn run(deployment: Arc<Deployment>, job: RunJob) -> BoxFuture<'static, ()> {
    let name = if matches!(job, RunJob::Summarize { .. }) { "run, summaries" } else { "run" };
    deployment
        .deliver("run", name, async move |environment| {
            let delivery = CountedDelivery {
                edge: environment.edge.clone(),
                ends_at: Instant::now() + RUNS_FOR,
            };
            environment.runs.handle(&job, &delivery).await
        })
        .boxed()
}

fn broadcast(deployment: Arc<Deployment>, job: BroadcastJob) -> BoxFuture<'static, ()> {
    deployment
        .deliver("broadcast", "broadcast", async move |environment| {
            environment.broadcast.handle(&job).await
        })
        .boxed()
}

fn trigger(deployment: Arc<Deployment>, job: TriggerJob) -> BoxFuture<'static, ()> {
    deployment
        .deliver("trigger", "trigger", async move |environment| {
            environment.triggers.handle(&job).await
        })
        .boxed()
}
