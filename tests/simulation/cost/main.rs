//! What one message costs on AWS, and what a month costs in which nothing happens: counted where calls leave the functions, priced by the list
//! (docs/performance.md, "Cost of a message").
//!
//! - [`deployment`]: the functions, each invocation in an environment of its own; [`edges`]: their ways to the outside, counted
//! - [`units`]: what a call of the table takes; [`ledger`]: all that was counted; [`prices`]: dollars
//! - [`model`]: who answers after seven seconds; [`text`]: what everyone says

mod deployment;
mod edges;
mod ledger;
mod model;
mod prices;
mod text;
mod units;

use std::{
    io::Write,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use clap::Parser;
use serde_json::{Value, json};
use smartspace_domain::ids::ConnectionId;
use tokio::time::sleep;

use crate::{
    deployment::{As, Deployment},
    ledger::{Ledger, What},
    text::Words,
};

/// Counts what messages cost.
#[derive(Parser)]
struct Flags {
    /// Messages of a person that are counted; 25 make whole summaries
    #[arg(long, default_value_t = 25)]
    messages: usize,
    /// Messages before, until everything is as it will be
    #[arg(long, default_value_t = 40)]
    warm: usize,
    /// Seconds from one to the next
    #[arg(long, default_value_t = 30)]
    every: u64,
    /// Connections that follow the space
    #[arg(long, default_value_t = 1)]
    connections: usize,
    /// Every invocation finds an environment that has seen nothing yet
    #[arg(long)]
    fresh: bool,
    /// Item by item
    #[arg(long)]
    items: bool,
    /// Where the alarms stand
    #[arg(long, default_value = "infra/template.yaml")]
    template: PathBuf,
}

/// Who is woken by what.
struct Scene {
    title: &'static str,
    policy: &'static str,
    prefix: &'static str,
}

const SCENES: [Scene; 2] = [
    Scene {
        title: "`mention`, to @all: three agents answer once, and an answer that names nobody wakes nobody",
        policy: "mention",
        prefix: "@all ",
    },
    Scene { title: "`all`: three agents answer once, and each answer wakes the two others, who skip", policy: "all", prefix: "" },
];

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn main() -> Result<(), String> {
    let flags = Flags::parse();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().map_err(|error| error.to_string())?;
    let mut out = std::io::stdout().lock();
    let mut write = |text: String| writeln!(out, "{text}").map_err(|error| error.to_string());
    for scene in &SCENES {
        let ledger = runtime.block_on(count(scene, &flags))?;
        write(format!("## {}\n", scene.title))?;
        show(&ledger, flags.messages as f64, flags.items, &mut write)?;
    }
    let sweep = runtime.block_on(idle())?;
    let alarms = std::fs::read_to_string(&flags.template).map_or(0, |text| text.matches("AWS::CloudWatch::Alarm").count());
    write("## An idle month\n".into())?;
    bill(&prices::of_an_idle_month(&sweep, alarms as f64), "a month", &mut write)?;
    Ok(())
}

/// Lets a person speak to three agents, and gives what that took once all was warm.
async fn count(scene: &Scene, flags: &Flags) -> Result<Ledger, String> {
    let words = Arc::new(Words::default());
    let deployment = Deployment::start(flags.fresh, Arc::clone(&words)).await?;
    let made = async |path: &str, body: Value| {
        let made = deployment.post(As::Operator, path, &body).await?;
        Ok::<_, String>(made["id"].as_str().unwrap_or_default().to_owned())
    };
    let person = made("/v1/entities", json!({"type": "human", "name": "Sarah"})).await?;
    let mut members = vec![person.clone()];
    for name in ["Ada", "Bob", "Cyd"] {
        let agent = json!({"model": {"provider": "openai", "name": "slow"}, "instructions": words.some(600)});
        members.push(made("/v1/entities", json!({"type": "agent", "name": name, "agent": agent})).await?);
    }
    let space = made("/v1/spaces", json!({"name": "What it costs", "members": members, "triggerPolicy": scene.policy})).await?;
    for number in 0..flags.connections {
        let ticket = deployment.post(As::Person(&person), "/v1/socketTickets", &json!({})).await?;
        let (id, ticket) = (ConnectionId(format!("connection-{number}")), ticket["ticket"].as_str().unwrap_or_default().to_owned());
        let follow = json!({"action": "subscribe", "spaceId": space}).to_string();
        let opened = deployment.invoke("socket", "socket", async move |environment| {
            environment.socket.connect(&ticket, &id).await?;
            environment.socket.receive(&id, &follow).await
        });
        opened.await.map_err(|error| error.to_string())?;
    }
    for number in 0..flags.warm + flags.messages {
        if number == flags.warm {
            *locked(&deployment.ledger) = Ledger::default();
        }
        let body = json!({"text": format!("{}{}", scene.prefix, words.some(120))});
        deployment.post(As::Person(&person), &format!("/v1/spaces/{space}/messages"), &body).await?;
        sleep(Duration::from_secs(flags.every)).await;
        deployment.quiet().await;
    }
    Ok(locked(&deployment.ledger).clone())
}

/// What a sweep takes where nothing is due.
async fn idle() -> Result<Ledger, String> {
    let deployment = Deployment::start(false, Arc::default()).await?;
    *locked(&deployment.ledger) = Ledger::default();
    let swept = deployment.invoke("sweep", "sweep", async move |environment| environment.sweep.handle().await);
    swept.await.map_err(|error| error.to_string())?;
    Ok(locked(&deployment.ledger).clone())
}

type Out<'a> = &'a mut dyn FnMut(String) -> Result<(), String>;

/// Everything of one message, and what a million of them cost.
fn show(ledger: &Ledger, messages: f64, items: bool, write: Out) -> Result<(), String> {
    let each = |count: f64| format!("{:.2}", count / messages);
    write("| function | call | calls | write units | read units |\n|---|---|---|---|---|".into())?;
    for ((function, operation), (count, units)) in &ledger.calls {
        write(format!("| {function} | {operation} | {} | {} | {} |", each(*count as f64), each(units.write), each(units.read)))?;
    }
    let (units, calls) = (ledger.units(), ledger.calls.values().map(|(count, _)| count).sum::<usize>());
    write(format!("| all | | {} | {} | {} |\n", each(calls as f64), each(units.write), each(units.read)))?;
    if items {
        write("| function | item | times | write units | read units |\n|---|---|---|---|---|".into())?;
        for ((function, what), (count, units)) in &ledger.items {
            write(format!("| {function} | {what} | {} | {} | {} |", each(*count as f64), each(units.write), each(units.read)))?;
        }
        write(String::new())?;
    }
    write("| function | invocations | seconds | asks a model | sends | receives | deletes | visibility | frames | alarms |\n|---|---|---|---|---|---|---|---|---|---|".into())?;
    for function in ledger.functions() {
        let count = |what: What| ledger.counts.get(&(function, what)).copied().unwrap_or_default();
        let seconds = each(count(What::Milliseconds) / 1e3);
        let rest = [What::Question, What::Send, What::Receive, What::Delete, What::Visibility, What::Post, What::Alarm];
        write(format!(
            "| {function} | {} | {seconds} | {} |",
            each(count(What::Invocation)),
            rest.map(|what| each(count(what))).join(" | ")
        ))?;
    }
    write(String::new())?;
    let (costs, apart) = prices::of_a_million(ledger, messages);
    bill(&costs, "a million messages", write)?;
    bill(&apart, "apart", write)?;
    for doubt in &ledger.doubts {
        write(format!("DOUBT {doubt}"))?;
    }
    Ok(())
}

fn bill(lines: &[prices::Line], title: &str, write: Out) -> Result<(), String> {
    write(format!("| {title} | count | dollars |\n|---|---|---|"))?;
    for (what, count, dollars) in lines {
        write(format!("| {what} | {count:.2} | {dollars:.2} |"))?;
    }
    write(format!("| all | | {:.2} |\n", lines.iter().map(|(_, _, dollars)| dollars).sum::<f64>()))
}
