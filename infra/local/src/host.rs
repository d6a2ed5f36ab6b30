//! Builds everything, serves, and ends.

use std::{io::Write, sync::Arc, time::Duration};

use aws_config::BehaviorVersion;
use futures::FutureExt;
use smartspace_api::{AdminKey, Api, SocketUrl};
use smartspace_broadcast::Broadcast;
use smartspace_domain::jobs::{BroadcastJob, RunJob, TriggerJob};
use smartspace_edges::{
    clock::SystemClock,
    ids::{Ids, RandomIds},
    names::SystemNames,
    queues::Held,
    secrets::FixedSecrets,
    sockets::Sockets,
};
use smartspace_egress::Egress;
use smartspace_models::{Models, Settings, bedrock::Bedrock, http, limits::Limits};
use smartspace_pipeline::Pipeline;
use smartspace_run::{Runs, counted::Counted};
use smartspace_socket::Socket;
use smartspace_store::{Store, schema};
use smartspace_sweep::Sweep;
use smartspace_trigger::Triggers;
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    sync::watch,
    time::{MissedTickBehavior, interval, timeout},
};

use crate::{
    data_folder::DataFolder,
    demo,
    embedded_table::{EmbeddedTable, NAME},
    flags::Flags,
    in_process_alarms::InProcessAlarms,
    in_process_bell::InProcessBell,
    in_process_queue::InProcessQueue,
    in_process_sockets::InProcessSockets,
    socket_server::{self, SocketServer},
    web_server,
};

/// Runs side by side; a run mostly waits, for its model or for a tool, and who waits must not keep others from being answered.
const RUNS_AT_ONCE: usize = 1_000;
/// Broadcasts side by side.
const BROADCASTS_AT_ONCE: usize = 64;
/// Triggers side by side.
const TRIGGERS_AT_ONCE: usize = 16;
/// How often what is overdue is looked for.
const SWEPT_EVERY: Duration = Duration::from_secs(1);
/// How often what has expired is dropped.
const DROPPED_EVERY: Duration = Duration::from_mins(1);
/// How long runs and requests have to come to an end; the promise is two seconds.
const ENDS_WITHIN: Duration = Duration::from_millis(1_200);

/// Runs the product until the process is told to end.
pub(crate) async fn run(flags: Flags) -> Result<(), String> {
    let ids = Arc::new(RandomIds);
    let folder = if flags.in_memory() { None } else { Some(DataFolder::open(&flags.data)?) };
    let new_key = || format!("{:032x}", ids.random());
    let key = match (&flags.admin_key, &folder) {
        (Some(key), _) => key.clone(),
        (None, Some(folder)) => folder.admin_key(new_key)?,
        (None, None) => new_key(),
    };
    let listener = TcpListener::bind(flags.listen)
        .await
        .map_err(|error| format!("{} can't be listened on: {error}; --listen chooses another address", flags.listen))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;

    let table = match &folder {
        Some(folder) => EmbeddedTable::open(&folder.table())?,
        None => EmbeddedTable::in_memory()?,
    };
    let client = table.client();
    schema::create_table(&client, NAME).await.map_err(|error| error.to_string())?;
    let jitter = Arc::clone(&ids);
    let store = Store::new(client, NAME, flags.keep_runs.0, Arc::new(move || jitter.random()));

    let (runs, broadcasts, triggers) = (InProcessQueue::new("runs"), InProcessQueue::new("broadcasts"), InProcessQueue::new("triggers"));
    let clock = Arc::new(SystemClock);
    let pipeline = Pipeline {
        store,
        runs: runs.clone(),
        broadcasts: broadcasts.clone(),
        triggers: triggers.clone(),
        alarms: Arc::new(InProcessAlarms::new(triggers.clone(), clock.clone())),
        bell: Arc::new(InProcessBell::default()),
        clock,
        ids,
        is_rate_limited: flags.is_rate_limited(),
    };
    if !flags.no_demo {
        demo::make(&pipeline).await.map_err(|error| format!("the demo could not be made: {error}"))?;
    }
    let sweep = Sweep { pipeline: pipeline.clone() };
    let found = sweep.restart().await.map_err(|error| format!("what was left could not be read: {error}"))?;
    if found > 0 {
        tracing::info!(found, "going on with what was left");
    }

    let connections = Arc::new(InProcessSockets::default());
    let (stop, stopping) = watch::channel(false);
    let secrets = Arc::new(FixedSecrets(Arc::new(flags.secrets()?)));
    let functions = Functions::new(&flags, &pipeline, &connections, secrets.clone(), stopping.clone())?;
    functions.deliver(runs, broadcasts, triggers);
    tokio::spawn(sweep_for_ever(sweep));
    tokio::spawn(drop_for_ever(table));

    let api = Api {
        pipeline: pipeline.clone(),
        admin_key: AdminKey::new(&key),
        tokens: flags.tokens()?,
        secrets,
        socket_url: SocketUrl::OfHost(socket_server::PATH),
        cors_origins: flags.cors_origins.clone(),
    };
    let socket = Socket { pipeline: pipeline.clone(), sockets: connections.clone() };
    let server = SocketServer { socket, connections: connections.clone(), ids: pipeline.ids.clone(), origins: flags.cors_origins };
    let app = smartspace_api::router(api, socket_server::router(server));
    let serving = tokio::spawn(web_server::serve(listener, app, stopping));
    // Nobody may be there to read it.
    let _ = writeln!(std::io::stdout(), "Smartspace is ready: http://{address}/#key={key}");

    told_to_end().await?;
    tracing::info!("ending");
    let _ = stop.send(true);
    connections.close_all();
    let _ = timeout(ENDS_WITHIN, async {
        functions.idle().await;
        serving.await
    })
    .await;
    Ok(())
}

/// The functions behind the queues.
struct Functions {
    runs: Arc<Runs>,
    broadcast: Broadcast,
    triggers: Triggers,
    working: watch::Sender<usize>,
}

impl Functions {
    fn new(
        flags: &Flags,
        pipeline: &Pipeline,
        connections: &Arc<InProcessSockets>,
        secrets: Arc<FixedSecrets>,
        stopping: watch::Receiver<bool>,
    ) -> Result<Self, String> {
        let http = http::client().build().map_err(|error| format!("no HTTP client: {error}"))?;
        let settings = Settings {
            openai_key: flags.openai_key.clone(),
            openai_base_url: flags.openai_base_url.clone(),
            anthropic_key: flags.anthropic_key.clone(),
            anthropic_base_url: flags.anthropic_base_url.clone(),
            // As AWS's own tools would find them in the environment and in `~/.aws`.
            bedrock: Bedrock::lazily(|| aws_config::load_defaults(BehaviorVersion::latest()).boxed()),
            limits: Limits::default(),
            http,
        };
        let egress = Egress::new(Arc::new(SystemNames), flags.tool_hosts()?, secrets);
        let sockets: Arc<dyn Sockets> = connections.clone();
        Ok(Self {
            runs: Arc::new(Runs::new(
                pipeline.clone(),
                sockets.clone(),
                Arc::new(Models::new(settings)),
                egress,
                Arc::clone(&flags.prices),
                stopping,
            )),
            broadcast: Broadcast { store: pipeline.store.clone(), sockets, clock: pipeline.clock.clone() },
            triggers: Triggers { pipeline: pipeline.clone() },
            working: watch::channel(0).0,
        })
    }

    fn deliver(
        &self,
        runs: Arc<InProcessQueue<RunJob>>,
        broadcasts: Arc<InProcessQueue<BroadcastJob>>,
        triggers: Arc<InProcessQueue<TriggerJob>>,
    ) {
        let (function, working) = (self.runs.clone(), self.working.clone());
        tokio::spawn(runs.deliver(RUNS_AT_ONCE, move |job| {
            let (function, working) = (function.clone(), Counted::new(working.clone()));
            async move {
                let _working = working;
                function.handle(&job, &Held).await
            }
        }));
        let function = self.broadcast.clone();
        tokio::spawn(broadcasts.deliver(BROADCASTS_AT_ONCE, move |job| {
            let function = function.clone();
            async move { function.handle(&job).await }
        }));
        let function = self.triggers.clone();
        tokio::spawn(triggers.deliver(TRIGGERS_AT_ONCE, move |job| {
            let function = function.clone();
            async move { function.handle(&job).await }
        }));
    }

    /// Waits until nobody works on a run.
    async fn idle(&self) {
        let mut working = self.working.subscribe();
        let _ = working.wait_for(|working| *working == 0).await;
    }
}

async fn sweep_for_ever(sweep: Sweep) {
    let mut ticks = interval(SWEPT_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        match sweep.handle().await {
            Ok(0) => {}
            Ok(found) => tracing::debug!(found, "went on with what was due"),
            Err(error) => tracing::error!(%error, "could not look for what is overdue"),
        }
    }
}

async fn drop_for_ever(table: EmbeddedTable) {
    let mut ticks = interval(DROPPED_EVERY);
    loop {
        ticks.tick().await;
        let table = table.clone();
        match tokio::task::spawn_blocking(move || table.drop_expired()).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::error!(%error, "could not drop what has expired"),
            Err(error) => tracing::error!(%error, "could not drop what has expired"),
        }
    }
}

async fn told_to_end() -> Result<(), String> {
    let mut terminate = signal(SignalKind::terminate()).map_err(|error| format!("no signals: {error}"))?;
    tokio::select! {
        _ = terminate.recv() => Ok(()),
        interrupted = tokio::signal::ctrl_c() => interrupted.map_err(|error| format!("no signals: {error}")),
    }
}
