//! Firing plans by an alarm. A firing is one transaction.
//!
//! The checks of the transaction, and their reasons:
//! - the plan still has the time that the alarm names, at the revision that was read: an alarm that
//!   comes twice or late fires nothing
//! - no run exists for that time: if the answer to the first try was lost, its run is there
//! - the agent exists and is not retired

use smartspace_domain::{
    Time,
    dispatch::Reason,
    ids::{EntityId, PlanId, RunId},
    plans::{Plan, PlanStatus},
    quota::QuotaUser,
};

use crate::{
    Error, Plans, Result,
    agents::plans::PlanRecord,
    entities::not_retired,
    limits::quota::next_minute,
    runs::{ActiveCause, ActiveRecord, RunRecord, TriggeredBy, triggers::FiredRecord},
    table::{WriteError, keys, refusal::Refusal, write::Write},
};

/// The outcome of an alarm.
#[derive(Clone, Debug)]
pub enum Fired {
    /// The plan fired: this run, to be queued, and the time of the next firing.
    Now(Box<RunRecord>, Option<Time>),
    /// The plan can't fire yet. It is due again at this time.
    Later(Time),
    /// The plan is gone, has another time, or is paused. There is nothing to do.
    Never,
}

/// The time that a plan fires for, and the next one.
struct Firing {
    scheduled_at: Time,
    /// How many earlier times have passed without a firing.
    missed: u32,
    next: Option<Time>,
}

impl Firing {
    /// A plan with a cron expression fires for the latest of the times that have passed.
    fn of(plan: &Plan, at: Time, now: Time) -> Result<Self> {
        let Some(cron) = plan.cron()? else {
            return Ok(Self { scheduled_at: at, missed: 0, next: None });
        };
        let (scheduled_at, missed) = cron.missed(at, now).unwrap_or((at, 0));
        Ok(Self { scheduled_at, missed, next: cron.next(now.max(at)) })
    }
}

impl PlanRecord {
    /// Moves the plan on to its next time, or deletes it after its only one.
    fn advance(&self, agent: EntityId, at: Time, next: Option<Time>, now: Time) -> Result<Write> {
        let write = match next {
            Some(next) => {
                let plan =
                    Plan { next_run_at: Some(next), last_run_at: Some(now), ..self.plan.clone() };
                self.change_to(&Self::new(plan, self.rev + 1, self.chain_depth), agent)?
            }
            None => Write::delete(keys::plan(agent, self.plan.id))
                .when("#rev = :seen")
                .value(":seen", self.rev)?,
        };
        write.when("#nextRunAt = :at").value(":at", at)
    }
}

impl Plans<'_> {
    /// Fires a plan if its time is still `at` and that has come. A plan with a cron expression
    /// fires for the latest of the times that have passed.
    pub async fn fire(self, agent: EntityId, id: PlanId, at: Time, now: Time) -> Result<Fired> {
        let key = keys::plan(agent, id);
        let Some(record): Option<PlanRecord> = self.store.table.get(&key).await? else {
            return Ok(Fired::Never);
        };
        if record.fires_at() != Some(at) {
            return Ok(Fired::Never);
        }
        if at > now {
            return Ok(Fired::Later(at));
        }
        let user = QuotaUser::plans();
        let (reason, bucket) =
            match self.store.quota().may_wake(agent, record.chain_depth, &user, now).await {
                Err(Error::NotFound(_)) => return Ok(Fired::Never),
                found => found?,
            };
        match reason {
            None => {}
            // The limit of the agent was lowered since the plan was set.
            Some(Reason::ChainDepth) => return self.pause(record, agent, now).await,
            // Its budget or its runs of this minute are used, or it is paused. It is due before the
            // plans of the next minute.
            Some(_) => return self.put_off(&record, agent, next_minute(now)).await,
        }
        let firing = Firing::of(&record.plan, at, now)?;
        let run = RunRecord::queued(
            RunId::of_plan(agent, id, firing.scheduled_at),
            agent,
            TriggeredBy::Plan { plan_id: id, scheduled_at: firing.scheduled_at },
            record.chain_depth,
            now,
        )
        .traced(self.store);
        let advance = record.advance(agent, at, firing.next, now)?;
        let mut writes = vec![advance.clone()];
        writes.extend(self.run_writes(
            &run,
            &record.plan,
            firing.scheduled_at,
            firing.missed,
            now,
        )?);
        match self.store.table.transact(&writes).await {
            Ok(()) => {}
            Err(WriteError::Other(error)) => return Err(error),
            Err(WriteError::Refused(refusal)) => {
                return self.fired_before(advance, run.id, &refusal, firing.next).await;
            }
        }
        if let Some(bucket) = bucket {
            self.store.quota().count_run(agent, bucket, &user, now).await;
        }
        Ok(Fired::Now(Box::new(run), firing.next))
    }

    /// The outcome of a firing whose transaction was refused.
    async fn fired_before(
        self,
        advance: Write,
        run: RunId,
        refusal: &Refusal,
        next: Option<Time>,
    ) -> Result<Fired> {
        let run = keys::run_meta(run);
        if refusal.names(&run) && !refusal.names(&advance.key) {
            // The plan has already fired for this time, and was set to it again after the clock
            // went back. It does not fire twice for the same time, but moves on.
            self.store.table.write_where_it_holds(advance).await?;
        }
        Ok(match refusal.existing::<RunRecord>(&run) {
            // The answer to the first try was lost, or another worker was faster.
            Some(run) if run.status.is_active() => Fired::Now(Box::new(run), next),
            // The time that the plan has now has an alarm of its own.
            _ => Fired::Never,
        })
    }

    /// The writes that queue a run of a plan. The first one is the run itself.
    pub(super) fn run_writes(
        self,
        run: &RunRecord,
        plan: &Plan,
        scheduled_at: Time,
        missed: u32,
        now: Time,
    ) -> Result<Vec<Write>> {
        let fired = FiredRecord {
            plan_id: plan.id,
            name: plan.name.clone(),
            instruction: plan.instruction.clone(),
            scheduled_at,
            missed,
            expires_at: self.store.work_expiry(now),
        };
        let active = ActiveRecord::new(run, ActiveCause::Plan { plan_name: plan.name.clone() });
        Ok(vec![
            Write::put(keys::run_meta(run.id), run)?.if_absent(),
            Write::put(keys::run_trigger(run.id), &fired)?,
            Write::put(keys::active_run(run.agent_id, run.id), &active)?,
            not_retired(run.agent_id),
        ])
    }

    /// Makes a plan due again at `then`. Its time stays the same: it fires for that time, or for
    /// the latest one since.
    async fn put_off(self, record: &PlanRecord, agent: EntityId, then: Time) -> Result<Fired> {
        let item_key = keys::plan(agent, record.plan.id);
        let write = Write::update(item_key, "SET #due = :part, #dueAt = :then REMOVE #dueCount")
            .when("#rev = :seen AND #dueAt <> :then")
            .value(":part", keys::due(record.plan.id.part_of(keys::DUE_PARTS)))?
            .value(":then", then)?
            .value(":seen", record.rev)?;
        match self.store.table.write(write).await {
            Ok(_) => Ok(Fired::Later(then)),
            // Only the worker that puts the plan off sets an alarm. Otherwise the alarms would
            // multiply every minute.
            Err(WriteError::Refused(_)) => Ok(Fired::Never),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Pauses a plan that its agent would refuse each time. People see that, and may change it.
    async fn pause(self, record: PlanRecord, agent: EntityId, now: Time) -> Result<Fired> {
        tracing::warn!(
            %agent,
            plan = %record.plan.id,
            depth = record.chain_depth,
            "a plan was paused: its chain depth is too high for its agent"
        );
        // As if a person paused it: times that pass from now on are not missed.
        let next_run_at = record.plan.next_run_at.filter(|_| !record.plan.repeats());
        let plan = record.plan.clone();
        let plan = Plan { status: PlanStatus::Paused, next_run_at, updated_at: now, ..plan };
        let paused = PlanRecord::new(plan, record.rev + 1, record.chain_depth);
        self.store.table.write_where_it_holds(record.change_to(&paused, agent)?).await?;
        Ok(Fired::Never)
    }

    /// When a plan fires next, if it is active.
    pub(crate) async fn fires_at(self, item_key: &keys::Key) -> Result<Option<Time>> {
        let record: Option<PlanRecord> = self.store.table.get(item_key).await?;
        Ok(record.and_then(|record| record.fires_at()))
    }
}
