//! The whole product in one process, on a virtual clock, with faults that a seed chooses.
//!
//! [`simulate`] plays one seed. [`shorten`] shortens a failing seed.
//!
//! The state that outlives a process, from the bottom up:
//!
//! - [`chance`]: all random numbers and faults; [`fault_rates`] and [`plan`]: the parameters of a
//!   seed; [`setup`]: the input of a simulation
//! - [`history`]: a log for people who debug a failure
//! - [`units`]: the capacity units of a call of the table; [`table_errors`]: its errors;
//!   [`partitions`]: the throughput of its partitions
//! - [`storage`], [`queue`] and [`connections`]: the data of the table, of a queue, of the sockets
//! - [`ledger`]: what clients sent, what they were answered, and what models were asked
//! - [`mutants`]: the product with one mechanism removed, which the oracle must notice;
//!   [`conditions`]: the conditions of its writes, each of which a mutant drops
//! - [`holds`]: writes that wait for the write with which they race
//! - [`environment`]: all of these in one place, with the virtual clock
//!
//! The processes:
//!
//! - [`life`]: a process stalls and dies
//! - [`ports`]: the ports of a process, each with its faults; [`external_tools`]: the tools that
//!   make external calls
//! - [`process`]: the functions on these ports
//! - [`world`]: one deployment, from its first message to the calm phase at its end
//!
//! The clients of a deployment:
//!
//! - [`client`]: the HTTP and WebSocket API, as clients reach it
//! - [`setting`]: the people, agents and spaces of a deployment
//! - [`people`] with their [`view`]: they send messages, reconnect, join, leave, cancel runs, and
//!   answer forms; `timeliness`: they watch when messages arrive
//! - [`snapshots`]: connections that ask for the text of a stream, and that join in its middle
//! - [`operator`]: makes plans; [`services`]: send webhooks; [`remover`]: deletes a space
//! - [`remote_agents`]: answer the webhooks that wake them
//!
//! The judgement:
//!
//! - [`oracle`]: judges by the ledger and by the table's items at the end
//! - [`size`]: how much a simulation produced
//! - [`search`]: the seeds that find the mutants

pub mod chance;
pub mod client;
pub mod conditions;
pub mod connections;
pub mod environment;
pub mod external_tools;
pub mod fault_rates;
mod forks;
pub mod history;
pub mod holds;
mod invites;
pub mod ledger;
pub mod life;
pub mod mutants;
pub mod operator;
pub mod oracle;
pub mod partitions;
pub mod people;
pub mod plan;
pub mod ports;
pub mod process;
pub mod queue;
pub mod remote_agents;
pub mod remover;
mod retries;
pub mod search;
pub mod services;
pub mod setting;
pub mod setup;
pub mod shorten;
pub mod size;
pub mod snapshots;
pub mod storage;
pub mod table_errors;
mod timeliness;
pub mod units;
pub mod uploads;
pub mod view;
pub mod world;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::future::join_all;
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

use crate::{
    chance::Fault, conditions::Clause, operator::Operator, oracle::Violation, people::Person,
    ports::recorder::StoreCall, services::Services, setup::Setup, world::World,
};

pub use crate::size::Size;

/// How long the calm phase at the end may take: the ten minutes of a form, a lease and its grace
/// period, a minute until the next sweep, the models' timeouts, and some of these twice.
const CALM_LIMIT: Duration = Duration::from_mins(20);
/// How long plans keep firing in the calm phase.
const PLANS_FIRE_FOR: Duration = Duration::from_mins(7);
/// After this time the next read position reaches others even if an earlier job was lost.
const READS_ARE_LOST_AFTER: Duration = Duration::from_secs(30);
/// A client that takes longer waits for something that never happens.
const CLIENT_LIMIT: Duration = Duration::from_hours(6);
/// A job that is delivered later than this only repeats work.
const QUIET_FOR: Duration = Duration::from_mins(2);

/// The outcome of one seed.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The broken promises.
    pub violations: BTreeSet<Violation>,
    /// The number of calls of all kinds.
    pub steps: u64,
    /// How much the simulation produced.
    pub size: Size,
    /// The faults that struck.
    pub faults: Vec<Fault>,
    /// A hash of the history: the same each time a seed is played.
    pub digest: u64,
    /// The clauses of conditions that the product sent.
    pub sent_clauses: BTreeSet<Clause>,
    /// How often each clause alone refused a write, if the setup asks for it.
    pub deciding_clauses: BTreeMap<Clause, u64>,
    /// The history, if the setup asks for it.
    pub history: String,
    /// Virtual time from the beginning of the calm phase until all work was done.
    pub settled: Duration,
    /// One item of each kind and shape, if the setup asks for it, as DynamoDB writes them.
    pub samples: Vec<serde_json::Value>,
    /// The calls of the store, if the setup asks for them.
    pub calls: Vec<StoreCall>,
}

/// Plays one seed.
pub fn simulate(setup: &Setup) -> Result<Outcome, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(play(setup))
}

async fn play(setup: &Setup) -> Result<Outcome, String> {
    let world = World::new(setup)?;
    setting::set(&world).await?;
    world.env.chance.set_calm(false);
    if snapshots::has_large_rooms(&world) {
        tokio::spawn(snapshots::ask_at_gaps(Arc::clone(&world)));
    }
    if world.env.plan.remote {
        tokio::spawn(remote_agents::answer_all(Arc::clone(&world)));
    }
    let uploads = world.env.plan.files;
    let uploads = uploads.then(|| tokio::spawn(uploads::send_files(Arc::clone(&world))));
    let people = locked(&world.env.ledger).people.clone();
    let people: Vec<_> = people
        .into_iter()
        .enumerate()
        .map(|(index, id)| tokio::spawn(Person::new(&world, index, id).perform_actions()))
        .collect();
    let operator =
        world.env.plan.plans.then(|| tokio::spawn(Operator::new(&world).perform_actions()));
    let services =
        world.env.plan.services.then(|| tokio::spawn(Services::new(&world).perform_actions()));
    let removes = world.env.plan.deletes_space;
    let remover = removes.then(|| tokio::spawn(remover::delete_a_space(Arc::clone(&world))));
    let others = async {
        let ended = (join(operator).await, join(services).await, join(remover).await);
        (ended, join(uploads).await)
    };
    let ended = timeout(CLIENT_LIMIT, async { tokio::join!(join_all(people), others) }).await;
    let (people, (others, uploads)) = ended.map_err(|_| {
        format!("clients of seed {} are still busy after {CLIENT_LIMIT:?}", setup.seed)
    })?;
    uploads?;
    let (operator, services, remover) = others;
    let operator = operator?;
    let services = services?;
    remover?;
    let mut people: Vec<Person> =
        people.into_iter().collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    let settled = calm(&world, &mut people, operator.as_ref(), services.as_ref()).await;
    let mut violations = judge(&world, &people);
    let samples = world.env.storage.samples();
    let size = Size::measure(&oracle::Stored::from_items(&world.env.storage.items()));
    if world.env.plan.redrives {
        violations.extend(world.redrive().await);
    }
    world.end();
    Ok(Outcome {
        violations,
        steps: world.env.steps(),
        size,
        faults: world.env.chance.faults(),
        sent_clauses: world.env.conditions.sent(),
        deciding_clauses: world.env.conditions.decided(),
        digest: world.env.history.digest(),
        history: world.env.history.text(),
        settled,
        samples,
        calls: world.env.recording.as_ref().map(|calls| locked(calls).clone()).unwrap_or_default(),
    })
}

/// What happens without faults, until everything has ended. Returns how long that took.
async fn calm(
    world: &Arc<World>,
    people: &mut [Person],
    operator: Option<&Operator>,
    services: Option<&Services>,
) -> Duration {
    world.env.begin_calm();
    if let Some(operator) = operator {
        operator.resume_agents().await;
    }
    if let Some(services) = services {
        services.repeat_all().await;
    }
    sleep(READS_ARE_LOST_AFTER).await;
    timeliness::watch(world, people).await;
    for person in people.iter() {
        person.mark_all_read().await;
    }
    if snapshots::has_large_rooms(world) {
        snapshots::join_answers(world, people).await;
    }
    let settled = settle(world, operator).await;
    if let Some(services) = services {
        services.repeat_much_later().await;
    }
    fetch_everything(world, people).await;
    settled
}

/// The broken promises, which are also noted in the history.
fn judge(world: &World, people: &[Person]) -> BTreeSet<Violation> {
    let mut violations = oracle::judge(&world.env, people);
    violations.extend(world.env.storage.losses().into_iter().map(|text| (11, text)));
    for (promise, text) in &violations {
        world.env.history.note("oracle", || format!("promise {promise}: {text}"));
    }
    violations
}

/// Lets every member fetch the messages that it lacks.
async fn fetch_everything(world: &World, people: &[Person]) {
    let spaces = locked(&world.env.ledger).spaces.clone();
    for person in people {
        for space in &spaces {
            person.fetch(*space).await;
        }
    }
}

/// Waits for a client, if it exists.
async fn join<T>(task: Option<JoinHandle<T>>) -> Result<Option<T>, String> {
    match task {
        Some(task) => task.await.map(Some).map_err(|error| error.to_string()),
        None => Ok(None),
    }
}

/// Waits until every run has ended and the queues are empty, or until the calm phase is over. Plans
/// keep firing for a while, and are then deleted.
async fn settle(world: &World, operator: Option<&Operator>) -> Duration {
    let calm = Instant::now();
    let has_plans = || {
        world
            .env
            .storage
            .plans()
            .values()
            .any(|noted| noted.last().is_some_and(|last| last.plan.is_some()))
    };
    // Forms may wait for minutes in which nothing is written: the table is scanned only after
    // another write.
    let mut looked_at = None;
    while calm.elapsed() < CALM_LIMIT {
        sleep(Duration::from_secs(5)).await;
        if let Some(operator) = operator.filter(|_| has_plans()) {
            if calm.elapsed() > PLANS_FIRE_FOR {
                operator.delete_plans().await;
            }
            continue;
        }
        let is_settled = || {
            let stored = oracle::Stored::from_items(&world.env.storage.items());
            let ended = |run: &serde_json::Value| {
                ["completed", "failed", "canceled"].iter().any(|end| run["status"] == *end)
            };
            stored.due.is_empty() && stored.runs.values().all(ended)
        };
        if world.env.runs.is_quiet(QUIET_FOR)
            && world.env.triggers.is_quiet(QUIET_FOR)
            && world.env.broadcasts.is_quiet(QUIET_FOR)
            && looked_at != Some(world.env.storage.writes())
        {
            if is_settled() {
                break;
            }
            looked_at = Some(world.env.storage.writes());
        }
    }
    calm.elapsed()
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
