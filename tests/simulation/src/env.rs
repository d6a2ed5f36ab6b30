//! The environment of every simulated part: the parameters of the seed, the virtual clock, the
//! random numbers, the log, and the state that outlives a process.
//!
//! `calls` injects faults into the calls of processes.

mod calls;

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use smartspace_domain::{
    Time,
    jobs::{BroadcastJob, RunJob, TriggerJob},
};
use smartspace_models::port::Model;
use smartspace_ports::files::MemoryFiles;
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    time::Instant,
};

use crate::{
    chance::Chance,
    conditions::{Clause, Conditions},
    connections::{Connections, Latecomer},
    history::History,
    input::Input,
    ledger::Ledger,
    locked,
    mutants::Mutant,
    parameters::Parameters,
    partitions::Partitions,
    process_life::ProcessLife,
    queue::SimQueue,
    recorder::Recording,
    storage::Storage,
    webhooks::Webhook,
};

/// The wall clock at the beginning.
const START_OF_CLOCK: i64 = 1_795_000_000_000;
/// How long a delivered job is hidden.
const VISIBILITY_TIMEOUT: Duration = Duration::from_mins(1);
/// How long a delivered run is hidden, unless its worker prolongs that.
const RUN_VISIBILITY_TIMEOUT: Duration = Duration::from_mins(15);
/// A local host owns its queues: no delivered job comes back while its process lives.
const NEVER: Duration = Duration::from_hours(10);

/// One deployment without its processes.
pub struct Env {
    /// The parameters of the seed.
    pub parameters: Parameters,
    /// The mutant to play with.
    pub mutant: Option<Mutant>,
    /// The clause that a mutant drops from the product's conditions.
    pub dropped: Option<Clause>,
    /// The conditions of the product's writes.
    pub conditions: Conditions,
    /// Actions that are left out.
    pub skipped: BTreeSet<(usize, usize)>,
    /// All random numbers and faults.
    pub chance: Chance,
    pub history: History,
    pub storage: Storage,
    /// The calls of the store, if they are recorded.
    pub recording: Option<Recording>,
    /// The limits of the table's partitions, if it has any.
    pub partitions: Option<Partitions>,
    pub runs: Arc<SimQueue<RunJob>>,
    pub broadcasts: Arc<SimQueue<BroadcastJob>>,
    pub triggers: Arc<SimQueue<TriggerJob>>,
    pub files: MemoryFiles,
    pub connections: Connections,
    /// The connections that joined an answer in the middle.
    pub latecomers: Mutex<Vec<Latecomer>>,
    /// Where webhooks of remote agents arrive.
    pub webhooks: UnboundedSender<Webhook>,
    /// The webhooks that wait to be answered.
    pub arriving: Mutex<Option<UnboundedReceiver<Webhook>>>,
    /// The records that the oracle needs.
    pub ledger: Mutex<Ledger>,
    /// The model that agents ask instead of one that answers at random, if a test has its own.
    pub model: OnceLock<Arc<dyn Model>>,
    /// The exact latency of every call, in tests that count calls.
    pub fixed_latency: Option<Duration>,
    begun: Instant,
    calm: Mutex<Option<Instant>>,
    /// Milliseconds that the wall clock has jumped.
    jumped: AtomicI64,
    steps: AtomicU64,
}

impl Env {
    /// A new environment with the given parameters. It begins in a calm phase.
    pub fn new(
        input: &Input,
        parameters: Parameters,
        chance: Chance,
        fixed_latency: Option<Duration>,
    ) -> Result<Arc<Self>, String> {
        chance.set_calm(true);
        let (hidden, run_hidden) = if parameters.local {
            (NEVER, NEVER)
        } else {
            (VISIBILITY_TIMEOUT, RUN_VISIBILITY_TIMEOUT)
        };
        let (webhooks, arriving) = unbounded_channel();
        Ok(Arc::new(Self {
            connections: Connections::new(parameters.local),
            partitions: parameters.partition_limits.map(Partitions::new),
            parameters,
            mutant: input.mutant,
            dropped: input.dropped.clone(),
            conditions: Conditions::new(input.finds_deciding),
            skipped: input.skipped.clone(),
            chance,
            history: History::new(input.history),
            storage: Storage::new(input.later_version, input.samples)?,
            recording: input.records_calls.then(Recording::default),
            runs: SimQueue::new("runs", run_hidden),
            broadcasts: SimQueue::new("broadcasts", hidden),
            triggers: SimQueue::new("triggers", hidden),
            files: MemoryFiles::default(),
            latecomers: Mutex::default(),
            webhooks,
            arriving: Mutex::new(Some(arriving)),
            ledger: Mutex::default(),
            model: OnceLock::new(),
            fixed_latency,
            begun: Instant::now(),
            calm: Mutex::default(),
            jumped: AtomicI64::new(0),
            steps: AtomicU64::new(0),
        }))
    }

    pub fn wall(&self) -> Time {
        Time::from_millis(
            START_OF_CLOCK
                + self.begun.elapsed().as_millis() as i64
                + self.jumped.load(Ordering::Relaxed),
        )
    }

    /// The clock of a process.
    pub fn clock_of(&self, life: &ProcessLife) -> Time {
        Time::from_millis(self.wall().as_millis() + life.clock_error())
    }

    /// The number of calls of all kinds, each of which a fault could have struck.
    pub fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    /// The next time at a whole multiple of `every` after the beginning.
    pub fn next(&self, every: Duration) -> Instant {
        let passed = self.begun.elapsed().as_millis() as u64 / every.as_millis() as u64;
        self.begun + every * (passed as u32 + 1)
    }

    /// Begins the calm phase: no further fault strikes.
    pub fn begin_calm(&self) {
        self.history.note("deployment", || "is calm from now on".into());
        self.chance.set_calm(true);
        *locked(&self.calm) = Some(Instant::now());
        let ledger = &mut locked(&self.ledger);
        ledger.due_in_calm = self.storage.plans_due();
        ledger.wall_in_calm = Some(self.wall());
    }

    /// Sets the wall clock. Virtual time does not pass.
    pub fn set_clock(&self, at: Time) {
        self.history.note("clock", || format!("is set to {at}"));
        self.jumped.fetch_add(at.as_millis() - self.wall().as_millis(), Ordering::Relaxed);
    }

    /// When the calm phase began.
    pub fn calm_since(&self) -> Option<Instant> {
        *locked(&self.calm)
    }

    /// How many jobs failed again and again in the calm phase.
    pub fn died_in_calm(&self) -> usize {
        self.runs.died_in_calm() + self.triggers.died_in_calm() + self.broadcasts.died_in_calm()
    }

    /// Records a violation. `promise` 0 stands for an internal error.
    pub fn report(&self, promise: u8, text: String) {
        self.history.note("oracle", || format!("promise {promise}: {text}"));
        locked(&self.ledger).violations.insert((promise, text));
    }
}
