//! One process: the six functions on their own way to the outside, with their own memory.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use axum::Router;
use smartspace::embedded_table::{NAME, client_on};
use smartspace_api::{AdminKey, Api, SocketUrl, Tokens};
use smartspace_broadcast::Broadcast;
use smartspace_domain::Time;
use smartspace_edges::{
    bell::{Bell, NoBell},
    clock::Clock,
    ids::Ids,
    secrets::{FixedSecrets, KnownSecrets, Secret},
};
use smartspace_egress::Egress;
use smartspace_pipeline::Pipeline;
use smartspace_run::Runs;
use smartspace_socket::Socket;
use smartspace_store::Store;
use smartspace_sweep::Sweep;
use smartspace_trigger::Triggers;
use tokio::sync::watch;

use crate::{
    alarms::SimAlarms, life::Life, model::SimModel, outside::SimWire, queue::QueueOf, sockets::SimSockets, table::SimTable, world::World,
};

/// The operator's key.
pub const ADMIN_KEY: &str = "the-operator-of-the-simulation";
/// What people's tokens are signed with.
pub const JWT_SECRET: &str = "thirty-two bytes and a few more of the simulation";

/// What services sign with: each secret by its name.
pub const SERVICE_SECRETS: [(&str, &str); 2] =
    [("SHOP", "whsec_dGhlIHNob3Agb2YgdGhlIHNpbXVsYXRpb24="), ("FORGE", "the forge of the simulation")];

static SECRETS: LazyLock<Arc<KnownSecrets>> = LazyLock::new(|| {
    let secrets =
        SERVICE_SECRETS.iter().filter_map(|(name, value)| Some(((*name).to_owned(), Secret::new((*value).to_owned(), None).ok()?)));
    Arc::new(KnownSecrets::new(secrets.collect::<BTreeMap<_, _>>()))
});

/// One process.
pub struct Process {
    /// Whether it lives.
    pub life: Arc<Life>,
    /// The HTTP door.
    pub api: Router,
    /// The WebSocket door.
    pub socket: Socket,
    /// Works on runs.
    pub runs: Runs,
    /// Wakes many.
    pub triggers: Triggers,
    /// Tells browsers.
    pub broadcast: Broadcast,
    /// Looks for what is overdue.
    pub sweep: Sweep,
    /// Tells its workers that it ends.
    pub stopping: watch::Sender<bool>,
}

impl Process {
    /// A fresh one, which knows nothing.
    pub fn start(world: &Arc<World>, name: String) -> Arc<Self> {
        let life = Arc::new(Life::new(name));
        let numbers: Arc<dyn Ids> = Arc::new(SimIds { world: Arc::clone(world), place: format!("{}/ids", life.name) });
        let jitter = Arc::clone(&numbers);
        let client = client_on(SimTable::new(Arc::clone(world), Arc::clone(&life)));
        let store = Store::new(client, NAME, None, Arc::new(move || jitter.random()));
        let clock: Arc<dyn Clock> = Arc::new(SimClock(Arc::clone(world)));
        let bell: Arc<dyn Bell> =
            if world.plan.local { Arc::new(smartspace::in_process_bell::InProcessBell::default()) } else { Arc::new(NoBell) };
        let pipeline = Pipeline {
            store: store.clone(),
            runs: Arc::new(QueueOf { world: Arc::clone(world), life: Arc::clone(&life), queue: Arc::clone(&world.runs) }),
            broadcasts: Arc::new(QueueOf { world: Arc::clone(world), life: Arc::clone(&life), queue: Arc::clone(&world.broadcasts) }),
            triggers: Arc::new(QueueOf { world: Arc::clone(world), life: Arc::clone(&life), queue: Arc::clone(&world.triggers) }),
            alarms: Arc::new(SimAlarms { world: Arc::clone(world), life: Arc::clone(&life) }),
            bell,
            clock: Arc::clone(&clock),
            ids: numbers,
            is_rate_limited: false,
        };
        let sockets = Arc::new(SimSockets { world: Arc::clone(world), life: Arc::clone(&life) });
        let models = Arc::new(SimModel { world: Arc::clone(world), life: Arc::clone(&life) });
        let wire = Arc::new(SimWire { world: Arc::clone(world), life: Arc::clone(&life) });
        let egress = Egress::over(wire, Arc::new(FixedSecrets::default()));
        let api = Api {
            pipeline: pipeline.clone(),
            admin_key: AdminKey::new(ADMIN_KEY),
            tokens: Tokens::signed_with(JWT_SECRET, false).ok(),
            secrets: Arc::new(FixedSecrets(Arc::clone(&SECRETS))),
            socket_url: SocketUrl::OfHost("/v1/socket"),
            cors_origins: Vec::new(),
        };
        let (stopping, told) = watch::channel(false);
        Arc::new(Self {
            life,
            api: smartspace_api::router(api, Router::new()),
            socket: Socket { pipeline: pipeline.clone(), sockets: sockets.clone() },
            runs: Runs::new(pipeline.clone(), sockets.clone(), models, egress, Arc::default(), told),
            triggers: Triggers { pipeline: pipeline.clone() },
            broadcast: Broadcast { store, sockets, clock },
            sweep: Sweep { pipeline },
            stopping,
        })
    }
}

/// The wall clock: the virtual one, and what it jumped.
struct SimClock(Arc<World>);

impl Clock for SimClock {
    fn now(&self) -> Time {
        self.0.wall()
    }
}

/// Random numbers of one process.
struct SimIds {
    world: Arc<World>,
    place: String,
}

impl Ids for SimIds {
    fn random(&self) -> u128 {
        let half = || u128::from(self.world.chance.number(&self.place));
        (half() << 64) | half()
    }
}
