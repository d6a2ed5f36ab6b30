//! The whole product in one process, on a virtual clock, under faults that a seed chooses.
//!
//! - [`plan`]: what a seed is like; [`chance`]: everything that is left to chance
//! - [`world`]: one deployment, from its first message to the calm at its end; [`process`] and [`life`]: its processes, which stand still and die
//! - [`table`] before [`storage`], [`queue`], [`alarms`], [`sockets`], [`model`]: the edges, each with its faults; [`door`]: the product's own doors
//! - [`choices`]: what models answer; [`outside`]: the servers that their tools call
//! - [`people`] with their [`view`]: clients that speak, come back, join, leave, cancel, and give [`answers`] to forms
//! - [`operator`]: who makes plans; [`services`]: what else wakes agents
//! - [`ledger`]: what clients sent and were told; [`oracle`]: judges by it and by what the table holds at the end
//! - [`planted`]: mistakes on purpose, which have to be found
//! - [`simulate`] plays one seed; [`shorten`] makes a failing one as short as it can

pub mod alarms;
pub mod answers;
pub mod chance;
pub mod choices;
pub mod door;
pub mod history;
pub mod ledger;
pub mod life;
pub mod model;
pub mod operator;
pub mod oracle;
pub mod outside;
pub mod people;
pub mod plan;
pub mod planted;
pub mod process;
pub mod queue;
pub mod services;
pub mod setting;
pub mod shorten;
pub mod sockets;
pub mod storage;
pub mod table;
pub mod view;
pub mod world;

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::future::join_all;
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

use crate::{chance::Strike, operator::Operator, oracle::Complaint, people::Person, plan::Setup, services::Services, world::World};

/// How long the calm at the end may take: the ten minutes of a form, a lease and its grace, a minute until the next sweep, the models' own time-outs,
/// and some of these again.
const CALM: Duration = Duration::from_mins(20);
/// For how long plans fire on in the calm.
const FIRED_FOR: Duration = Duration::from_mins(7);
/// No life takes so long: someone waits for what never comes.
const LIFE: Duration = Duration::from_hours(6);
/// A job that comes later than this only repeats what was done.
const QUIET: Duration = Duration::from_mins(2);

/// What came of one seed.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What must not be.
    pub complaints: BTreeSet<Complaint>,
    /// How much was done: calls of all kinds.
    pub steps: u64,
    /// What there was in the end.
    pub size: Size,
    /// Faults that struck.
    pub struck: Vec<Strike>,
    /// Two plays of one seed have the same.
    pub digest: u64,
    /// What happened, where it is to be read.
    pub history: String,
    /// Virtual time from the calm until everything was still.
    pub settled: Duration,
}

/// How much there was of what the promises are about.
#[derive(Clone, Copy, Debug, Default)]
pub struct Size {
    /// Runs.
    pub runs: usize,
    /// Messages, cards among them.
    pub messages: usize,
    /// Forms that someone answered.
    pub answered: usize,
    /// Forms whose time was up.
    pub expired: usize,
    /// Forms whose run ended before.
    pub canceled: usize,
    /// Runs that another one of their agent stopped or absorbed.
    pub ended_by_others: usize,
    /// Runs that another agent handed on.
    pub handed_on: usize,
    /// Runs that plans woke.
    pub planned: usize,
    /// Times of plans that went by before one of these.
    pub missed: u64,
    /// Runs that services woke.
    pub served: usize,
    /// What services sent that had come before.
    pub repeated: usize,
    /// Calls that reached outside.
    pub outside: usize,
    /// Of these, those of which nobody knows what became.
    pub unknown: usize,
}

impl Size {
    fn of(kept: &oracle::Kept) -> Self {
        let forms = |status: &str| kept.calls.values().filter(|call| call["name"] == "ask" && call["status"] == status).count();
        let runs = |field: &str, values: &[&str]| kept.runs.values().filter(|run| values.iter().any(|value| run[field] == *value)).count();
        let outside = || kept.calls.values().filter(|call| outside::TOOLS.iter().any(|name| call["name"] == *name));
        Self {
            runs: kept.runs.len(),
            messages: kept.all_messages().count(),
            answered: forms("completed"),
            expired: forms("expired"),
            canceled: forms("canceled"),
            ended_by_others: runs("endReason", &["absorbed", "stop_run"]),
            handed_on: runs("source", &["delegated"]),
            planned: kept.fired.len(),
            missed: kept.fired.values().filter_map(|fired| fired["missed"].as_u64()).sum(),
            served: kept.runs.values().filter(|run| !run["deliveryId"].is_null()).count(),
            repeated: kept.deliveries.values().filter(|delivery| delivery["status"] == "repeated").count(),
            outside: outside().count(),
            unknown: outside().filter(|call| call["status"] == "unknown").count(),
        }
    }
}

impl std::ops::AddAssign for Size {
    fn add_assign(&mut self, other: Self) {
        self.runs += other.runs;
        self.messages += other.messages;
        self.answered += other.answered;
        self.expired += other.expired;
        self.canceled += other.canceled;
        self.ended_by_others += other.ended_by_others;
        self.handed_on += other.handed_on;
        self.planned += other.planned;
        self.missed += other.missed;
        self.served += other.served;
        self.repeated += other.repeated;
        self.outside += other.outside;
        self.unknown += other.unknown;
    }
}

/// Plays one seed.
pub fn simulate(setup: &Setup) -> Result<Outcome, String> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().map_err(|error| error.to_string())?;
    runtime.block_on(play(setup))
}

async fn play(setup: &Setup) -> Result<Outcome, String> {
    let world = World::new(setup)?;
    setting::set(&world).await?;
    world.chance.calm(false);
    let people = locked(&world.ledger).people.clone();
    let people: Vec<_> = people.into_iter().enumerate().map(|(index, id)| tokio::spawn(Person::new(&world, index, id).live())).collect();
    let operator = world.plan.plans.then(|| tokio::spawn(Operator::new(&world).live()));
    let services = world.plan.services.then(|| tokio::spawn(Services::new(&world).live()));
    let others = async { (join(operator).await, join(services).await) };
    let lives = timeout(LIFE, async { tokio::join!(join_all(people), others) }).await;
    let (people, (operator, services)) = lives.map_err(|_| format!("the people of seed {} still live after {LIFE:?}", setup.seed))?;
    let (operator, services) = (operator?, services?);
    let people: Vec<Person> = people.into_iter().collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    world.calms();
    if let Some(operator) = &operator {
        operator.wakes_all().await;
    }
    if let Some(services) = &services {
        services.repeat_all().await;
    }
    let settled = settle(&world, operator.as_ref()).await;
    if let Some(services) = &services {
        services.repeat_much_later().await;
    }
    for person in &people {
        let spaces = locked(&world.ledger).spaces.clone();
        for space in spaces {
            person.fetch(space).await;
        }
    }
    let complaints = oracle::judge(&world, &people);
    for (promise, text) in &complaints {
        world.history.note("oracle", || format!("promise {promise}: {text}"));
    }
    world.end();
    let size = Size::of(&oracle::Kept::of(&world.storage.items()));
    Ok(Outcome {
        complaints,
        steps: world.steps(),
        size,
        struck: world.chance.struck(),
        digest: world.history.digest(),
        history: world.history.text(),
        settled,
    })
}

/// What somebody came to, if there was one.
async fn join<T>(life: Option<JoinHandle<T>>) -> Result<Option<T>, String> {
    match life {
        Some(life) => life.await.map(Some).map_err(|error| error.to_string()),
        None => Ok(None),
    }
}

/// Waits until every run has ended and the queues are empty, or the calm is over. Plans fire on for a while, and are dropped then.
async fn settle(world: &World, operator: Option<&Operator>) -> Duration {
    let calm = Instant::now();
    let has_plans = || world.storage.plans().values().any(|noted| noted.last().is_some_and(|last| last.plan.is_some()));
    // Forms may wait for minutes, in which nothing is written: what was looked at is not looked at again.
    let mut looked_at = None;
    while calm.elapsed() < CALM {
        sleep(Duration::from_secs(5)).await;
        if let Some(operator) = operator.filter(|_| has_plans()) {
            if calm.elapsed() > FIRED_FOR {
                operator.drops_all().await;
            }
            continue;
        }
        let still = || {
            let kept = oracle::Kept::of(&world.storage.items());
            let ended = |run: &serde_json::Value| ["completed", "failed", "canceled"].iter().any(|end| run["status"] == *end);
            kept.due.is_empty() && kept.runs.values().all(ended)
        };
        if world.runs.is_quiet(QUIET)
            && world.triggers.is_quiet(QUIET)
            && world.broadcasts.is_quiet(QUIET)
            && looked_at != Some(world.storage.writes())
        {
            if still() {
                break;
            }
            looked_at = Some(world.storage.writes());
        }
    }
    calm.elapsed()
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
