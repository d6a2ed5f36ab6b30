//! How much a simulation produced, so that a report shows whether its promises were exercised.

use std::ops::AddAssign;

use crate::{external_tools, oracle::Stored};

/// How much a simulation produced.
#[derive(Clone, Copy, Debug, Default)]
pub struct Size {
    /// Runs.
    pub runs: usize,
    /// Messages, including cards.
    pub messages: usize,
    /// Forms that a person answered.
    pub answered: usize,
    /// Forms that expired.
    pub expired: usize,
    /// Forms that were canceled because their run ended.
    pub canceled: usize,
    /// Runs that another run of their agent stopped or absorbed.
    pub ended_by_others: usize,
    /// Runs that another agent delegated.
    pub handed_on: usize,
    /// Runs that repeat others.
    pub retried: usize,
    /// Forks.
    pub forked: usize,
    /// Runs that plans triggered.
    pub planned: usize,
    /// Times of plans that were missed before a firing.
    pub missed: u64,
    /// Runs that services triggered.
    pub served: usize,
    /// Repeated deliveries of services.
    pub repeated: usize,
    /// External calls.
    pub outside: usize,
    /// External calls whose outcome is unknown.
    pub unknown: usize,
}

impl Size {
    pub(crate) fn measure(stored: &Stored) -> Self {
        let forms = |status: &str| {
            stored
                .calls
                .values()
                .filter(|call| call["name"] == "ask" && call["status"] == status)
                .count()
        };
        let runs = |field: &str, values: &[&str]| {
            stored
                .runs
                .values()
                .filter(|run| values.iter().any(|value| run[field] == *value))
                .count()
        };
        let outside = || {
            stored
                .calls
                .values()
                .filter(|call| external_tools::TOOLS.iter().any(|name| call["name"] == *name))
        };
        Self {
            runs: stored.runs.len(),
            messages: stored.all_messages().count(),
            answered: forms("completed"),
            expired: forms("expired"),
            canceled: forms("canceled"),
            ended_by_others: runs("endReason", &["absorbed", "stop_run"]),
            handed_on: runs("source", &["delegated"]),
            retried: stored.runs.values().filter(|run| !run["retryOf"].is_null()).count(),
            forked: stored.runs.values().filter(|run| !run["forkOf"].is_null()).count(),
            planned: stored.fired.len(),
            missed: stored.fired.values().filter_map(|fired| fired["missed"].as_u64()).sum(),
            served: stored.runs.values().filter(|run| !run["deliveryId"].is_null()).count(),
            repeated: stored
                .deliveries
                .values()
                .filter(|delivery| delivery["status"] == "repeated")
                .count(),
            outside: outside().count(),
            unknown: outside().filter(|call| call["status"] == "unknown").count(),
        }
    }
}

impl AddAssign for Size {
    fn add_assign(&mut self, other: Self) {
        self.runs += other.runs;
        self.messages += other.messages;
        self.answered += other.answered;
        self.expired += other.expired;
        self.canceled += other.canceled;
        self.ended_by_others += other.ended_by_others;
        self.handed_on += other.handed_on;
        self.retried += other.retried;
        self.forked += other.forked;
        self.planned += other.planned;
        self.missed += other.missed;
        self.served += other.served;
        self.repeated += other.repeated;
        self.outside += other.outside;
        self.unknown += other.unknown;
    }
}
