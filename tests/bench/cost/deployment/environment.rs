//! An environment: the libraries of all functions on counted ports.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::Router;
use futures::{FutureExt, future::BoxFuture};
use smartspace_api::{AdminKey, Api, PublicAddress, SocketUrl, Tokens, router};
use smartspace_broadcast::Broadcast;
use smartspace_domain::{
    callbacks::CallbackKey,
    invites::InvitePolicy,
    jobs::{BroadcastJob, RunJob, TriggerJob},
    limits::CallLimits,
};
use smartspace_egress::{Egress, ToolHosts};
use smartspace_embedded_table::{NAME, client_on};
use smartspace_pipeline::Pipeline;
use smartspace_ports::{
    cancel_signal::NoCancelSignal,
    files::MemoryFiles,
    ids::{IdSource, RandomIds},
    model_servers::NoServers,
    resolver::SystemResolver,
    secrets::FixedSecrets,
    sockets::PostPermits,
};
use smartspace_run::{Callbacks, RunJobHandler};
use smartspace_socket::Socket;
use smartspace_store::Store;
use smartspace_sweep::Sweep;
use smartspace_trigger::{Triggers, router::Routers};
use tokio::time::Instant;

use crate::{
    deployment::{ADMIN_KEY, CPU_MILLISECONDS, Deployment, JWT_SECRET},
    ledger::Counter,
    locked,
    model::SlowModel,
    ports::{CountedJob, CountedPorts, CountedQueue},
};

/// The time limit of an invocation of `run`.
const RUN_TIMEOUT: Duration = Duration::from_mins(15);
/// The retention of ended runs.
const RUN_RETENTION: Duration = Duration::from_hours(30 * 24);

/// An environment. It has the libraries of all functions, but uses only those of its own.
pub(crate) struct Environment {
    pub(super) name: Arc<Mutex<&'static str>>,
    pub(crate) ports: CountedPorts,
    pub(crate) api: Router,
    pub(crate) socket: Socket,
    pub(crate) runs: RunJobHandler,
    triggers: Triggers,
    broadcast: Broadcast,
    pub(crate) sweep: Sweep,
}

impl Environment {
    pub(super) fn new(deployment: &Arc<Deployment>) -> Arc<Self> {
        let name = Arc::new(Mutex::new("setting"));
        let ports = CountedPorts {
            deployment: Arc::clone(deployment),
            name: Arc::clone(&name),
            post_permits: PostPermits::default(),
        };
        let (clock, sockets) = (Arc::new(ports.clone()), Arc::new(ports.clone()));
        let pipeline = pipeline_on(&ports);
        let store = pipeline.store.clone();
        let model = Arc::new(SlowModel {
            ports: ports.clone(),
            words: Arc::clone(&deployment.words),
            answers: Arc::clone(&deployment.answers),
        });
        let routers = Routers::new(model.clone(), Arc::default(), None);
        let secrets = Arc::new(FixedSecrets::default());
        let egress = Egress::new(Arc::new(SystemResolver), ToolHosts::default(), secrets.clone());
        let callbacks = Callbacks {
            key: CallbackKey::of_secret(ADMIN_KEY),
            api_url: "https://smartspace.example".into(),
        };
        let api = Api {
            invites: InvitePolicy::Guests,
            pipeline: pipeline.clone(),
            admin_key: AdminKey::new(ADMIN_KEY),
            callback_key: callbacks.key.clone(),
            tokens: Tokens::signed_with(JWT_SECRET, false).ok(),
            secrets,
            public_address: PublicAddress::OfHost,
            socket_url: SocketUrl::Under("/v1/socket"),
            cors_origins: Vec::new(),
            router_model: None,
            providers: Arc::default(),
            model_servers: Arc::new(NoServers),
            egress: egress.clone(),
        };
        Arc::new(Self {
            name,
            ports,
            api: router(api, Router::new()),
            socket: Socket {
                pipeline: pipeline.clone(),
                sockets: sockets.clone(),
                call_limits: CallLimits::DEFAULT,
            },
            runs: RunJobHandler::new(
                pipeline.clone(),
                sockets.clone(),
                model,
                egress,
                Arc::default(),
                callbacks,
                deployment.stopping.subscribe(),
            ),
            triggers: Triggers { pipeline: pipeline.clone(), routers, traces: None },
            broadcast: Broadcast { store, sockets, clock, queue: Arc::clone(&pipeline.broadcasts) },
            sweep: Sweep { pipeline },
        })
    }
}

fn pipeline_on(ports: &CountedPorts) -> Pipeline {
    let random = Arc::new(|| RandomIds.random());
    Pipeline {
        store: Store::new(client_on(ports.clone()), NAME, Some(RUN_RETENTION), random),
        runs: Arc::new(CountedQueue { ports: ports.clone(), deliver: run }),
        broadcasts: Arc::new(CountedQueue { ports: ports.clone(), deliver: broadcast }),
        triggers: Arc::new(CountedQueue { ports: ports.clone(), deliver: trigger }),
        alarms: Arc::new(ports.clone()),
        cancel_signal: Arc::new(NoCancelSignal),
        clock: Arc::new(ports.clone()),
        files: Arc::new(MemoryFiles::default()),
        ids: Arc::new(RandomIds),
        is_rate_limited: true,
    }
}

fn run(deployment: Arc<Deployment>, job: RunJob) -> BoxFuture<'static, ()> {
    let name = if matches!(job, RunJob::Summarize { .. }) { "run, summaries" } else { "run" };
    if let RunJob::Run { also, .. } = &job {
        // They share a processor, so in the worst case they wait for each other.
        let more = also.len() as f64 * CPU_MILLISECONDS;
        locked(&deployment.ledger).count(name, Counter::Milliseconds, more);
    }
    deployment
        .deliver("run", name, async move |environment| {
            let delivery = CountedJob {
                ports: environment.ports.clone(),
                ends_at: Instant::now() + RUN_TIMEOUT,
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
