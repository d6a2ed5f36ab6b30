//! List prices in dollars, and the costs of the counts.

use std::path::Path;

use crate::ledger::{Counter, Ledger};

/// USD for a million write units.
const WRITE_UNITS: f64 = 0.625;
/// USD for a million read units.
const READ_UNITS: f64 = 0.125;
/// A million requests of a queue.
const QUEUE_REQUESTS: f64 = 0.40;
/// The surcharge for jobs with groups (fair queues).
const FAIR_QUEUE_SURCHARGE: f64 = 0.10;
/// A million GB-seconds on arm64.
const GB_SECONDS: f64 = 13.33;
/// USD for a million invocations.
const INVOCATIONS: f64 = 0.20;
/// A million requests of an HTTP API.
const HTTP_REQUESTS: f64 = 1.00;
/// A million messages of a WebSocket API.
const SOCKET_MESSAGES: f64 = 1.00;
/// USD for a gigabyte of logs.
const LOG_GIGABYTES: f64 = 0.50;

/// The bytes that an invocation logs: START, END, REPORT, and one line of the function.
const LOG_BYTES: f64 = 700.0;
const MINUTES_A_MONTH: f64 = 43_200.0;
/// Pollers of the queue of runs, which has a `MaximumConcurrency`, and of the two other queues.
/// Each makes a request every 20 s.
const POLLERS: f64 = 5.0 + 2.0 + 2.0;

/// A line of the bill: the name, the count, and the dollars.
pub(crate) type Line = (String, f64, f64);

/// What the template creates, as far as it has a price.
pub(crate) struct Deployed {
    /// The metrics of alarms: an alarm that watches two of them costs twice.
    alarms: f64,
    run_megabytes: f64,
}

impl Deployed {
    /// Of the template in a file.
    pub(crate) fn read(template: &Path) -> Result<Self, String> {
        let failed = |why: &str| format!("{}: {why}", template.display());
        let text = std::fs::read_to_string(template).map_err(|error| failed(&error.to_string()))?;
        let parameter = text.split("\n  RunMemoryMb:").nth(1);
        let default = parameter.and_then(|text| text.split("Default:").nth(1)?.lines().next());
        let run_megabytes = default
            .and_then(|default| default.trim().parse().ok())
            .ok_or_else(|| failed("expected a default of RunMemoryMb"))?;
        let count = |what: &str| text.matches(what).count() as f64;
        // An alarm has one metric, or a list of them.
        let alarms =
            count("AWS::CloudWatch::Alarm") - count("\n      Metrics:\n") + count(" MetricStat:\n");
        Ok(Self { alarms, run_megabytes })
    }

    /// The memory of a function: more for those that people wait for.
    fn gigabytes(&self, function: &str) -> f64 {
        match function {
            "api" | "socket" => 0.5,
            _ if function.starts_with("run") => self.run_megabytes / 1024.0,
            _ => 0.25,
        }
    }

    /// The cost of a million messages, if the ledger has the counts of `messages` of them. The
    /// second list has the costs that are shown apart: sockets and logs.
    pub(crate) fn of_a_million(&self, ledger: &Ledger, messages: f64) -> (Vec<Line>, Vec<Line>) {
        let each = |count: f64| count / messages;
        let units = ledger.units();
        let all = |what: Counter| each(ledger.all(what));
        let line = |what: &str, count: f64, price: f64| (what.to_owned(), count, count * price);
        let seconds = |names: &dyn Fn(&str) -> bool| {
            let of = ledger
                .counts
                .iter()
                .filter(|((name, what), _)| *what == Counter::Milliseconds && names(name));
            each(of.map(|((name, _), count)| count / 1e3 * self.gigabytes(name)).sum::<f64>())
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
    pub(crate) fn of_an_idle_month(&self, sweep: &Ledger) -> Vec<Line> {
        let line = |what: &str, count: f64, price: f64| (what.to_owned(), count, count * price);
        let polls = POLLERS * 3.0 * MINUTES_A_MONTH;
        let units = sweep.units();
        let seconds =
            sweep.all(Counter::Milliseconds) / 1e3 * self.gigabytes("sweep") * MINUTES_A_MONTH;
        vec![
            line("sweep: read units", units.read * MINUTES_A_MONTH, READ_UNITS / 1e6),
            line("sweep: write units", units.write * MINUTES_A_MONTH, WRITE_UNITS / 1e6),
            line("sweep: invocations", MINUTES_A_MONTH, INVOCATIONS / 1e6),
            line("sweep: GB-seconds", seconds, GB_SECONDS / 1e6),
            line("sweep: GB of logs", MINUTES_A_MONTH * LOG_BYTES / 1e9, LOG_GIGABYTES),
            line("pollers' empty receives", polls, QUEUE_REQUESTS / 1e6),
            line("secrets", 3.0, 0.40),
            line("alarms", self.alarms, 0.10),
        ]
    }
}
