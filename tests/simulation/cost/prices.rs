//! List prices in dollars, and what the counts come to.

use crate::ledger::{Ledger, What};

/// A million write units.
const WRITES: f64 = 0.625;
/// A million read units.
const READS: f64 = 0.125;
/// A million requests of a queue.
const QUEUE: f64 = 0.40;
/// What they cost more where jobs have groups (fair queues).
const FAIR: f64 = 0.10;
/// A million GB-seconds on arm64.
const GB_SECONDS: f64 = 13.33;
/// A million invocations.
const INVOCATIONS: f64 = 0.20;
/// A million requests of an HTTP API.
const HTTP: f64 = 1.00;
/// A million messages of a WebSocket API.
const SOCKET: f64 = 1.00;
/// A gigabyte of logs.
const LOGS: f64 = 0.50;
/// Every function has 256 MB, but those that people wait for: twice as much.
fn gigabytes(function: &str) -> f64 {
    if ["api", "socket"].contains(&function) { 0.5 } else { 0.25 }
}

/// What an invocation writes to its log: START, END and REPORT, and a line of its own.
const LOGGED: f64 = 700.0;
/// A month in minutes.
const MINUTES: f64 = 43_200.0;
/// Pollers of a queue, each asking every 20 s.
const POLLERS: f64 = 5.0;
/// Queues with a function behind them.
const QUEUES: f64 = 3.0;

/// A line of the bill: what, how much of it, dollars.
pub(crate) type Line = (String, f64, f64);

/// What a million messages cost, each of which did what the ledger says. The second list is what is apart: sockets and logs.
pub(crate) fn of_a_million(ledger: &Ledger, messages: f64) -> (Vec<Line>, Vec<Line>) {
    let each = |count: f64| count / messages;
    let (units, all) = (ledger.units(), |what: What| each(ledger.all(what)));
    let line = |what: &str, count: f64, price: f64| (what.to_owned(), count, count * price);
    let seconds = |names: &dyn Fn(&str) -> bool| {
        let of = ledger.counts.iter().filter(|((name, what), _)| *what == What::Milliseconds && names(name));
        each(of.map(|((name, _), count)| count / 1e3 * gigabytes(name)).sum::<f64>())
    };
    let requests = [What::Send, What::Receive, What::Delete, What::Visibility].into_iter().map(all).sum::<f64>();
    let bill = vec![
        line("write units", each(units.write), WRITES),
        line("read units", each(units.read), READS),
        line("queue requests", requests, QUEUE + FAIR),
        line("GB-seconds of `run`", seconds(&|name| name.starts_with("run")), GB_SECONDS),
        line("GB-seconds of the others", seconds(&|name| !name.starts_with("run")), GB_SECONDS),
        line("invocations", all(What::Invocation), INVOCATIONS),
        line("requests of the HTTP API", all(What::Http), HTTP),
    ];
    let apart =
        vec![line("frames to connections", all(What::Post), SOCKET), line("GB of logs", all(What::Invocation) * LOGGED / 1e3, LOGS)];
    (bill, apart)
}

/// What a month costs in which nothing happens but one sweep each minute, as the ledger has it.
pub(crate) fn of_an_idle_month(sweep: &Ledger, alarms: f64) -> Vec<Line> {
    let line = |what: &str, count: f64, price: f64| (what.to_owned(), count, count * price);
    let polls = QUEUES * POLLERS * 3.0 * MINUTES;
    let units = sweep.units();
    let seconds = sweep.all(What::Milliseconds) / 1e3 * gigabytes("sweep") * MINUTES;
    vec![
        line("sweep: read units", units.read * MINUTES, READS / 1e6),
        line("sweep: write units", units.write * MINUTES, WRITES / 1e6),
        line("sweep: invocations", MINUTES, INVOCATIONS / 1e6),
        line("sweep: GB-seconds", seconds, GB_SECONDS / 1e6),
        line("sweep: GB of logs", MINUTES * LOGGED / 1e9, LOGS),
        line("pollers' empty receives", polls, QUEUE / 1e6),
        // The one that functions read, and the one that its admin key was made from.
        line("secrets", 2.0, 0.40),
        line("alarms", alarms, 0.10),
    ]
}
