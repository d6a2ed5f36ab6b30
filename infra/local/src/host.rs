//! Builds everything, serves until SIGTERM or SIGINT, and shuts down.

mod addresses;
mod functions;
mod greeting;

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use axum::{Router, middleware::from_fn_with_state};
use smartspace_api::{AdminKey, Api, Egress, SocketUrl};
use smartspace_domain::{append_limits::AppendLimit, callbacks::CallbackKey, limits::CallLimits};
use smartspace_pipeline::Pipeline;
use smartspace_ports::{
    clock::SystemClock,
    ids::{IdSource, RandomIds},
    log::Concealed,
    resolver::SystemResolver,
    secrets::FixedSecrets,
    trace,
};
use smartspace_protocols::Settings;
use smartspace_run::Callbacks;
use smartspace_socket::Socket;
use smartspace_store::{CurrentTrace, Store, table::database::Database};
use smartspace_sweep::Sweep;
use smartspace_web::with_middleware;
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    sync::watch,
    task::JoinHandle,
    time::{MissedTickBehavior, interval, timeout},
};

use self::{
    addresses::Addresses,
    functions::{Functions, Queues},
    greeting::announce,
};
use crate::{
    LocalTable, OpenTable,
    bodies::{self, Bodies},
    data_folder::DataFolder,
    demo,
    file_folder::{
        self, FileFolder, FolderKey,
        server::{FileServer, Uploads},
    },
    flags::Flags,
    hosts::{self, Hosts},
    in_process_alarms::InProcessAlarms,
    in_process_cancel_signal::InProcessCancelSignal,
    in_process_queue::InProcessQueue,
    in_process_sockets::InProcessSockets,
    model_servers::HttpModelServers,
    socket_server::{self, SocketServer},
    sqlite_table::Checkpoints,
    web_server,
};

const SWEEP_INTERVAL: Duration = Duration::from_secs(1);
/// How often expired items are deleted.
const EXPIRY_INTERVAL: Duration = Duration::from_hours(1);
/// How often the table's log is copied into the table.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(1);
/// How long runs and requests may take to end after a signal. The process promises to end within
/// two seconds.
const SHUTDOWN_LIMIT: Duration = Duration::from_millis(1_200);

/// Runs the product until SIGTERM or SIGINT.
pub(crate) async fn run(
    flags: Flags,
    open: OpenTable,
    concealed: &Concealed,
) -> Result<(), String> {
    let ids = Arc::new(RandomIds);
    let folder = if flags.in_memory() { None } else { Some(DataFolder::open(&flags.data)?) };
    let key = admin_key(&flags, folder.as_ref(), *ids)?;
    let secrets = Arc::new(FixedSecrets(Arc::new(flags.all_secrets(&key)?)));
    concealed.set(Arc::clone(&secrets.0));
    let listener = listen_on(flags.listen).await?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;

    let path = folder.as_ref().map(DataFolder::table);
    let LocalTable { database, delete_expired } = open(path.as_deref()).await?;
    let store = new_store(&flags, database, Arc::clone(&ids))?;
    let queues = new_queues();
    let files = FileFolder::new(
        folder.as_ref().map(DataFolder::attachments),
        FolderKey::of_admin_key(&key),
    );
    let pipeline = new_pipeline(&flags, store, files.clone(), &queues, ids);
    let sweep = Sweep { pipeline: pipeline.clone() };
    resume(&sweep).await?;
    if !flags.no_demo {
        demo::create(&pipeline)
            .await
            .map_err(|error| format!("the demo space could not be created: {error}"))?;
    }

    let connections = Arc::new(InProcessSockets::default());
    let (stop, stopping) = watch::channel(false);
    let addresses = Addresses::of(&flags, address);
    let callbacks = Callbacks { key: CallbackKey::of_secret(&key), api_url: addresses.api.clone() };
    let functions = Functions::new(
        &flags,
        &pipeline,
        &connections,
        secrets.clone(),
        callbacks,
        stopping.clone(),
    )?;
    functions.deliver(queues);
    tokio::spawn(sweep_for_ever(sweep));
    keep_table(delete_expired, path.as_deref())?;

    let app = new_router(&flags, &addresses, &pipeline, &connections, &key, secrets)?;
    let app = bounded(&flags, address, app, file_server(&flags, &addresses, &pipeline, files));
    let serving = tokio::spawn(web_server::serve(flags.time_limits, listener, app, stopping));
    announce(&flags, address, &key)?;

    wait_for_signal().await?;
    tracing::info!("shutting down");
    let _ = stop.send(true);
    end(&functions, &connections, serving).await;
    Ok(())
}

async fn listen_on(address: SocketAddr) -> Result<TcpListener, String> {
    TcpListener::bind(address).await.map_err(|error| {
        format!("can't listen on {address}: {error}; choose another address with --listen")
    })
}

/// Waits until all work has ended, but not for ever.
async fn end(functions: &Functions, connections: &InProcessSockets, serving: JoinHandle<()>) {
    connections.close_all();
    let ended = async {
        functions.idle().await;
        connections.all_written().await;
        serving.await
    };
    let _ = timeout(SHUTDOWN_LIMIT, ended).await;
}

fn new_store(
    flags: &Flags,
    database: Arc<dyn Database>,
    ids: Arc<RandomIds>,
) -> Result<Store, String> {
    let traces = flags.otlp()?.map(|_| Arc::new(trace::current_or_new) as CurrentTrace);
    Ok(Store::on(database, flags.keep_runs.0, Arc::new(move || ids.random()))
        .with_append_limit(flags.is_rate_limited().then_some(AppendLimit::SPACE))
        .with_budget(flags.budget_cost_per_day)
        .with_prices(flags.prices()?)
        .with_file_limits(flags.file_limits())
        .with_router_model(flags.router_model()?.is_some())
        .with_traces(traces))
}

fn new_queues() -> Queues {
    Queues {
        runs: InProcessQueue::new("runs"),
        broadcasts: InProcessQueue::new("broadcasts"),
        triggers: InProcessQueue::new("triggers"),
    }
}

/// The given key, the key in the data folder, or a new one.
fn admin_key(flags: &Flags, folder: Option<&DataFolder>, ids: RandomIds) -> Result<String, String> {
    let new_key = || format!("{:032x}", ids.random());
    match (&flags.admin_key, folder) {
        (Some(key), _) => Ok(key.clone()),
        (None, Some(folder)) => folder.admin_key(new_key),
        (None, None) => Ok(new_key()),
    }
}

fn new_pipeline(
    flags: &Flags,
    store: Store,
    files: FileFolder,
    queues: &Queues,
    ids: Arc<RandomIds>,
) -> Pipeline {
    let clock = Arc::new(SystemClock);
    Pipeline {
        store,
        runs: queues.runs.clone(),
        broadcasts: queues.broadcasts.clone(),
        triggers: queues.triggers.clone(),
        alarms: Arc::new(InProcessAlarms::new(queues.triggers.clone(), clock.clone())),
        cancel_signal: Arc::new(InProcessCancelSignal::default()),
        clock,
        files: Arc::new(files),
        ids,
        is_rate_limited: flags.is_rate_limited(),
    }
}

/// Queues the work that an earlier process left.
async fn resume(sweep: &Sweep) -> Result<(), String> {
    let found = sweep
        .restart()
        .await
        .map_err(|error| format!("unfinished work could not be read: {error}"))?;
    if found > 0 {
        tracing::info!(found, "resuming unfinished work");
    }
    Ok(())
}

fn new_router(
    flags: &Flags,
    addresses: &Addresses,
    pipeline: &Pipeline,
    connections: &Arc<InProcessSockets>,
    key: &str,
    secrets: Arc<FixedSecrets>,
) -> Result<Router, String> {
    let api = Api {
        pipeline: pipeline.clone(),
        admin_key: AdminKey::new(key),
        callback_key: CallbackKey::of_secret(key),
        tokens: flags.tokens()?,
        egress: Egress::new(Arc::new(SystemResolver), flags.tool_hosts()?, secrets.clone()),
        secrets,
        public_address: addresses.public.clone(),
        socket_url: SocketUrl::Under(socket_server::PATH),
        cors_origins: flags.cors_origins.clone(),
        router_model: flags.router_model()?,
        providers: Arc::new(flags.providers()?),
        model_servers: Arc::new(HttpModelServers(functions::http_client()?)),
        invites: flags.invites,
    };
    let server = SocketServer {
        socket: Socket {
            pipeline: pipeline.clone(),
            sockets: connections.clone(),
            call_limits: CallLimits::DEFAULT,
        },
        connections: connections.clone(),
        ids: pipeline.ids.clone(),
        origins: addresses.origins.clone(),
        limits: flags.time_limits,
    };
    let protocols = smartspace_protocols::router(Settings {
        api_url: addresses.own.clone(),
        public_address: addresses.public.clone(),
        origins: addresses.origins.clone(),
        issuer: flags.jwt_issuer.clone().filter(|issuer| !issuer.is_empty()),
        call_limits: CallLimits::DEFAULT,
    });
    Ok(smartspace_api::router(api, socket_server::router(server).merge(protocols)))
}

/// The routes that upload and download files. They take longer bodies than the API.
fn file_server(
    flags: &Flags,
    addresses: &Addresses,
    pipeline: &Pipeline,
    folder: FileFolder,
) -> Router {
    let server = FileServer {
        folder,
        clock: pipeline.clock.clone(),
        announced: Arc::new(pipeline.store.clone()),
        triggers: pipeline.triggers.clone(),
        limits: flags.time_limits,
        uploads: Uploads::default(),
    };
    let routes = file_folder::server::router(server);
    with_middleware(routes, pipeline.ids.clone(), &addresses.origins)
}

/// All routes, with the limits of what they take from clients.
fn bounded(flags: &Flags, address: SocketAddr, routes: Router, files: Router) -> Router {
    if !address.ip().is_loopback() && flags.public_url.is_none() {
        tracing::warn!(
            "listening on the network without --public-url: requests for any host are answered, \
             and addresses in answers name the host of the request"
        );
    }
    let limits = flags.time_limits;
    let in_memory = from_fn_with_state(Bodies::in_memory(limits), bodies::limit);
    let on_disk = from_fn_with_state(Bodies::on_disk(limits), bodies::limit);
    let hosts = Hosts::of(address, flags.public_url.as_deref());
    routes
        .layer(in_memory)
        .merge(files.layer(on_disk))
        .layer(from_fn_with_state(hosts, hosts::check))
}

async fn sweep_for_ever(sweep: Sweep) {
    let mut ticks = interval(SWEEP_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        match sweep.handle().await {
            Ok(0) => {}
            Ok(found) => tracing::debug!(found, "resumed overdue work"),
            Err(error) => tracing::error!(%error, "overdue work could not be read"),
        }
    }
}

/// Starts what a table needs from time to time.
fn keep_table(
    delete_expired: Arc<dyn Fn() -> Result<(), String> + Send + Sync>,
    path: Option<&Path>,
) -> Result<(), String> {
    let problem = "expired items could not be deleted";
    tokio::spawn(do_for_ever(EXPIRY_INTERVAL, problem, move || delete_expired()));
    if let Some(path) = path {
        let problem = "the table's log could not be copied";
        let checkpoints = Arc::new(Checkpoints::of(path)?);
        tokio::spawn(do_for_ever(CHECKPOINT_INTERVAL, problem, move || checkpoints.make()));
    }
    Ok(())
}

/// Does work that blocks, at each interval. `problem` says what it means if that fails.
async fn do_for_ever(
    every: Duration,
    problem: &'static str,
    work: impl Fn() -> Result<(), String> + Clone + Send + 'static,
) {
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let done = tokio::task::spawn_blocking(work.clone()).await;
        if let Err(error) = done.map_err(|error| error.to_string()).flatten() {
            tracing::error!(%error, "{problem}");
        }
    }
}

/// Waits for SIGTERM or SIGINT.
async fn wait_for_signal() -> Result<(), String> {
    let failed = |error: std::io::Error| format!("signals can't be received: {error}");
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    tokio::select! {
        _ = terminate.recv() => Ok(()),
        interrupted = tokio::signal::ctrl_c() => interrupted.map_err(failed),
    }
}
