//! Computes the cost of a message on AWS, and the cost of an idle month. It counts the calls of the
//! functions to AWS and multiplies them by the list prices (docs/performance.md, "The bill of a
//! message").
//!
//! - [`deployment`]: the functions, with one environment for each concurrent invocation.
//! - [`ports`]: their calls to AWS, counted. The simulation's module `units` has the capacity
//!   units of a call of the table.
//! - [`ledger`]: the counts.
//! - [`prices`]: the costs in dollars.
//! - [`report`]: the tables that the program writes.
//! - [`model`]: a model that answers after seven seconds.
//! - [`room`]: a space with agents and followers.
//! - [`searches`]: with `--search`, the units of a search and of the blocks that it needs.
//! - [`text`]: the texts of messages.
//! - [`timeline`]: how long people wait, call by call.

mod deployment;
mod ledger;
mod model;
mod ports;
mod prices;
mod report;
mod room;
mod searches;
mod text;
mod timeline;

use std::{
    io::Write,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use clap::Parser;

use crate::{
    deployment::Deployment,
    ledger::Ledger,
    room::{Plan, Room},
};

/// Computes the cost of messages on AWS
#[derive(Parser)]
struct Flags {
    /// Counted messages of a person; a multiple of 25 includes whole summaries
    #[arg(long, default_value_t = 25)]
    messages: usize,
    /// Messages before the counted ones, until the cost of a message is stable
    #[arg(long, default_value_t = 40)]
    warm: usize,
    /// Seconds between two messages
    #[arg(long, default_value_t = 30)]
    every: u64,
    /// Connections that follow the space
    #[arg(long, default_value_t = 1)]
    connections: usize,
    /// Start every invocation in a new environment, without caches
    #[arg(long)]
    fresh: bool,
    /// Ask the model once more after an answer has posted a message: `loop.endAfterSend` is false
    #[arg(long)]
    asks_twice: bool,
    /// Show the units of each kind of item
    #[arg(long)]
    items: bool,
    /// Show how long one message takes instead, with caches and without
    #[arg(long)]
    latency: bool,
    /// Show the units of a search in a space of so many messages instead, one row for each number
    #[arg(long, value_delimiter = ',')]
    search: Vec<u64>,
    /// The template, for its alarms and the memory of `run`
    #[arg(long, default_value = "infra/template.yaml")]
    template: PathBuf,
}

impl Flags {
    fn plan<'a>(&self, agents: &'a [&'a str], policy: &'a str, fresh: bool) -> Plan<'a> {
        Plan {
            agents,
            policy,
            connections: self.connections,
            by_operator: false,
            asks_twice: self.asks_twice,
            fresh,
            every: Duration::from_secs(self.every),
        }
    }
}

/// A space with three agents.
struct Scenario {
    title: &'static str,
    policy: &'static str,
    /// The beginning of each message.
    prefix: &'static str,
}

const SCENARIOS: [Scenario; 2] = [
    Scenario {
        title: "`mention`, to @all: three agents answer once, \
                and an answer that names nobody wakes nobody",
        policy: "mention",
        prefix: "@all ",
    },
    Scenario {
        title: "`all`: three agents answer once, and each answer wakes the two others, who skip",
        policy: "all",
        prefix: "",
    },
];

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn main() -> Result<(), String> {
    let flags = Flags::parse();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .map_err(|error| error.to_string())?;
    let mut out = std::io::stdout().lock();
    let mut write = |text: String| writeln!(out, "{text}").map_err(|error| error.to_string());
    if flags.latency {
        for (title, by_operator, fresh) in [
            ("Warm, with the operator's key", true, false),
            ("Warm, with a token", false, false),
            ("Without caches, with a token", false, true),
        ] {
            let plan = Plan { by_operator, ..flags.plan(&["Ada"], "all", fresh) };
            runtime.block_on(timeline::show(plan, flags.warm, title, &mut write))?;
        }
        return Ok(());
    }
    if !flags.search.is_empty() {
        let plan = flags.plan(&[], "mention", false);
        return runtime.block_on(searches::show(plan, &flags.search, &mut write));
    }
    let deployed = prices::Deployed::read(&flags.template)?;
    for scenario in &SCENARIOS {
        let ledger = runtime.block_on(count(scenario, &flags))?;
        write(format!("## {}\n", scenario.title))?;
        report::show(&ledger, &deployed, flags.messages as f64, flags.items, &mut write)?;
    }
    let sweep = runtime.block_on(idle())?;
    write("## An idle month\n".into())?;
    report::bill(&deployed.of_an_idle_month(&sweep), "a month", &mut write)?;
    Ok(())
}

/// Posts a person's messages to three agents. Returns the counts of the messages after the warm-up.
async fn count(scenario: &Scenario, flags: &Flags) -> Result<Ledger, String> {
    let agents = ["Ada", "Bob", "Cyd"];
    let room = Room::make(flags.plan(&agents, scenario.policy, flags.fresh)).await?;
    for number in 0..flags.warm + flags.messages {
        if number == flags.warm {
            *locked(&room.deployment.ledger) = Ledger::default();
        }
        room.say(scenario.prefix).await?;
    }
    Ok(locked(&room.deployment.ledger).clone())
}

/// The counts of a sweep that finds nothing due.
async fn idle() -> Result<Ledger, String> {
    let deployment = Deployment::start(false, Arc::default()).await?;
    *locked(&deployment.ledger) = Ledger::default();
    let swept = deployment
        .invoke("sweep", "sweep", async move |environment| environment.sweep.handle().await);
    swept.await.map_err(|error| error.to_string())?;
    Ok(locked(&deployment.ledger).clone())
}
