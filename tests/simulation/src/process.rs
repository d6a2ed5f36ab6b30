//! One process: the functions with their own memory and their own ports.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
    time::Duration,
};

use axum::Router;
use smartspace_api::{AdminKey, Api, PublicAddress, SocketUrl, Tokens};
use smartspace_broadcast::Broadcast;
use smartspace_domain::{
    Time,
    attachments::{ByteLimit, FileLimits},
    budgets::DailyLimit,
    callbacks::CallbackKey,
    limits::CallLimits,
};
use smartspace_egress::Egress;
use smartspace_embedded_table::{NAME, client_on};
use smartspace_pipeline::Pipeline;
use smartspace_ports::{
    cancel_signal::{CancelSignal, NoCancelSignal},
    clock::Clock,
    ids::IdSource,
    model_servers::NoServers,
    secrets::{FixedSecrets, KnownSecrets, Secret},
    sockets::PostPermits,
};
use smartspace_run::{Callbacks, RunJobHandler};
use smartspace_socket::Socket;
use smartspace_store::{
    Store,
    table::{database::Database, dynamodb::DynamoDb},
};
use smartspace_sweep::Sweep;
use smartspace_trigger::{Triggers, router::Routers};
use tokio::sync::watch;

use crate::{
    env::Env,
    parameters::BudgetOf,
    ports::{
        alarms::SimAlarms, files::SimFiles, model::SimModel, queue::ProcessQueue,
        sockets::SimSockets, table::SimTable, transport::SimTransport,
    },
    process_life::{ClockError, ProcessLife},
    recorder::Recorder,
    webhooks,
};

pub const ADMIN_KEY: &str = "the-operator-of-the-simulation";
/// All files together have a limit, so that they are counted, and have room.
const FILE_LIMITS: FileLimits =
    FileLimits { in_all: ByteLimit(Some(1024 * 1024)), ..FileLimits::DEFAULT };
/// How long ended runs are stored.
const RETENTION: Duration = Duration::from_hours(30 * 24);
/// The secret that signs people's tokens.
pub const JWT_SECRET: &str = "thirty-two bytes and a few more of the simulation";

/// The names and values of the secrets that sign webhooks.
pub const SERVICE_SECRETS: [(&str, &str); 2] = [
    ("SHOP", "whsec_dGhlIHNob3Agb2YgdGhlIHNpbXVsYXRpb24="),
    ("FORGE", "the forge of the simulation"),
];

static SECRETS: LazyLock<Arc<KnownSecrets>> = LazyLock::new(|| {
    let secrets = SERVICE_SECRETS.iter().chain([&webhooks::SECRET]).filter_map(|(name, value)| {
        Some(((*name).to_owned(), Secret::new((*value).to_owned(), None).ok()?))
    });
    Arc::new(KnownSecrets::new(secrets.collect::<BTreeMap<_, _>>()))
});

/// One process.
pub struct Process {
    /// Whether it is alive.
    pub life: Arc<ProcessLife>,
    pub api: Router,
    pub socket: Socket,
    pub runs: RunJobHandler,
    pub triggers: Triggers,
    pub broadcast: Broadcast,
    pub sweep: Sweep,
    /// Tells its workers that the process shuts down.
    pub stopping: watch::Sender<bool>,
}

impl Process {
    /// Starts a process with empty memory.
    pub fn start(env: &Arc<Env>, name: String) -> Arc<Self> {
        let clock = clock_error(env, &name);
        let life = Arc::new(ProcessLife::with_clock(name, clock));
        let pipeline = pipeline(env, &life);
        let store = pipeline.store.clone();
        let clock = Arc::clone(&pipeline.clock);
        let sockets = Arc::new(SimSockets {
            env: Arc::clone(env),
            life: Arc::clone(&life),
            post_permits: PostPermits::default(),
        });
        let models = Arc::new(SimModel { env: Arc::clone(env), life: Arc::clone(&life) });
        let routers = Routers::new(models.clone(), Arc::default(), None);
        let transport = Arc::new(SimTransport { env: Arc::clone(env), life: Arc::clone(&life) });
        let egress = Egress::over(transport, Arc::new(FixedSecrets(Arc::clone(&SECRETS))));
        let api = Api {
            invites: smartspace_domain::invites::InvitePolicy::Guests,
            pipeline: pipeline.clone(),
            admin_key: AdminKey::new(ADMIN_KEY),
            callback_key: CallbackKey::of_secret(ADMIN_KEY),
            tokens: Tokens::signed_with(JWT_SECRET, false).ok(),
            secrets: Arc::new(FixedSecrets(Arc::clone(&SECRETS))),
            public_address: PublicAddress::OfHost,
            socket_url: SocketUrl::Under("/v1/socket"),
            cors_origins: Vec::new(),
            router_model: None,
            providers: Arc::default(),
            model_servers: Arc::new(NoServers),
            egress: egress.clone(),
        };
        let (stopping, is_stopping) = watch::channel(false);
        Arc::new(Self {
            life,
            api: smartspace_api::router(api, Router::new()),
            // Callers over HTTP have no rate limit, which would only slow the histories down.
            socket: Socket {
                pipeline: Pipeline { is_rate_limited: true, ..pipeline.clone() },
                sockets: sockets.clone(),
                call_limits: CallLimits::DEFAULT,
            },
            runs: RunJobHandler::new(
                pipeline.clone(),
                sockets.clone(),
                models,
                egress,
                Arc::default(),
                Callbacks {
                    key: CallbackKey::of_secret(ADMIN_KEY),
                    api_url: "https://smartspace.example".into(),
                },
                is_stopping,
            ),
            triggers: Triggers { pipeline: pipeline.clone(), routers, traces: None },
            broadcast: Broadcast { store, sockets, clock, queue: Arc::clone(&pipeline.broadcasts) },
            sweep: Sweep { pipeline },
            stopping,
        })
    }
}

/// The pipeline of one process, with its own store and ports.
fn pipeline(env: &Arc<Env>, life: &Arc<ProcessLife>) -> Pipeline {
    let ids: Arc<dyn IdSource> =
        Arc::new(SimIds { env: Arc::clone(env), place: format!("{}/ids", life.name) });
    let jitter = Arc::clone(&ids);
    let client = client_on(SimTable::new(Arc::clone(env), Arc::clone(life)));
    let table = DynamoDb::new(client, NAME);
    let database: Arc<dyn Database> = match &env.recording {
        Some(recording) => Arc::new(Recorder::new(table, Arc::clone(recording))),
        None => Arc::new(table),
    };
    let cancel_signal: Arc<dyn CancelSignal> = if env.parameters.local {
        Arc::new(smartspace::in_process_cancel_signal::InProcessCancelSignal::default())
    } else {
        Arc::new(NoCancelSignal)
    };
    Pipeline {
        store: Store::on(database, Some(RETENTION), Arc::new(move || jitter.random()))
            .with_append_limit(Some(env.parameters.append_limit))
            .with_room_limits(env.parameters.room_limits)
            .with_empty_spaces_kept(env.parameters.empty_spaces_kept)
            .with_file_limits(FILE_LIMITS)
            .with_budget(DailyLimit {
                tokens: env.parameters.budget.and_then(|budget| budget.of(BudgetOf::Deployment)),
                nanodollars: None,
            }),
        runs: Arc::new(ProcessQueue {
            env: Arc::clone(env),
            life: Arc::clone(life),
            queue: Arc::clone(&env.runs),
        }),
        broadcasts: Arc::new(ProcessQueue {
            env: Arc::clone(env),
            life: Arc::clone(life),
            queue: Arc::clone(&env.broadcasts),
        }),
        triggers: Arc::new(ProcessQueue {
            env: Arc::clone(env),
            life: Arc::clone(life),
            queue: Arc::clone(&env.triggers),
        }),
        alarms: Arc::new(SimAlarms { env: Arc::clone(env), life: Arc::clone(life) }),
        cancel_signal,
        clock: Arc::new(SimClock { env: Arc::clone(env), life: Arc::clone(life) }),
        files: Arc::new(SimFiles { env: Arc::clone(env), life: Arc::clone(life) }),
        ids,
        is_rate_limited: false,
    }
}

/// How the clock of a new process differs from the wall clock: by a constant, or by more and more.
fn clock_error(env: &Env, name: &str) -> ClockError {
    let most = env.parameters.clock_spread.as_millis() as i64;
    if most == 0 {
        return ClockError::default();
    }
    let place = format!("{name}/clock");
    let ahead = env.chance.below(&place, 2 * most as u64 + 1) as i64 - most;
    let gains = [0, 0, -10, 10][env.chance.below(&place, 4) as usize];
    env.history.note(name, || {
        format!("has a clock that is {ahead} ms ahead and gains {gains} ms a second")
    });
    ClockError { ahead, gains, most }
}

/// The clock of one process.
struct SimClock {
    env: Arc<Env>,
    life: Arc<ProcessLife>,
}

impl Clock for SimClock {
    fn now(&self) -> Time {
        self.env.clock_of(&self.life)
    }
}

/// The random numbers of one process.
struct SimIds {
    env: Arc<Env>,
    place: String,
}

impl IdSource for SimIds {
    fn random(&self) -> u128 {
        let half = || u128::from(self.env.chance.number(&self.place));
        (half() << 64) | half()
    }
}
