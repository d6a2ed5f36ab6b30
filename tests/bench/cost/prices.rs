//! List prices in dollars, and the costs of the counts.

use crate::ledger::{Ledger, What};

/// A million write units.
const WRITES: f64 = 0.625;
/// A million read units.
const READS: f64 = 0.125;
/// A million requests of a queue.
const QUEUE: f64 = 0.40;
/// The surcharge for jobs with groups (fair queues).
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

/// The memory of a function: 512 MB for those that people wait for, and 256 MB for the others.
fn gigabytes(function: &str) -> f64 {
    if ["api", "socket"].contains(&function) { 0.5 } else { 0.25 }
}

/// The bytes that an invocation logs: START, END, REPORT, and one line of the function.
const LOGGED: f64 = 700.0;
/// A month in minutes.
const MINUTES: f64 = 43_200.0;
/// Pollers of a queue, each with a request every 20 s.
const POLLERS: f64 = 5.0;
/// Queues that invoke a function.
const QUEUES: f64 = 3.0;

/// A line of the bill: the name, the count, and the dollars.
pub(crate) type Line = (String, f64, f64);

/// The cost of a million messages, if the ledger has the counts of `messages` of them. The second
/// list has the costs that are shown apart: sockets and logs.
pub(crate) fn of_a_million(ledger: &Ledger, messages: f64) -> (Vec<Line>, Vec<Line>) {
    let each = |count: f64| count / messages;
    let units = ledger.units();
    let all = |what: What| each(ledger.all(what));
    let line = |what: &str, count: f64, price: f64| (what.to_owned(), count, count * price);
    let seconds = |names: &dyn Fn(&str) -> bool| {
        let of = ledger
            .counts
            .iter()
            .filter(|((name, what), _)| *what == What::Milliseconds && names(name));
        each(of.map(|((name, _), count)| count / 1e3 * gigabytes(name)).sum::<f64>())
    };
    let requests = [What::Send, What::Receive, What::Delete, What::Visibility]
        .into_iter()
        .map(all)
        .sum::<f64>();
    let bill = vec![
        line("write units", each(units.write), WRITES),
        line("read units", each(units.read), READS),
        line("queue requests", requests, QUEUE + FAIR),
        line("GB-seconds of `run`", seconds(&|name| name.starts_with("run")), GB_SECONDS),
        line("GB-seconds of the others", seconds(&|name| !name.starts_with("run")), GB_SECONDS),
        line("invocations", all(What::Invocation), INVOCATIONS),
        line("requests of the HTTP API", all(What::Http), HTTP),
    ];
    let apart = vec![
        line("frames to connections", all(What::Post), SOCKET),
        line("GB of logs", all(What::Invocation) * LOGGED / 1e3, LOGS),
    ];
    (bill, apart)
}

/// The cost of a month with nothing but one sweep each minute. The ledger has the counts of one
/// sweep.
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
        // The secret that functions read, and the one with the generated admin key.
        line("secrets", 2.0, 0.40),
        line("alarms", alarms, 0.10),
    ]
}
