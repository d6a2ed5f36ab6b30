//! The slots of an agent.

use std::collections::BTreeSet;

use crate::{ids::RunId, jobs::RunRef};

/// How many runs may wait in line. Runs beyond that try again when they are due.
const LINE: usize = 100;
/// How many waiting runs one change starts: a transaction writes each of them. The first of them
/// starts the next ones.
const STARTED_AT_ONCE: usize = 10;

/// Which runs of an agent work, and which wait for one of them to end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slots {
    /// The number of slots: `maxRuns`.
    pub max_runs: u32,
    /// The runs that have a slot. They work, or have been given their slot and will be claimed.
    pub held: BTreeSet<RunId>,
    /// The runs that wait for a slot, the oldest first.
    pub waiting: Vec<RunRef>,
}

/// What follows when a run asks for a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotOutcome {
    /// `None` if the run has a slot now. Otherwise its place in the line; 1 is the next one.
    pub position: Option<usize>,
    /// Other runs that have a slot now and are to be started.
    pub started: Vec<RunRef>,
}

impl Slots {
    /// How many runs work or wait for a slot.
    pub fn active(&self) -> usize {
        self.held.len() + self.waiting.len()
    }

    /// Gives a run a slot, or a place in the line.
    pub fn take(&mut self, run: RunRef) -> SlotOutcome {
        let id = run.run_id;
        if self.held.contains(&id) {
            return SlotOutcome { position: None, started: self.fill() };
        }
        let at = self.waiting.partition_point(|other| other.run_id < id);
        if self.waiting.get(at).is_none_or(|other| other.run_id != id) {
            self.waiting.insert(at, run);
        }
        let mut started = self.fill();
        started.retain(|other| other.run_id != id);
        let position = self.waiting.iter().position(|other| other.run_id == id).map(|at| at + 1);
        self.waiting.truncate(LINE);
        SlotOutcome { position, started }
    }

    /// Takes a run's slot or place away. Returns the runs that have a slot now and are to be
    /// started.
    pub fn free(&mut self, run: RunId) -> Vec<RunRef> {
        self.forget(run);
        self.fill()
    }

    /// Takes a run's slot or place away, and leaves the slot free.
    pub fn forget(&mut self, run: RunId) {
        self.held.remove(&run);
        self.waiting.retain(|other| other.run_id != run);
    }

    /// Gives free slots to the runs that have waited longest, and returns these.
    pub fn fill(&mut self) -> Vec<RunRef> {
        let free = (self.max_runs as usize).saturating_sub(self.held.len());
        let count = free.min(STARTED_AT_ONCE).min(self.waiting.len());
        let started: Vec<_> = self.waiting.drain(..count).collect();
        self.held.extend(started.iter().map(|run| run.run_id));
        started
    }
}
