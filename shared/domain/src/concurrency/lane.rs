//! The lane of an agent in a space.

use serde::{Deserialize, Serialize};

use crate::{agents::ConcurrencyMode, ids::RunId, jobs::RunRef, limits};

/// The runs of an agent in a space that are queued or work, in the order in which they work. Only
/// the first one may.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lane {
    /// The runs.
    #[serde(default)]
    pub runs: Vec<LaneRun>,
    /// The auto replies since the last outside cause after which there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto: Option<AutoReplies>,
}

/// The auto replies of an agent: its runs that messages of agents started which do not name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AutoReplies {
    /// The `seq` of the last outside cause before them.
    pub outside: u64,
    /// How many there are.
    pub runs: u32,
}

/// A run in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LaneRun {
    /// The run.
    #[serde(flatten)]
    pub run: RunRef,
    /// It works.
    #[serde(default)]
    pub is_started: bool,
    /// It has waited for people, and goes on when it is at the head.
    #[serde(default)]
    pub is_resumed: bool,
    /// Nothing can join it: its trigger was delegated.
    #[serde(default)]
    pub is_closed: bool,
    /// How many messages have joined it.
    #[serde(default)]
    pub joined: usize,
}

/// What happens to a new run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaneEntry {
    /// It waits until the runs before it are done; 1 is the next one. 0: it starts at once.
    Place {
        /// Its place.
        position: usize,
        /// The runs that it replaces. They are to be canceled.
        superseded: Vec<RunRef>,
    },
    /// Its message joins this queued run, and the new run never starts.
    Joins(RunRef),
    /// A run for a newer message is there already, which replaces it.
    Superseded,
}

impl LaneRun {
    fn new(run: RunRef) -> Self {
        Self { run, is_started: false, is_resumed: false, is_closed: false, joined: 0 }
    }

    /// The number of the message that triggered the run.
    fn seq(&self) -> u64 {
        self.run.place.map_or(0, |place| place.seq)
    }

    /// Whether a newer message replaces it: it is queued or works.
    fn is_replaceable(&self) -> bool {
        self.is_started || !self.is_resumed
    }

    fn accepts(&self) -> bool {
        !self.is_started && !self.is_resumed && !self.is_closed && self.joined < limits::JOINED
    }
}

impl Lane {
    /// Whether a new run does not find a place in the mode.
    pub fn is_full(&self, mode: ConcurrencyMode) -> bool {
        let has_too_many = self.runs.len() >= limits::ACTIVE_RUNS;
        mode != ConcurrencyMode::Latest && has_too_many && !self.takes_in(mode)
    }

    /// Whether a message joins a queued run, so that no further run is queued.
    pub fn takes_in(&self, mode: ConcurrencyMode) -> bool {
        mode == ConcurrencyMode::Coalesce && self.joinable().is_some()
    }

    /// The place of the queued run that a message can join.
    pub fn joinable(&self) -> Option<usize> {
        self.runs.iter().rposition(LaneRun::accepts)
    }

    /// How many auto replies there are since the outside cause `outside`. The decision on an older
    /// message may come late: those since a newer outside cause then count.
    pub fn auto_replies(&self, outside: u64) -> u32 {
        self.auto.filter(|auto| auto.outside >= outside).map_or(0, |auto| auto.runs)
    }

    /// Counts an auto reply since the outside cause `outside`.
    pub fn count_auto_reply(&mut self, outside: u64) {
        let runs = self.auto_replies(outside) + 1;
        let outside = self.auto.map_or(outside, |auto| auto.outside.max(outside));
        self.auto = Some(AutoReplies { outside, runs });
    }

    /// Lets a run in that a message triggered. `is_closed` says that no message may join it.
    pub fn enter(&mut self, mode: ConcurrencyMode, run: RunRef, is_closed: bool) -> LaneEntry {
        let new = LaneRun { is_closed, ..LaneRun::new(run) };
        let mut superseded = Vec::new();
        match mode {
            ConcurrencyMode::Coalesce if !is_closed => {
                if let Some(at) = self.joinable() {
                    let into = &mut self.runs[at];
                    let before = into.run;
                    into.joined += 1;
                    if into.seq() < new.seq() {
                        into.run.place = run.place;
                    }
                    return LaneEntry::Joins(before);
                }
            }
            ConcurrencyMode::Latest => {
                let replaceable = |other: &LaneRun| other.is_replaceable();
                if self.runs.iter().any(|other| replaceable(other) && other.seq() > new.seq()) {
                    return LaneEntry::Superseded;
                }
                let all = self.runs.extract_if(.., |other| replaceable(other));
                superseded.extend(all.take(limits::SUPERSEDED));
            }
            _ => {}
        }
        let position = self
            .runs
            .iter()
            .position(|other| !other.is_started && !other.is_resumed && other.seq() > new.seq())
            .unwrap_or(self.runs.len());
        self.runs.insert(position, new);
        let superseded = superseded.into_iter().map(|other| other.run).collect();
        LaneEntry::Place { position, superseded }
    }

    /// Starts a run if it is at the head of the lane. Otherwise returns its position; 1 is the next
    /// one. A run that is not in the lane has waited for people: it comes before those that have
    /// not started, and after those that have waited, too.
    pub fn start(&mut self, run: RunRef) -> Option<usize> {
        let known = self.runs.iter().position(|other| other.run.run_id == run.run_id);
        let at = known.unwrap_or_else(|| {
            let resumed = self.runs.iter().skip(1).take_while(|other| other.is_resumed).count();
            let next = self.runs.len().min(1 + resumed);
            self.runs.insert(next, LaneRun { is_resumed: true, ..LaneRun::new(run) });
            next
        });
        if at == 0 {
            self.runs[0].is_started = true;
            return None;
        }
        Some(at)
    }

    /// Takes a run out. Returns the new head of the lane, if the run was the head.
    pub fn leave(&mut self, run: RunId) -> Option<RunRef> {
        let at = self.runs.iter().position(|other| other.run.run_id == run)?;
        self.runs.remove(at);
        let next = self.runs.first().filter(|_| at == 0)?;
        Some(next.run)
    }
}
