//! The place of a new run among the runs of its agent: it starts, waits, joins another run or
//! replaces others.

use std::collections::{BTreeMap, BTreeSet};

use smartspace_domain::{
    Time,
    agents::ConcurrencyMode,
    concurrency::{LaneEntry, WaitsFor},
    dispatch::WakeLimits,
    ids::{EntityId, LeaseId, RunId},
    jobs::{RunJob, RunRef},
    limits::due,
    runs::{EndReason, RunStatus},
};

use crate::{
    Error, Result, Runs, Store,
    runs::{
        ActiveCause, ActiveRecord, RunRecord, TriggeredBy, end_writes::cancel_write, lanes::Lanes,
    },
    table::{keys, write::Write},
    usage,
};

/// A run to be placed.
#[derive(Clone, Debug)]
pub(crate) struct NewRun {
    pub(crate) run: RunRecord,
    pub(crate) active: ActiveRecord,
    /// How the run is placed if its agent is busy.
    pub(crate) mode: ConcurrencyMode,
    /// For a message of an agent that is no outside cause: the last outside cause before it.
    pub(crate) auto_since: Option<u64>,
}

/// The place of a new run, as a part of the transaction that creates it.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    pub(crate) writes: Vec<Write>,
    /// The jobs of the runs that start then.
    pub jobs: Vec<RunJob>,
    /// The new run, if it waits, and its position among those that wait.
    pub queued: Option<(RunRecord, usize)>,
    /// The new run, if it joined another one or is replaced already.
    pub never_started: Option<RunRecord>,
    /// The runs that the new one replaces.
    pub superseded: Vec<RunRecord>,
}

impl Lanes {
    /// The runs that a new run of the agent may change, since it joins or replaces one of them.
    pub(crate) fn affected(&self, mode: ConcurrencyMode) -> Vec<RunId> {
        let mut of_lane = self.lane.runs.iter().map(|run| run.run.run_id);
        let waiting = self.slots.waiting.iter().map(|run| run.run_id);
        match mode {
            ConcurrencyMode::Coalesce => {
                self.lane.joinable().and_then(|at| of_lane.nth(at)).into_iter().collect()
            }
            ConcurrencyMode::Latest => of_lane.chain(waiting).collect(),
            ConcurrencyMode::Parallel | ConcurrencyMode::Queue => Vec::new(),
        }
    }
}

impl Placement {
    /// A run of an agent that is never busy starts.
    pub(crate) fn at_once(run: &RunRecord, active: &ActiveRecord) -> Result<Self> {
        Ok(Self { writes: new_writes(run, active)?, jobs: vec![run.job()], ..Self::default() })
    }

    /// A run of an agent that has a lane. `others` are the runs that [`Lanes::affected`] names.
    pub(crate) fn in_lane(
        store: &Store,
        new: NewRun,
        mut lanes: Lanes,
        others: &LaneRuns,
        now: Time,
    ) -> Result<Self> {
        let NewRun { run, active, mode, auto_since } = new;
        let run = RunRecord { in_lane: true, ..run };
        // If another run is the first one afterwards, it needs a job: see `completed`.
        let first = lanes.lane.runs.first().map(|first| first.run.run_id);
        // The prompts of these runs are about their message alone.
        let is_closed = run.is_delegated() || run.is_for_unanswered();
        let placement = match lanes.lane.enter(mode, run.to_ref(), is_closed) {
            LaneEntry::Place { position, superseded } => {
                if let Some(outside) = auto_since.filter(|_| run.is_auto_reply()) {
                    lanes.lane.count_auto_reply(outside);
                }
                let replaced = superseded.iter().map(|other| others.get(&other.run_id));
                let replaced = replaced.collect::<Option<Vec<_>>>().ok_or_else(changed)?;
                let new = run.id;
                let run = run.replacing(&replaced);
                let mut placement = Self::placed(run, &active, position)?;
                for other in replaced {
                    placement.supersede(store, &mut lanes, other, new, now)?;
                }
                lanes.fill_slots();
                placement
            }
            LaneEntry::Joins(into) => {
                let into = others.get(&into.run_id).ok_or_else(changed)?;
                Self::joined(store, run, active, into, now)?
            }
            // The lane has a run for a newer message: the decision on this one came late. Its run
            // is stored all the same, as ended, so that a repeat of the decision finds it.
            LaneEntry::Superseded => Self {
                never_started: Some(canceled(store, run, EndReason::Superseded, now)),
                ..Self::default()
            },
        };
        placement.completed(lanes, first, now)
    }

    /// The new run has a place in the lane.
    fn placed(run: RunRecord, active: &ActiveRecord, position: usize) -> Result<Self> {
        if position == 0 {
            return Self::at_once(&run, active);
        }
        // No job starts this run: the end of the run before it does. It is due all the same, so
        // that the sweep looks at it if no end ever comes.
        let run = RunRecord {
            waits_for: Some(WaitsFor::Lane),
            due_at: Some(run.created_at + due::WAITING),
            ..run
        };
        let writes = new_writes(&run, active)?;
        Ok(Self { writes, queued: Some((run, position)), ..Self::default() })
    }

    /// Another run answers the message, too.
    fn joined(
        store: &Store,
        run: RunRecord,
        active: ActiveRecord,
        into: &RunRecord,
        now: Time,
    ) -> Result<Self> {
        let (
            TriggeredBy::Message { seq, message_id, source, chain, asks, is_reply, .. },
            TriggeredBy::Message { seq: old_seq, message_id: old_id, source: old_source, .. },
        ) = (run.triggered_by, into.triggered_by)
        else {
            return Err(changed());
        };
        // A late decision may come after the decisions on newer messages, so the message that joins
        // may be the older one. The run keeps the newest message as its trigger.
        let is_newer = seq > old_seq;
        let (seq, message_id, earlier) =
            if is_newer { (seq, message_id, old_seq) } else { (old_seq, old_id, seq) };
        // A run that repeats another one answers the messages that had joined that one, too.
        let earlier: Vec<u64> = [earlier].into_iter().chain(run.joined.iter().copied()).collect();
        let also = if asks { "#asks = :yes, " } else { "" };
        let sets_reply = is_newer && is_reply;
        let chain = chain.filter(|_| is_newer);
        let of_trigger = if is_newer { change_of_trigger(is_reply, chain.is_some()) } else { "" };
        let expression = format!(
            "SET {also}#seq = :seq, #messageId = :message, #source = :source, \
             #chainDepth = :depth, #kept = #kept + :one, \
             #joined = list_append(if_not_exists(#joined, :none), :earlier){of_trigger}"
        );
        let mut write = Write::update(keys::run_meta(into.id), expression)
            // A worker may claim the run at this moment. Then either this write fails, or the claim
            // does, because `kept` is no longer what it read. Without both, the run would start
            // without this message and no run would answer it.
            .when("#status = :queued")
            .value(":seq", seq)?
            .value(":message", message_id)?
            .value(":source", source.min(old_source))?
            .value(":depth", run.chain_depth.max(into.chain_depth))?
            .value(":one", 1)?
            .value(":none", Vec::<u64>::new())?
            .value(":earlier", &earlier)?
            .value(":queued", RunStatus::Queued)?;
        if asks || sets_reply {
            write = write.value(":yes", true)?;
        }
        if let Some(chain) = chain {
            write = write.value(":chain", chain)?;
        }
        let mut writes = vec![write];
        if is_newer && let ActiveCause::Message { sender, seq, .. } = active.cause {
            let copy = keys::active_run(into.agent_id, into.id);
            let write = Write::update(copy, "SET #sender = :sender, #seq = :seq");
            writes.push(write.value(":sender", sender)?.value(":seq", seq)?);
        }
        let run = RunRecord { into_run_id: Some(into.id), ..run };
        let run = canceled(store, run, EndReason::Coalesced, now);
        Ok(Self { writes, never_started: Some(run), ..Self::default() })
    }

    /// The new run replaces another one.
    fn supersede(
        &mut self,
        store: &Store,
        lanes: &mut Lanes,
        other: &RunRecord,
        new: RunId,
        now: Time,
    ) -> Result<()> {
        // A batch does not read the slots and the lane at the same moment, and `other` may get its
        // slot or its place in between. So both are checked, even if this run changes neither.
        lanes.must_hold = true;
        lanes.forget(other.id);
        let mut other = other.clone();
        other.silence.replaced_by = Some(new);
        let ended = canceled(store, other, EndReason::Superseded, now);
        self.writes.push(cancel_write(&ended)?);
        self.writes.push(Write::delete(keys::active_run(ended.agent_id, ended.id)));
        self.writes.extend(usage::writes(ended.usage_scope(), &ended.used, 1, now)?);
        self.superseded.push(ended);
        Ok(())
    }

    /// Adds the writes of the lanes and of a run that never starts.
    fn completed(mut self, mut lanes: Lanes, first: Option<RunId>, now: Time) -> Result<Self> {
        if let Some(run) = &self.never_started {
            self.writes.push(Write::put(keys::run_meta(run.id), run)?.if_absent());
        }
        // The runs before the new one may have waited for a run that it replaces. Without a job,
        // they would start only when the sweep finds them. The new run has its job already, and a
        // transaction can't write an item twice.
        let is_new =
            |run: &RunRef| self.writes.iter().any(|write| write.key == keys::run_meta(run.run_id));
        if let Some(next) = lanes.lane.runs.first().map(|next| next.run)
            && Some(next.run_id) != first
            && !is_new(&next)
        {
            lanes.start_next([next]);
        }
        self.writes.extend(lanes.writes(now)?);
        self.jobs.extend(lanes.next_jobs());
        Ok(self)
    }
}

fn new_writes(run: &RunRecord, active: &ActiveRecord) -> Result<Vec<Write>> {
    Ok(vec![
        Write::put(keys::run_meta(run.id), run)?.if_absent(),
        Write::put(keys::active_run(run.agent_id, run.id), active)?,
    ])
}

/// A run that a message ends.
fn canceled(store: &Store, run: RunRecord, reason: EndReason, now: Time) -> RunRecord {
    let token = LeaseId(run.id.to_string());
    store.runs().canceled(run, reason, &token, now)
}

fn changed() -> Error {
    Error::Retry("the runs of the agent changed at this moment; repeat the request".into())
}

/// Stored runs of lanes and lines, by id.
pub(crate) type LaneRuns = BTreeMap<RunId, RunRecord>;

impl Runs<'_> {
    /// Reads runs that a new run may join or replace.
    pub(crate) async fn lane_runs(self, runs: Vec<RunId>) -> Result<LaneRuns> {
        // A run may be in a lane and wait for a slot.
        let runs: BTreeSet<_> = runs.into_iter().collect();
        let wanted: Vec<_> = runs.iter().map(|run| keys::run_meta(*run)).collect();
        let found: Vec<RunRecord> = self.store.table.get_all(&wanted).await?.into_all()?;
        Ok(found.into_iter().map(|run| (run.id, run)).collect())
    }

    /// The concurrency modes of these agents, in their order. An agent that was
    /// deleted meanwhile is not busy: its run then ends as removed.
    pub async fn modes(self, agents: &[EntityId]) -> Result<Vec<ConcurrencyMode>> {
        let gates: Vec<_> = agents.iter().map(|agent| keys::gate(*agent)).collect();
        let mut items = self.store.table.get_all(&gates).await?;
        gates
            .iter()
            .map(|gate| {
                let limits: Option<WakeLimits> = items.take(gate)?;
                Ok(limits.map_or(ConcurrencyMode::Parallel, |limits| limits.mode))
            })
            .collect()
    }

    /// Reads the runs of an agent and finds the place of a new one. Returns `None` if the run is in
    /// the lane already.
    pub(crate) async fn place(self, new: NewRun, now: Time) -> Result<Option<Placement>> {
        let NewRun { run, active, mode, .. } = &new;
        if *mode == ConcurrencyMode::Parallel {
            return Placement::at_once(run, active).map(Some);
        }
        let lanes = self.lanes(&RunRef { in_lane: true, ..run.to_ref() }).await?;
        // The answer to an earlier try was lost. The run must not get a second place.
        if lanes.lane.runs.iter().any(|other| other.run.run_id == run.id) {
            return Ok(None);
        }
        let others = self.lane_runs(lanes.affected(*mode)).await?;
        Placement::in_lane(self.store, new, lanes, &others, now).map(Some)
    }
}

/// The change of what a run remembers of its trigger, if a newer message takes that place.
fn change_of_trigger(is_reply: bool, has_chain: bool) -> &'static str {
    match (is_reply, has_chain) {
        (true, true) => ", #isReply = :yes, #chain = :chain",
        (true, false) => ", #isReply = :yes REMOVE #chain",
        (false, true) => ", #chain = :chain REMOVE #isReply",
        (false, false) => " REMOVE #isReply, #chain",
    }
}
