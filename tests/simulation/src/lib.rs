//! The whole product in one process, on a virtual clock, under faults that a seed chooses.
//!
//! - [`plan`]: what a seed is like; [`chance`]: everything that is left to chance
//! - [`world`]: one deployment, from its first message to the calm at its end; [`process`] and [`life`]: its processes, which stand still and die
//! - [`table`] before [`storage`], [`queue`], [`sockets`], [`model`]: the edges, each with its faults; [`door`]: the product's own doors
//! - [`people`] with their [`view`]: clients that speak, come back, join, leave and cancel
//! - [`ledger`]: what clients sent and were told; [`oracle`]: judges by it and by what the table holds at the end
//! - [`planted`]: mistakes on purpose, which have to be found
//! - [`simulate`] plays one seed; [`shorten`] makes a failing one as short as it can

pub mod chance;
pub mod door;
pub mod history;
pub mod ledger;
pub mod life;
pub mod model;
pub mod oracle;
pub mod people;
pub mod plan;
pub mod planted;
pub mod process;
pub mod queue;
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
use tokio::time::{Instant, sleep, timeout};

use crate::{chance::Strike, oracle::Complaint, people::Person, plan::Setup, world::World};

/// How long the calm at the end may take: a lease and its grace, a minute until the next sweep, the models' own time-outs, and some of these again.
const CALM: Duration = Duration::from_mins(10);
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
    /// Runs, and messages.
    pub size: (usize, usize),
    /// Faults that struck.
    pub struck: Vec<Strike>,
    /// Two plays of one seed have the same.
    pub digest: u64,
    /// What happened, where it is to be read.
    pub history: String,
    /// Virtual time from the calm until everything was still.
    pub settled: Duration,
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
    let lives =
        timeout(LIFE, join_all(people)).await.map_err(|_| format!("the people of seed {} still live after {LIFE:?}", setup.seed))?;
    let people: Vec<Person> = lives.into_iter().collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    world.history.note("world", || "is calm from now on".into());
    world.chance.calm(true);
    let settled = settle(&world).await;
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
    let items = world.storage.items();
    let count = |prefix: &str, sk: &str| {
        items
            .iter()
            .filter(|item| {
                item["PK"].as_str().is_some_and(|pk| pk.starts_with(prefix)) && item["SK"].as_str().is_some_and(|it| it.starts_with(sk))
            })
            .count()
    };
    Ok(Outcome {
        complaints,
        steps: world.steps(),
        size: (count("RUN#", "META"), count("SPACE#", "MSG#")),
        struck: world.chance.struck(),
        digest: world.history.digest(),
        history: world.history.text(),
        settled,
    })
}

/// Waits until every run has ended and the queues are empty, or the calm is over.
async fn settle(world: &World) -> Duration {
    let calm = Instant::now();
    while calm.elapsed() < CALM {
        sleep(Duration::from_secs(5)).await;
        let still = || {
            let kept = oracle::Kept::of(&world.storage.items());
            let ended = |run: &serde_json::Value| ["completed", "failed", "canceled"].iter().any(|end| run["status"] == *end);
            kept.due.is_empty() && kept.runs.values().all(ended)
        };
        if world.runs.is_quiet(QUIET) && world.triggers.is_quiet(QUIET) && world.broadcasts.is_quiet(QUIET) && still() {
            break;
        }
    }
    calm.elapsed()
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
