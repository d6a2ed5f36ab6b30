//! The whole product in one process, on a virtual clock, with faults that a seed chooses.
//!
//! [`simulate`] plays one seed. [`shorten`] shortens a failing seed.
//!
//! The state that outlives a process, from the bottom up:
//!
//! - [`chance`]: all random numbers and faults; [`fault_rates`] and [`parameters`]: the parameters
//!   of a seed; [`input`]: the input of a simulation
//! - [`history`]: a log for people who debug a failure
//! - [`units`]: the capacity units of a call of the table; [`table_errors`]: its errors;
//!   [`partitions`]: the throughput of its partitions
//! - [`storage`], [`queue`] and [`connections`]: the data of the table, of a queue, of the sockets
//! - [`ledger`]: what clients sent, what they were answered, and what models were asked
//! - [`recorder`]: records the calls of the store
//! - [`webhooks`]: the requests that wake remote agents
//! - [`mutants`]: the product with one mechanism removed, which the oracle must notice;
//!   [`conditions`]: the conditions of its writes, each of which a mutant drops
//! - [`held_writes`]: writes that wait for the write with which they race
//! - [`env`]: all of these in one place, with the virtual clock
//!
//! The processes:
//!
//! - [`process_life`]: a process stalls and dies
//! - [`ports`]: the ports of a process, each with its faults; [`external_tools`]: the tools that
//!   make external calls
//! - [`process`]: the functions on these ports
//! - [`deployment`]: one deployment, from its first message to the calm phase at its end
//!
//! The clients of a deployment:
//!
//! - [`client`]: the HTTP and WebSocket API, as clients reach it
//! - [`fixtures`]: the people, agents and spaces of a deployment
//! - [`people`] with their [`view`]: they send messages, reconnect, join, leave, cancel runs, and
//!   answer forms; `timeliness`: they watch when messages arrive
//! - `markers`: words by which the oracle finds a text wherever it is stored
//! - [`snapshots`]: connections that ask for the text of a stream, and that join in its middle
//! - [`operator`]: makes plans; [`services`]: send webhooks; [`remover`]: deletes a space;
//!   `empty_spaces`: people leave spaces of their own
//! - `applies`: operators apply files, and change by hand what these manage
//! - `searchers`: search a space with a long past, the archive, and change it
//! - [`remote_agents`]: answer the webhooks that wake them
//!
//! The judgement:
//!
//! - [`oracle`]: judges by the ledger and by the table's items at the end
//! - `panics`: tasks that panicked, each of which fails the seed
//! - [`size`]: how much a simulation produced
//! - [`search`]: the seeds that find the mutants

mod applies;
pub mod chance;
pub mod client;
pub mod conditions;
pub mod connections;
pub mod deployment;
mod empty_spaces;
pub mod env;
pub mod external_tools;
pub mod fault_rates;
pub mod fixtures;
mod forks;
pub mod held_writes;
pub mod history;
pub mod input;
mod invites;
pub mod ledger;
mod markers;
pub mod mutants;
pub mod operator;
pub mod oracle;
mod panics;
pub mod parameters;
pub mod partitions;
pub mod people;
pub mod ports;
pub mod process;
pub mod process_life;
pub mod queue;
pub mod recorder;
pub mod remote_agents;
pub mod remover;
mod retries;
pub mod search;
mod searchers;
pub mod services;
pub mod shorten;
pub mod size;
pub mod snapshots;
pub mod storage;
pub mod table_errors;
mod timeliness;
pub mod units;
pub mod uploads;
pub mod view;
pub mod webhooks;

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
    chance::Fault, conditions::Clause, deployment::Deployment, input::Input, ledger::Violation,
    operator::Operator, people::Person, recorder::StoreCall, services::Services,
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
    pub violations: BTreeSet<Violation>,
    /// The number of calls of all kinds.
    pub steps: u64,
    /// How much the simulation produced.
    pub size: Size,
    pub faults: Vec<Fault>,
    /// A hash of the history: the same each time a seed is played.
    pub digest: u64,
    /// The clauses of conditions that the product sent.
    pub sent_clauses: BTreeSet<Clause>,
    /// How often each clause alone refused a write, if the input asks for it.
    pub deciding_clauses: BTreeMap<Clause, u64>,
    /// The history, if the input asks for it.
    pub history: String,
    /// Virtual time from the beginning of the calm phase until all work was done.
    pub settled: Duration,
    /// One item of each kind and shape, if the input asks for it, as DynamoDB writes them.
    pub samples: Vec<serde_json::Value>,
    /// The calls of the store, if the input asks for them.
    pub calls: Vec<StoreCall>,
}

/// Plays one seed.
pub fn simulate(input: &Input) -> Result<Outcome, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .map_err(|error| error.to_string())?;
    panics::record();
    let mut outcome = runtime.block_on(play(input))?;
    let panics = panics::take().into_iter();
    outcome.violations.extend(panics.map(|text| (0, format!("a task panicked: {text}"))));
    Ok(outcome)
}

async fn play(input: &Input) -> Result<Outcome, String> {
    let deployment = Deployment::new(input)?;
    fixtures::make(&deployment).await?;
    deployment.env.chance.set_calm(false);
    let clients = perform_actions(&deployment);
    let mut clients = timeout(CLIENT_LIMIT, clients).await.map_err(|_| {
        format!("clients of seed {} are still busy after {CLIENT_LIMIT:?}", input.seed)
    })??;
    let settled = calm(&deployment, &mut clients).await;
    Ok(finish(&deployment, &clients.people, settled).await)
}

/// The clients that still act in the calm phase.
struct Clients {
    people: Vec<Person>,
    operator: Option<Operator>,
    services: Option<Services>,
}

/// Lets all clients perform their actions at the same time.
async fn perform_actions(deployment: &Arc<Deployment>) -> Result<Clients, String> {
    if snapshots::has_large_rooms(deployment) {
        tokio::spawn(snapshots::ask_at_gaps(Arc::clone(deployment)));
    }
    let parameters = &deployment.env.parameters;
    if parameters.remote {
        tokio::spawn(remote_agents::answer_all(Arc::clone(deployment)));
    }
    let uploads = parameters.files;
    let uploads = uploads.then(|| tokio::spawn(uploads::send_files(Arc::clone(deployment))));
    let empties = parameters.empties;
    let empties = empties.then(|| tokio::spawn(empty_spaces::leave_spaces(Arc::clone(deployment))));
    let people = locked(&deployment.env.ledger).people.clone();
    let people: Vec<_> = people
        .into_iter()
        .enumerate()
        .map(|(index, id)| tokio::spawn(Person::new(deployment, index, id).perform_actions()))
        .collect();
    let operator =
        parameters.plans.then(|| tokio::spawn(Operator::new(deployment).perform_actions()));
    let services =
        parameters.services.then(|| tokio::spawn(Services::new(deployment).perform_actions()));
    let removes = parameters.deletes_space;
    let remover = removes.then(|| tokio::spawn(remover::delete_a_space(Arc::clone(deployment))));
    let searches = parameters.searches;
    let searchers = searches.then(|| tokio::spawn(searchers::use_archive(Arc::clone(deployment))));
    let applies = parameters.applies;
    let applies = applies.then(|| tokio::spawn(applies::apply_files(Arc::clone(deployment))));
    let others = async {
        let operator = join(operator).await?;
        let services = join(services).await?;
        join(remover).await?;
        join(uploads).await?;
        join(empties).await?;
        join(searchers).await?;
        join(applies).await?;
        Ok::<_, String>((operator, services))
    };
    let (people, others) = tokio::join!(join_all(people), others);
    let (operator, services) = others?;
    let people = people.into_iter().collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    Ok(Clients { people, operator, services })
}

/// Judges the deployment, sends old jobs again, and ends it.
async fn finish(deployment: &Deployment, people: &[Person], settled: Duration) -> Outcome {
    let env = &deployment.env;
    let mut violations = judge(deployment, people);
    let samples = env.storage.samples();
    let size = Size::measure(&oracle::Stored::from_items(&env.storage.items()));
    if env.parameters.redrives {
        violations.extend(deployment.redrive().await);
    }
    deployment.end();
    let calls = env.recording.as_ref().map(|calls| locked(calls).clone());
    Outcome {
        violations,
        steps: env.steps(),
        size,
        faults: env.chance.faults(),
        sent_clauses: env.conditions.sent(),
        deciding_clauses: env.conditions.decided(),
        digest: env.history.digest(),
        history: env.history.text(),
        settled,
        samples,
        calls: calls.unwrap_or_default(),
    }
}

/// What happens without faults, until everything has ended. Returns how long that took.
async fn calm(deployment: &Arc<Deployment>, clients: &mut Clients) -> Duration {
    let Clients { people, operator, services } = clients;
    let operator = operator.as_ref();
    let services = services.as_ref();
    deployment.env.begin_calm();
    if let Some(operator) = operator {
        operator.resume_agents().await;
    }
    if let Some(services) = services {
        services.repeat_all().await;
    }
    sleep(READS_ARE_LOST_AFTER).await;
    searchers::search_for_changes(deployment).await;
    timeliness::watch(deployment, people).await;
    for person in people.iter() {
        person.mark_all_read().await;
    }
    if snapshots::has_large_rooms(deployment) {
        snapshots::join_answers(deployment, people).await;
    }
    let settled = settle(deployment, operator).await;
    if let Some(services) = services {
        services.repeat_much_later().await;
    }
    fetch_everything(deployment, people).await;
    settled
}

/// The broken promises, which are also noted in the history.
fn judge(deployment: &Deployment, people: &[Person]) -> BTreeSet<Violation> {
    let mut violations = oracle::judge(&deployment.env, people);
    violations.extend(deployment.env.storage.losses().into_iter().map(|text| (11, text)));
    for (promise, text) in &violations {
        deployment.env.history.note("oracle", || format!("promise {promise}: {text}"));
    }
    violations
}

/// Lets every member fetch the messages that it lacks.
async fn fetch_everything(deployment: &Deployment, people: &[Person]) {
    let spaces = locked(&deployment.env.ledger).spaces.clone();
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
async fn settle(deployment: &Deployment, operator: Option<&Operator>) -> Duration {
    let calm = Instant::now();
    let has_plans = || {
        deployment
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
            let stored = oracle::Stored::from_items(&deployment.env.storage.items());
            let ended = |run: &serde_json::Value| {
                ["completed", "failed", "canceled"].iter().any(|end| run["status"] == *end)
            };
            stored.due.is_empty() && stored.runs.values().all(ended)
        };
        if deployment.env.runs.is_quiet(QUIET_FOR)
            && deployment.env.triggers.is_quiet(QUIET_FOR)
            && deployment.env.broadcasts.is_quiet(QUIET_FOR)
            && looked_at != Some(deployment.env.storage.writes())
        {
            if is_settled() {
                break;
            }
            looked_at = Some(deployment.env.storage.writes());
        }
    }
    calm.elapsed()
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
