//! One simulated deployment, from its first message to the calm at its end.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use smartspace_domain::{
    Error, Time,
    jobs::{BroadcastJob, RunJob, TriggerJob},
};
use smartspace_edges::queues::Held;
use tokio::time::{Instant, sleep, timeout_at};

use crate::{
    chance::Chance,
    history::History,
    ledger::Ledger,
    life::Life,
    locked,
    plan::{Plan, Setup},
    planted::Planted,
    process::Process,
    queue::SimQueue,
    sockets::Connections,
    storage::Storage,
};

/// Where the wall clock begins.
const MORNING: i64 = 1_795_000_000_000;
/// How often `sweep` is called on AWS.
const MINUTE: Duration = Duration::from_mins(1);
/// How often here where there is one process. The local host does it each second, which would only be a lot of the same.
const SWEPT: Duration = Duration::from_secs(10);
/// For how long an ordinary job that was delivered is hidden.
const HIDDEN: Duration = Duration::from_mins(1);
/// For how long a run that was delivered is hidden, until its worker says otherwise.
const RUN_HIDDEN: Duration = Duration::from_mins(15);
/// One process has its queues for itself: nothing comes back while it lives.
const NEVER: Duration = Duration::from_hours(10);

/// One simulated deployment.
pub struct World {
    /// What it is like.
    pub plan: Plan,
    /// A mistake that is planted on purpose.
    pub planted: Option<Planted>,
    /// What people are not to do.
    pub undone: BTreeSet<(usize, usize)>,
    /// Everything that is left to chance.
    pub chance: Chance,
    /// What happened.
    pub history: History,
    /// What is kept.
    pub storage: Storage,
    /// Runs to be worked on.
    pub runs: Arc<SimQueue<RunJob>>,
    /// What browsers are told.
    pub broadcasts: Arc<SimQueue<BroadcastJob>>,
    /// What takes longer.
    pub triggers: Arc<SimQueue<TriggerJob>>,
    /// The connections.
    pub connections: Connections,
    /// What clients sent and were told, and what models were asked.
    pub ledger: Mutex<Ledger>,
    /// Each call takes exactly so long, where that is what is measured.
    pub fixed_latency: Option<Duration>,
    begun: Instant,
    calm: Mutex<Option<Instant>>,
    jumped: AtomicI64,
    steps: AtomicU64,
    started: AtomicU64,
    processes: Mutex<Vec<Arc<Process>>>,
}

impl World {
    /// A world where nothing has happened yet.
    pub fn new(setup: &Setup) -> Result<Arc<Self>, String> {
        let chance = Chance::new(setup.seed, setup.spared.clone());
        let mut plan = Plan::of(&chance);
        if let Some(planted) = setup.planted {
            planted.worsen(&mut plan.weather);
        }
        Self::of(setup, plan, chance, None)
    }

    /// The same with a plan that was made by hand.
    pub fn of(setup: &Setup, plan: Plan, chance: Chance, fixed_latency: Option<Duration>) -> Result<Arc<Self>, String> {
        chance.calm(true);
        let (hidden, run_hidden) = if plan.local { (NEVER, NEVER) } else { (HIDDEN, RUN_HIDDEN) };
        Ok(Arc::new(Self {
            plan,
            planted: setup.planted,
            undone: setup.undone.clone(),
            chance,
            history: History::new(setup.history),
            storage: Storage::new()?,
            runs: SimQueue::new("runs", run_hidden),
            broadcasts: SimQueue::new("broadcasts", hidden),
            triggers: SimQueue::new("triggers", hidden),
            connections: Connections::default(),
            ledger: Mutex::default(),
            fixed_latency,
            begun: Instant::now(),
            calm: Mutex::default(),
            jumped: AtomicI64::new(0),
            steps: AtomicU64::new(0),
            started: AtomicU64::new(0),
            processes: Mutex::default(),
        }))
    }

    /// The wall clock.
    pub fn wall(&self) -> Time {
        Time::from_millis(MORNING + self.begun.elapsed().as_millis() as i64 + self.jumped.load(Ordering::Relaxed))
    }

    /// How much was done: calls of all kinds, each of which could have gone wrong.
    pub fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    /// The next time that is a whole multiple of `every` after the beginning.
    pub fn next(&self, every: Duration) -> Instant {
        let passed = self.begun.elapsed().as_millis() as u64 / every.as_millis() as u64;
        self.begun + every * (passed as u32 + 1)
    }

    /// From now on nothing goes wrong.
    pub fn calms(&self) {
        self.history.note("world", || "is calm from now on".into());
        self.chance.calm(true);
        *locked(&self.calm) = Some(Instant::now());
        let ledger = &mut locked(&self.ledger);
        (ledger.due_in_calm, ledger.wall_in_calm) = (self.storage.plans_due(), Some(self.wall()));
    }

    /// Sets the wall clock, while nothing else happens.
    pub fn set_clock(&self, at: Time) {
        self.history.note("clock", || format!("is set to {at}"));
        self.jumped.fetch_add(at.as_millis() - self.wall().as_millis(), Ordering::Relaxed);
    }

    /// Since when nothing goes wrong any more.
    pub fn calm_since(&self) -> Option<Instant> {
        *locked(&self.calm)
    }

    /// Notes something that must not be. `promise` 0 is no promise's.
    pub fn complain(&self, promise: u8, text: String) {
        self.history.note("oracle", || format!("promise {promise}: {text}"));
        locked(&self.ledger).complaints.insert((promise, text));
    }

    /// Before a call of a process takes effect.
    pub async fn begins(&self, life: &Arc<Life>, what: &str) {
        self.steps.fetch_add(1, Ordering::Relaxed);
        let weather = &self.plan.weather;
        let place = format!("{}/{what}", life.name);
        if self.fixed_latency.is_some() {
            locked(&self.ledger).calls.push((Instant::now(), what.to_owned()));
        }
        life.acts().await;
        sleep(self.latency(&place)).await;
        if self.chance.strikes(&format!("{place}/clock"), weather.clock) {
            let jump = self.chance.time("clock", Duration::from_secs(1), Duration::from_secs(70)).as_millis() as i64;
            let jump = if self.chance.happens("clock/back", 400) { -jump } else { jump };
            self.jumped.fetch_add(jump, Ordering::Relaxed);
            self.history.note("clock", || format!("jumps by {jump} ms"));
        }
        if self.chance.strikes(&format!("{place}/stalled"), weather.stalled) {
            let time = self.chance.time("stalled", Duration::from_secs(2), Duration::from_secs(90));
            self.history.note(&life.name, || format!("stands still for {time:?}, before {what}"));
            life.stall(time);
        }
        life.acts().await;
        if self.chance.strikes(&format!("{place}/killed before"), weather.killed_before) {
            self.kill(life, &format!("before {what}"));
            life.acts().await;
        }
    }

    /// After a call of a process took effect, before it learns of it.
    pub async fn ends(&self, life: &Arc<Life>, what: &str) {
        if self.chance.strikes(&format!("{}/{what}/killed after", life.name), self.plan.weather.killed_after) {
            self.kill(life, &format!("after {what}"));
        }
        life.acts().await;
    }

    fn latency(&self, place: &str) -> Duration {
        if let Some(fixed) = self.fixed_latency {
            return fixed;
        }
        if self.chance.strikes(&format!("{place}/slow"), self.plan.weather.slow) {
            return self.chance.time("slow", Duration::from_millis(200), Duration::from_secs(15));
        }
        Duration::from_millis(self.chance.below(place, 8))
    }

    /// Ends a process in the middle of what it does.
    pub fn kill(&self, life: &Life, when: &str) {
        if !life.end() {
            return;
        }
        self.history.note(&life.name, || format!("is killed {when}"));
        locked(&self.processes).retain(|process| process.life.name != life.name);
        if self.plan.local {
            self.runs.clear();
            self.broadcasts.clear();
            self.triggers.clear();
            self.connections.close_all();
        }
    }

    /// A process that lives; which one, is chance.
    pub fn some_process(&self, place: &str) -> Option<Arc<Process>> {
        let processes = locked(&self.processes);
        if processes.is_empty() {
            return None;
        }
        Some(Arc::clone(&processes[self.chance.below(place, processes.len() as u64) as usize]))
    }

    /// Starts everything that a deployment is made of.
    pub async fn start(self: &Arc<Self>) {
        for _ in 0..self.plan.processes {
            tokio::spawn(keep_one(Arc::clone(self)));
        }
        let local = self.plan.local;
        let ledger = Arc::clone(self);
        tokio::spawn(Arc::clone(&self.runs).deliver(Arc::clone(self), move |process, job, delivery| {
            if let RunJob::Run { run_id, .. } = &job {
                locked(&ledger.ledger).delivered.entry(*run_id).or_insert_with(Instant::now);
            }
            async move {
                process.life.acts().await;
                if local {
                    return process.runs.handle(&job, &Held).await;
                }
                // The function is ended in the middle of whatever it does.
                let ended = || Err(Error::Retry("the invocation took too long".into()));
                timeout_at(delivery.ends_at, process.runs.handle(&job, &delivery)).await.unwrap_or_else(|_| ended())
            }
        }));
        tokio::spawn(
            Arc::clone(&self.broadcasts).deliver(Arc::clone(self), |process, job, _| async move { process.broadcast.handle(&job).await }),
        );
        tokio::spawn(
            Arc::clone(&self.triggers).deliver(Arc::clone(self), |process, job, _| async move { process.triggers.handle(&job).await }),
        );
        tokio::spawn(sweep(Arc::clone(self)));
        while self.some_process("start").is_none() {
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// Ends everything.
    pub fn end(&self) {
        let processes = std::mem::take(&mut *locked(&self.processes));
        for process in processes {
            process.life.end();
        }
        self.connections.close_all();
    }

    /// From now on a process takes part.
    pub fn take_in(&self, process: Arc<Process>) {
        locked(&self.processes).push(process);
    }

    fn next_name(&self) -> String {
        format!("p{}", self.started.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// Keeps one process alive: after each death comes another one.
async fn keep_one(world: Arc<World>) {
    loop {
        let process = Process::start(&world, world.next_name());
        let life = Arc::clone(&process.life);
        if world.plan.local {
            let restarted = tokio::select! {
                biased;
                () = life.over() => continue,
                restarted = process.sweep.restart() => restarted,
            };
            if let Err(error) = restarted {
                // The host ends with an error, and is started again: not at once, else time stands still where it never can be.
                world.history.note(&life.name, || format!("could not start: {error}"));
                life.end();
                sleep(world.chance.time("restart", Duration::from_millis(100), Duration::from_secs(5))).await;
                continue;
            }
        }
        world.history.note(&life.name, || "lives".into());
        world.take_in(process);
        life.over().await;
        sleep(world.chance.time("restart", Duration::from_millis(100), Duration::from_secs(5))).await;
    }
}

async fn sweep(world: Arc<World>) {
    loop {
        sleep(if world.plan.local { SWEPT } else { MINUTE }).await;
        let Some(process) = world.some_process("sweep") else { continue };
        let swept = tokio::select! {
            biased;
            () = process.life.over() => continue,
            swept = process.sweep.handle() => swept,
        };
        match swept {
            Ok(0) => {}
            Ok(found) => world.history.note("sweep", || format!("goes on with {found}")),
            Err(error) => world.history.note("sweep", || format!("failed: {error}")),
        }
    }
}
