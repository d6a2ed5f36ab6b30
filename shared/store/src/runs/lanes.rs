//! Which runs may work: the slots of agents (`SLOTS`) and their lanes (`RUNLANE#`).
//!
//! A run takes a slot, and its place at the head of its lane, in the transaction that claims it. It
//! gives them back in the transaction that ends or pauses it, which also makes the run due that
//! waits for them. So neither is lost when a process stops in between.
//!
//! Mostly a run finds its lane empty and a slot free, and no run waits when it ends. So a claim, an
//! end and a pause first try a transaction whose conditions say just that, and read the items only
//! if it is refused.

mod filling;
mod leaving;
mod placement;
mod starting;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    agents::{ConcurrencyConfig, ConcurrencyMode},
    concurrency::{Lane, Slots, WaitsFor},
    dispatch::WakeLimits,
    ids::{EntityId, RunId, SpaceId},
    jobs::{RunJob, RunRef},
    limits::{self, due},
    runs::RunStatus,
};

pub use self::placement::Placement;
pub(crate) use self::{
    leaving::Leaving,
    placement::{LaneRuns, NewRun},
    starting::Starting,
};
use crate::{
    Result, Runs,
    runs::RunRecord,
    table::{
        Items,
        keys::{self, Key},
        refusal::Refusal,
        write::Write,
    },
};

/// The slots of an agent, as they are stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SlotsRecord {
    max_runs: u32,
    #[serde(
        default,
        with = "serde_dynamo::string_set",
        skip_serializing_if = "BTreeSet::is_empty"
    )]
    held: BTreeSet<RunId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    waiting: Vec<RunRef>,
    /// Raised by each change.
    changes: u64,
}

/// A lane, as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct LaneRecord {
    #[serde(flatten)]
    lane: Lane,
    /// Raised by each change.
    changes: u64,
}

/// The slots of an agent and, for a run that is in one, its lane in a space: as they were read, and
/// as they will be written.
#[derive(Clone, Debug)]
pub(crate) struct Lanes {
    agent: EntityId,
    pub(crate) slots: Slots,
    slots_read: Option<SlotsRecord>,
    space: Option<SpaceId>,
    pub(crate) lane: Lane,
    lane_read: Option<LaneRecord>,
    /// Whether the items must still be as they were read, even those that do not change: the two
    /// are not read at the same moment.
    must_hold: bool,
    /// The runs that may start now.
    next: Vec<RunRef>,
}

impl Lanes {
    /// The keys of an agent's slots and of its lane in a space.
    pub(crate) fn keys(agent: EntityId, space: Option<SpaceId>) -> Vec<Key> {
        let lane = space.map(|space| keys::lane(space, agent));
        [keys::slots(agent)].into_iter().chain(lane).collect()
    }

    /// Takes the slots and the lane of an agent out of the items that were read by [`Self::keys`].
    pub(crate) fn take(
        items: &mut Items,
        agent: EntityId,
        space: Option<SpaceId>,
        max_runs: u32,
    ) -> Result<Self> {
        let slots_read: Option<SlotsRecord> = items.take(&keys::slots(agent))?;
        let lane_read: Option<LaneRecord> = match space {
            Some(space) => items.take(&keys::lane(space, agent))?,
            None => None,
        };
        let slots = slots_read.clone().map_or_else(
            || Slots { max_runs, ..Slots::default() },
            |read| Slots { max_runs: read.max_runs, held: read.held, waiting: read.waiting },
        );
        let lane = lane_read.clone().map_or_else(Lane::default, |read| read.lane);
        Ok(Self {
            agent,
            slots,
            slots_read,
            space,
            lane,
            lane_read,
            must_hold: false,
            next: Vec::new(),
        })
    }

    /// Whether the agent has so many active runs that a message does not trigger it.
    pub(crate) fn are_busy(&self, mode: ConcurrencyMode) -> bool {
        let has_too_many = self.slots.active() >= limits::ACTIVE_RUNS;
        self.lane.is_full(mode) || (has_too_many && !self.lane.takes_in(mode))
    }

    /// Takes a run out of its slot and its lane, and starts those that wait for them.
    pub(crate) fn free(&mut self, run: RunId) {
        self.must_hold = true;
        let from_lane = self.forget(run);
        self.next.retain(|next| next.run_id != run);
        self.fill_slots();
        self.start_next(from_lane);
    }

    /// Takes a run out of its slot and its lane. Returns the run that is the first of the lane now,
    /// if that was another one before.
    fn forget(&mut self, run: RunId) -> Option<RunRef> {
        self.slots.forget(run);
        self.lane.leave(run)
    }

    /// Gives free slots to the runs that wait for one.
    fn fill_slots(&mut self) {
        let started = self.slots.fill();
        self.start_next(started);
    }

    /// Adds runs to those that may start now. A run may get its slot and its lane at once.
    fn start_next(&mut self, runs: impl IntoIterator<Item = RunRef>) {
        for run in runs {
            let is_known = self.next.iter().any(|next| next.run_id == run.run_id);
            if !is_known {
                self.next.push(run);
            }
        }
    }

    /// The jobs of the runs that may start now.
    pub(crate) fn next_jobs(&self) -> Vec<RunJob> {
        self.next.iter().map(|run| RunJob::of(*run)).collect()
    }

    /// The writes of all that has changed since the items were read.
    pub(crate) fn writes(&self, now: Time) -> Result<Vec<Write>> {
        let mut writes =
            self.next.iter().map(|run| due_write(run.run_id, now)).collect::<Result<Vec<_>>>()?;
        writes.extend(self.slots_write()?);
        writes.extend(self.lane_write()?);
        Ok(writes)
    }

    fn slots_write(&self) -> Result<Option<Write>> {
        let changes = self.slots_read.as_ref().map(|read| read.changes);
        let key = keys::slots(self.agent);
        let slots = SlotsRecord {
            max_runs: self.slots.max_runs,
            held: self.slots.held.clone(),
            waiting: self.slots.waiting.clone(),
            changes: changes.unwrap_or(0),
        };
        let is_new = self.slots_read.is_none() && self.slots.active() == 0;
        if is_new || self.slots_read.as_ref() == Some(&slots) {
            return self.same(key, changes);
        }
        let slots = SlotsRecord { changes: slots.changes + 1, ..slots };
        unchanged(Write::put(key, &slots)?, changes).map(Some)
    }

    fn lane_write(&self) -> Result<Option<Write>> {
        let Some(space) = self.space else { return Ok(None) };
        let changes = self.lane_read.as_ref().map(|read| read.changes);
        let key = keys::lane(space, self.agent);
        let before = self.lane_read.as_ref().map(|read| &read.lane);
        if before.unwrap_or(&Lane::default()) == &self.lane {
            return self.same(key, changes);
        }
        let lane = LaneRecord { lane: self.lane.clone(), changes: changes.unwrap_or(0) + 1 };
        unchanged(Write::put(key, &lane)?, changes).map(Some)
    }

    /// The check of an item that stays as it is: a run that leaves, or waits, may get its slot or
    /// its place at the same moment.
    fn same(&self, key: Key, changes: Option<u64>) -> Result<Option<Write>> {
        self.must_hold.then(|| unchanged(Write::check(key), changes)).transpose()
    }

    /// Whether a refusal is about these items: they have changed since they were read.
    pub(crate) fn have_changed(&self, refusal: &Refusal) -> bool {
        Self::keys(self.agent, self.space).iter().any(|key| refusal.names(key))
    }
}

/// The key of the lane of a run that is in one.
pub(crate) fn lane_key(run: &RunRef) -> Option<Key> {
    let place = run.place.filter(|_| run.in_lane)?;
    Some(keys::lane(place.space_id, run.agent_id))
}

/// The number of slots of an agent whose slots are not stored yet.
fn max_runs(limits: Option<&WakeLimits>) -> u32 {
    limits.map_or_else(|| ConcurrencyConfig::default().max_runs, |limits| limits.max_runs)
}

/// Writes only if the item is as it was read.
fn unchanged(write: Write, changes: Option<u64>) -> Result<Write> {
    match changes {
        Some(changes) => write.when("#changes = :seen").value(":seen", changes),
        None => Ok(write.if_absent()),
    }
}

/// Makes a run due that may start.
fn due_write(run: RunId, now: Time) -> Result<Write> {
    Write::update(
        keys::run_meta(run),
        "SET #due = :part, #dueAt = :due REMOVE #waitsFor, #dueCount",
    )
    .when("#status IN (:queued, :waits)")
    .value(":part", keys::due(run.part_of(keys::DUE_PARTS)))?
    .value(":due", now + due::QUEUED)?
    .value(":queued", RunStatus::Queued)?
    .value(":waits", RunStatus::WaitingTool)
}

/// Lets a run wait for its place in the lane or for a slot.
pub(crate) fn wait_write(run: &RunRecord, waits_for: WaitsFor, now: Time) -> Result<Write> {
    Write::update(
        keys::run_meta(run.id),
        "SET #waitsFor = :for, #due = :part, #dueAt = :due REMOVE #dueCount",
    )
    .when("#status = :status AND #kept = :kept")
    .value(":for", waits_for)?
    .value(":part", keys::due(run.id.part_of(keys::DUE_PARTS)))?
    .value(":due", now + due::WAITING)?
    .value(":status", run.status)?
    .value(":kept", run.kept)
}

impl Runs<'_> {
    /// Reads the slots and the lane that a run needs.
    pub(crate) async fn lanes(self, run: &RunRef) -> Result<Lanes> {
        let space = run.place.map(|place| place.space_id).filter(|_| run.in_lane);
        self.lanes_of(run.agent_id, space).await
    }

    /// Reads the slots of an agent and its lane in a space.
    pub(crate) async fn lanes_of(self, agent: EntityId, space: Option<SpaceId>) -> Result<Lanes> {
        let gate = keys::gate(agent);
        let mut wanted = Lanes::keys(agent, space);
        wanted.push(gate.clone());
        let mut items = self.store.table.get_all(&wanted).await?;
        let limits: Option<WakeLimits> = items.take(&gate)?;
        Lanes::take(&mut items, agent, space, max_runs(limits.as_ref()))
    }
}
