//! What agents are to do later. How people and tools change it stands in [`crate::kept`]; a firing is one transaction.
//!
//! What a firing checks, and why:
//! - the plan still has the time that the alarm names, at the version that was read: an alarm twice, or one that is late, fires nothing
//! - there is no run for that time: the token of a first try whose answer was lost is found there
//! - the agent is there, and not retired

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    dispatch::Reason,
    ids::{EntityId, PlanId, RunId},
    limits,
    plans::{Plan, PlanChange, PlanStatus},
    shares::{Cause, Minute},
};

use crate::{
    Error, Result, Store,
    entities::no_such_entity,
    kept::{By, Change, Reads},
    keys,
    pages::{Ask, Page},
    posted::PostKey,
    runs::{ActiveCause, ActiveRecord, RunRecord, WokenBy},
    table::WriteError,
    triggers::FiredRecord,
    write::Write,
};

/// When a plan is looked at again that can't fire at its time, since its agent is paused or has had its runs of the minute: as the next one begins, before
/// what is due in it.
fn next_minute(now: Time) -> Time {
    Time::from_millis((Minute::number_of(now) + 1) * 60_000)
}

/// A plan, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanRecord {
    /// It, as the API shows it.
    #[serde(flatten)]
    pub plan: Plan,
    /// Raised by each change, and each firing.
    pub rev: u64,
    /// How deep in a chain of agents' doings what it wakes is.
    #[serde(default)]
    pub chain_depth: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    due: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    due_at: Option<Time>,
}

impl PlanRecord {
    fn new(plan: Plan, rev: u64, chain_depth: u32) -> Self {
        let due_at = plan.next_run_at.filter(|_| plan.status == PlanStatus::Active);
        let due = due_at.map(|_| keys::due(plan.id.part_of(keys::DUE_PARTS)));
        Self { plan, rev, chain_depth, due, due_at }
    }

    /// When it fires next.
    pub fn fires_at(&self) -> Option<Time> {
        self.plan.next_run_at.filter(|_| self.plan.status == PlanStatus::Active)
    }
}

/// A plan that is to be made or changed.
#[derive(Clone, Debug)]
pub struct SetPlan {
    /// Which; one that is not there is an error where it is `known`.
    pub id: PlanId,
    /// It was named by who sets it.
    pub known: bool,
    /// How it is to be.
    pub change: PlanChange,
    /// How deep in a chain of agents' doings what it wakes once is; by cron it is 0.
    pub chain_depth: u32,
    /// At which depth the agent is not woken any more.
    pub max_chain_depth: u32,
    /// Where it stands in the input, a JSON pointer: faults are told below it.
    pub pointer: String,
}

/// What came of an alarm.
#[derive(Clone, Debug)]
pub enum Fired {
    /// The plan fired: this run is to be queued. When it fires next.
    Now(Box<RunRecord>, Option<Time>),
    /// It does not, yet: look again then.
    Later(Time),
    /// The plan is gone, has another time, or is paused: there is nothing to do.
    Never,
}

impl Store {
    /// A page of an agent's plans, by age.
    pub async fn plans(&self, agent: EntityId, ask: &Ask) -> Result<Page<Plan>> {
        self.kept_page(agent, keys::PLAN, ask).await
    }

    /// All of an agent's plans, by age.
    pub async fn all_plans(&self, agent: EntityId) -> Result<Vec<Plan>> {
        self.all_kept(agent, keys::PLAN).await
    }

    /// A plan.
    pub async fn plan(&self, agent: EntityId, id: PlanId) -> Result<Plan> {
        let record: Option<PlanRecord> = self.table.get(&keys::plan(agent, id)).await?;
        record.map(|record| record.plan).ok_or_else(no_such_plan)
    }

    /// Makes and changes plans, at most [`limits::KEPT_AT_ONCE`], one after the other. Gives each as it is then, in the order of `set`.
    /// [`Error::Invalid`] where one is not right, [`Error::NotFound`] where one that is to be changed is gone, [`Error::Conflict`] where there
    /// would be too many, or what one wakes would be too deep.
    pub async fn set_plans(&self, agent: EntityId, set: &[SetPlan], by: &By<Plan>, now: Time) -> Result<Vec<Plan>> {
        self.change_kept(agent, Reads::All(keys::PLAN), by, |items, counts| {
            let there: Vec<PlanRecord> = items.into_all()?;
            let mut made: Vec<(Option<u64>, PlanRecord)> = Vec::with_capacity(set.len());
            for SetPlan { id, known, change, chain_depth, max_chain_depth, pointer } in set {
                let again = made.iter().position(|(_, record)| record.plan.id == *id).map(|place| made.remove(place));
                let before = again.or_else(|| there.iter().find(|it| it.plan.id == *id).map(|it| (Some(it.rev), it.clone())));
                if before.is_none() && *known {
                    return Err(Error::NotFound(format!("{pointer}: there is no plan {id}")));
                }
                let (rev, before) = before.map_or((None, None), |(rev, before)| (rev, Some(before)));
                let deep = before.as_ref().map_or(0, |before| before.chain_depth).max(*chain_depth);
                let plan = change.clone().apply(*id, before.map(|before| before.plan), now, pointer)?;
                let depth = if plan.cron()?.is_some() { 0 } else { deep };
                if depth >= *max_chain_depth && plan.status == PlanStatus::Active {
                    return Err(too_deep(depth, *max_chain_depth));
                }
                made.push((rev, PlanRecord::new(plan, rev.unwrap_or(0) + 1, depth)));
            }
            let new = made.iter().filter(|(rev, _)| rev.is_none()).count();
            if new > 0 && there.len() + new > limits::PLANS {
                let (most, there) = (limits::PLANS, there.len());
                return Err(Error::Conflict(format!(
                    "an agent has at most {most} plans, this one has {there}, and {new} would be new; delete some first, or change those that are there"
                )));
            }
            let writes = made.iter().map(|(rev, record)| {
                let write = Write::put(keys::plan(agent, record.plan.id), record)?;
                match rev {
                    // A firing raises it, too.
                    Some(rev) => write.when("#rev = :seen").value(":seen", rev),
                    None => Ok(write.if_absent()),
                }
            });
            let writes = writes.collect::<Result<_>>()?;
            Ok(Change { writes, counts, made: made.into_iter().map(|(_, record)| record.plan).collect() })
        })
        .await
    }

    /// Drops the plans with these ids, at most [`limits::KEPT_AT_ONCE`]. Gives those that were there.
    pub async fn delete_plans(&self, agent: EntityId, unwanted: &BTreeSet<PlanId>, by: &By<PlanId>) -> Result<Vec<PlanId>> {
        self.change_kept(agent, Reads::All(keys::PLAN), by, |items, counts| {
            let there: Vec<PlanRecord> = items.into_all()?;
            let made: Vec<PlanId> = there.iter().map(|record| record.plan.id).filter(|id| unwanted.contains(id)).collect();
            let writes = made.iter().map(|id| Write::delete(keys::plan(agent, *id))).collect();
            Ok(Change { writes, counts, made })
        })
        .await
    }

    /// Drops all plans of an agent that is retired.
    pub async fn drop_plans(&self, agent: EntityId) -> Result<()> {
        for plan in self.all_plans(agent).await? {
            self.table.write_always(Write::delete(keys::plan(agent, plan.id))).await?;
        }
        Ok(())
    }

    /// Fires a plan, if `at` is still the time that it has, and that has come. One by cron fires for the latest of the times that went by.
    pub async fn fire_plan(&self, agent: EntityId, id: PlanId, at: Time, now: Time) -> Result<Fired> {
        let place = keys::plan(agent, id);
        let Some(record): Option<PlanRecord> = self.table.get(&place).await? else { return Ok(Fired::Never) };
        if record.fires_at() != Some(at) {
            return Ok(Fired::Never);
        }
        if at > now {
            return Ok(Fired::Later(at));
        }
        let cause = Cause::plans();
        let (reason, half) = match self.may_wake(agent, record.chain_depth, &cause, now).await {
            Err(Error::NotFound(_)) => return Ok(Fired::Never),
            found => found?,
        };
        match reason {
            None => {}
            // Its agent takes nothing from so deep any more.
            Some(Reason::ChainDepth) => return self.pause_plan(record, agent, now).await,
            Some(_) => return self.put_off(&record, agent, next_minute(now)).await,
        }
        let (scheduled_at, missed, next) = match record.plan.cron()? {
            Some(cron) => {
                let (latest, missed) = cron.missed(at, now).unwrap_or((at, 0));
                (latest, missed, cron.next(now.max(at)))
            }
            None => (at, 0, None),
        };
        let run_id = RunId::of_plan(agent, id, scheduled_at);
        let run = RunRecord::queued(run_id, agent, WokenBy::Plan { plan_id: id, scheduled_at }, record.chain_depth, now);
        let moved = match next {
            Some(next) => {
                let plan = Plan { next_run_at: Some(next), last_run_at: Some(now), ..record.plan.clone() };
                Write::put(place, &PlanRecord::new(plan, record.rev + 1, record.chain_depth))?
            }
            // It was for this one time.
            None => Write::delete(place),
        };
        let moved = moved.when("#rev = :seen AND #nextRunAt = :at").value(":seen", record.rev)?.value(":at", at)?;
        let writes = [vec![moved.clone()], self.woken_by_plan(&run, &record.plan, (scheduled_at, missed), now)?].concat();
        match self.table.transact(&writes).await {
            Ok(()) => {}
            Err(WriteError::Other(error)) => return Err(error),
            Err(WriteError::Refused(refusal)) => {
                let place = keys::run_meta(run_id);
                if refusal.names(&place) && !refusal.names(&keys::plan(agent, id)) {
                    // It has fired for this very time before: it was set to it again, after the clock had jumped back. Once is enough, and the plan goes on.
                    self.table.write_where_it_holds(moved).await?;
                }
                return match refusal.there::<RunRecord>(&place) {
                    // The answer to the first try was lost, or somebody was faster: it has fired.
                    Some(there) if there.status.is_active() => Ok(Fired::Now(Box::new(there), next)),
                    // Whatever else it was: the time that the plan has now has an alarm of its own.
                    _ => Ok(Fired::Never),
                };
            }
        }
        if let Some(half) = half {
            self.count_run(agent, half, &cause, now).await;
        }
        Ok(Fired::Now(Box::new(run), next))
    }

    /// Wakes an agent for a plan by hand, by the run `run_id`, whose id is made before the first try; when the plan fires by itself stays as it is. From
    /// `chain_depth` of a chain of agents' doings it is as deep, and counts as no person's. With a `key` that was used before: the run of then.
    /// [`Error::Conflict`] where the agent is paused or takes nothing from so deep, [`Error::TooMany`] where it has had its runs of the minute.
    pub async fn run_plan(
        &self,
        agent: EntityId,
        id: PlanId,
        (run_id, chain_depth): (RunId, u32),
        key: Option<&PostKey>,
        now: Time,
    ) -> Result<RunRecord> {
        if let Some(made) = self.made_before::<RunId>(key, now).await? {
            return self.run_record(made).await;
        }
        let plan = self.plan(agent, id).await?;
        let cause = if chain_depth == 0 { Cause::operator() } else { Cause::plans() };
        let (reason, half) = self.may_wake(agent, chain_depth, &cause, now).await?;
        match reason {
            None => {}
            Some(Reason::Rate) => {
                let text = "the agent has had its runs of this minute (budget.runsPerMinute)".to_owned();
                return Err(Error::TooMany { text, wait: next_minute(now).since(now) });
            }
            Some(Reason::Paused) => return Err(Error::Conflict("the agent is paused".into())),
            Some(_) => {
                let deep = format!("{chain_depth} deep in a chain of agents' doings is too deep for the agent (maxChainDepth)");
                return Err(Error::Conflict(deep));
            }
        }
        let run = RunRecord::queued(run_id, agent, WokenBy::Plan { plan_id: id, scheduled_at: now }, chain_depth, now);
        let is_there = Write::update(keys::plan(agent, id), "SET #lastRunAt = :now").value(":now", now)?;
        let mut writes = [vec![is_there], self.woken_by_plan(&run, &plan, (now, 0), now)?].concat();
        writes.extend(key.map(|key| key.write(&run_id.to_string(), now)).transpose()?);
        match self.table.transact(&writes).await {
            Ok(()) => {}
            Err(WriteError::Other(error)) => return Err(error),
            // The answer to the first try was lost.
            Err(WriteError::Refused(refusal)) if refusal.names(&keys::run_meta(run_id)) => {}
            Err(WriteError::Refused(refusal)) => {
                return match PostKey::made(key, &refusal)? {
                    Some(made) => self.run_record(made).await,
                    None if refusal.names(&keys::plan(agent, id)) => Err(no_such_plan()),
                    None => Err(no_such_entity()),
                };
            }
        }
        if let Some(half) = half {
            self.count_run(agent, half, &cause, now).await;
        }
        Ok(run)
    }

    /// A run that a plan wakes: itself first.
    fn woken_by_plan(&self, run: &RunRecord, plan: &Plan, (scheduled_at, missed): (Time, u32), now: Time) -> Result<Vec<Write>> {
        let fired = FiredRecord {
            plan_id: plan.id,
            name: plan.name.clone(),
            instruction: plan.instruction.clone(),
            scheduled_at,
            missed,
            expires_at: self.progress_expiry(now),
        };
        let active = ActiveRecord::new(run, ActiveCause::Plan { plan_name: plan.name.clone() });
        Ok(vec![
            Write::put(keys::run_meta(run.id), run)?.if_absent(),
            Write::put(keys::run_trigger(run.id), &fired)?,
            Write::put(keys::active_run(run.agent_id, run.id), &active)?,
            Write::check(keys::entity_meta(run.agent_id)).when("attribute_exists(PK) AND attribute_not_exists(#retiredAt)"),
        ])
    }

    /// Looks at a plan again `then`. Its time stays: it fires for that, or for the latest one since.
    async fn put_off(&self, record: &PlanRecord, agent: EntityId, then: Time) -> Result<Fired> {
        let place = keys::plan(agent, record.plan.id);
        let write = Write::update(place, "SET #due = :part, #dueAt = :then REMOVE #dueCount")
            .when("#rev = :seen AND #dueAt <> :then")
            .value(":part", keys::due(record.plan.id.part_of(keys::DUE_PARTS)))?
            .value(":then", then)?
            .value(":seen", record.rev)?;
        match self.table.write(write).await {
            Ok(_) => Ok(Fired::Later(then)),
            // Who put it off to then sets its alarm: else there would be more of them each minute.
            Err(WriteError::Refused(_)) => Ok(Fired::Never),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Lets a plan rest that would wake nobody: people see it, and may set it anew.
    async fn pause_plan(&self, record: PlanRecord, agent: EntityId, now: Time) -> Result<Fired> {
        let depth = record.chain_depth;
        tracing::warn!(%agent, plan = %record.plan.id, depth, "a plan was paused: its agent takes nothing from so deep in a chain of agents' doings");
        // As where somebody pauses it: what goes by from now on was not missed.
        let next_run_at = record.plan.next_run_at.filter(|_| !record.plan.repeats());
        let plan = Plan { status: PlanStatus::Paused, next_run_at, updated_at: now, ..record.plan };
        let paused = PlanRecord::new(plan, record.rev + 1, record.chain_depth);
        let write = Write::put(keys::plan(agent, paused.plan.id), &paused)?.when("#rev = :seen").value(":seen", record.rev)?;
        self.table.write_where_it_holds(write).await?;
        Ok(Fired::Never)
    }

    /// When a plan fires next; none where it does not.
    pub(crate) async fn plan_fires_at(&self, place: &keys::Key) -> Result<Option<Time>> {
        let record: Option<PlanRecord> = self.table.get(place).await?;
        Ok(record.and_then(|record| record.fires_at()))
    }
}

/// What a plan would wake lies too deep in a chain of agents' doings.
pub fn too_deep(depth: u32, most: u32) -> Error {
    Error::Conflict(format!(
        "this plan would wake nobody: it lies {depth} deep in a chain of agents' doings, and this agent takes less than {most} (maxChainDepth); a plan by cron begins anew"
    ))
}

/// There is none with this id.
pub fn no_such_plan() -> Error {
    Error::NotFound("there is no such plan".into())
}
