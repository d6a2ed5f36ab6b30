//! List prices in dollars, and the costs of the counts.

use crate::ledger::{Counter, Ledger};

/// A million write units.
const WRITE_UNITS: f64 = 0.625;
/// A million read units.
const READ_UNITS: f64 = 0.125;
/// A million requests of a queue.
const QUEUE_REQUESTS: f64 = 0.40;
/// The surcharge for jobs with groups (fair queues).
const FAIR_QUEUE_SURCHARGE: f64 = 0.10;
/// A million GB-seconds on arm64.
const GB_SECONDS: f64 = 13.33;
/// A million invocations.
const INVOCATIONS: f64 = 0.20;
/// A million requests of an HTTP API.
const HTTP_REQUESTS: f64 = 1.00;
/// A million messages of a WebSocket API.
const SOCKET_MESSAGES: f64 = 1.00;
/// A gigabyte of logs.
const LOG_GIGABYTES: f64 = 0.50;

/// The memory of a function: 512 MB for those that people wait for, and 256 MB for the others.
fn gigabytes(function: &str) -> f64 {
    if ["api", "socket"].contains(&function) { 0.5 } else { 0.25 }
}

/// The bytes that an invocation logs: START, END, REPORT, and one line of the function.
const LOG_BYTES: f64 = 700.0;
/// A month in minutes.
const MINUTES_A_MONTH: f64 = 43_200.0;
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
    let all = |what: Counter| each(ledger.all(what));
    let line = |what: &str, count: f64, price: f64| (what.to_owned(), count, count * price);
    let seconds = |names: &dyn Fn(&str) -> bool| {
        let of = ledger
            .counts
            .iter()
            .filter(|((name, what), _)| *what == Counter::Milliseconds && names(name));
        each(of.map(|((name, _), count)| count / 1e3 * gigabytes(name)).sum::<f64>())
    };
    let requests = [Counter::Send, Counter::Receive, Counter::Delete, Counter::Visibility]
        .into_iter()
        .map(all)
        .sum::<f64>();
    let bill = vec![
        line("write units", each(units.write), WRITE_UNITS),
        line("read units", each(units.read), READ_UNITS),
        line("queue requests", requests, QUEUE_REQUESTS + FAIR_QUEUE_SURCHARGE),
        line("GB-seconds of `run`", seconds(&|name| name.starts_with("run")), GB_SECONDS),
        line("GB-seconds of the others", seconds(&|name| !name.starts_with("run")), GB_SECONDS),
        line("invocations", all(Counter::Invocation), INVOCATIONS),
        line("requests of the HTTP API", all(Counter::Http), HTTP_REQUESTS),
    ];
    let apart = vec![
        line("frames to connections", all(Counter::Post), SOCKET_MESSAGES),
        line("GB of logs", all(Counter::Invocation) * LOG_BYTES / 1e3, LOG_GIGABYTES),
    ];
    (bill, apart)
}

/// The cost of a month with nothing but one sweep each minute. The ledger has the counts of one
/// sweep.
pub(crate) fn of_an_idle_month(sweep: &Ledger, alarms: f64) -> Vec<Line> {
    let line = |what: &str, count: f64, price: f64| (what.to_owned(), count, count * price);
    let polls = QUEUES * POLLERS * 3.0 * MINUTES_A_MONTH;
    let units = sweep.units();
    let seconds = sweep.all(Counter::Milliseconds) / 1e3 * gigabytes("sweep") * MINUTES_A_MONTH;
    vec![
        line("sweep: read units", units.read * MINUTES_A_MONTH, READ_UNITS / 1e6),
        line("sweep: write units", units.write * MINUTES_A_MONTH, WRITE_UNITS / 1e6),
        line("sweep: invocations", MINUTES_A_MONTH, INVOCATIONS / 1e6),
        line("sweep: GB-seconds", seconds, GB_SECONDS / 1e6),
        line("sweep: GB of logs", MINUTES_A_MONTH * LOG_BYTES / 1e9, LOG_GIGABYTES),
        line("pollers' empty receives", polls, QUEUE_REQUESTS / 1e6),
        // The secret that functions read, and the one with the generated admin key.
        line("secrets", 2.0, 0.40),
        line("alarms", alarms, 0.10),
    ]
}
