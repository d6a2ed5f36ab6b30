//! Delegation: the admin agent of a space hands its trigger on to another agent, which answers
//! instead.

use serde::Serialize;
use smartspace_domain::{
    Time,
    agents::ConcurrencyMode,
    budgets::{BudgetScope, ScopeBudget},
    dispatch::{Source, WakeLimits},
    entities::EntityType,
    ids::{EntityId, LeaseId, RunId, SpaceId},
    jobs::MessageRef,
    spaces::TriggerPolicy,
    triggers::Delegation,
};

use crate::{
    Error, Result, Runs,
    optimistic_retry::RUNS_CHANGE,
    runs::{
        ActiveRecord, RunRecord,
        lanes::{NewRun, Placement},
        steps::{CallRecord, worker_keeps},
    },
    shared::{member::is_member, space::SpaceRecord},
    table::{WriteError, keys, refusal::Refusal, write::Write},
};

/// How an agent hands its trigger on.
#[derive(Clone, Debug)]
pub struct HandOn<'a> {
    /// The run that hands its trigger on.
    pub from: &'a RunRecord,
    /// The lease of its worker.
    pub lease: &'a LeaseId,
    /// The agent that answers instead.
    pub to: EntityId,
    /// Which agent delegates, with its note.
    pub delegation: Delegation,
    /// The call and its result, which are stored in the same transaction.
    pub call: CallRecord,
}

/// The delegation of a run's trigger, as it is stored.
#[derive(Serialize)]
pub(super) struct TriggerItem<'a> {
    #[serde(flatten)]
    pub(super) delegation: &'a Delegation,
    #[serde(rename = "expiresAt")]
    pub(super) expires_at: Option<i64>,
}

impl Runs<'_> {
    /// Queues a run of another agent for the trigger of this one. The caller then ends the run that
    /// hands it on. Fails with [`Error::Forbidden`], [`Error::NotFound`] or [`Error::Conflict`] if
    /// the agent can't hand its trigger on.
    pub async fn hand_on(self, hand_on: &HandOn<'_>, now: Time) -> Result<Placement> {
        let HandOn { from, to, .. } = hand_on;
        let to = *to;
        let MessageRef { space_id, seq } = from.place().ok_or_else(|| {
            Error::Forbidden("no message of a space woke you: there is nothing to hand on".into())
        })?;
        let space = self.store.spaces().record(space_id).await?;
        let mode = self.check_delegation(from, to, &space, now).await?;
        let message = self.store.messages().record(space_id, seq).await?;
        let message =
            message.ok_or_else(|| Error::NotFound("the message that woke you is gone".into()))?;
        let run = RunRecord::triggered(
            RunId::of_delegation(to, from.id),
            to,
            space_id,
            &message,
            Source::Delegated,
            now,
        )
        .traced(self.store);
        let active = ActiveRecord::triggered(&run, space.id, &space.settings.name, &message);
        let mut tries = self.store.optimistic_retry_of(to);
        loop {
            let new = NewRun { run: run.clone(), active: active.clone(), mode, auto_since: None };
            let placement = self.place(new, now).await?;
            let placement = placement
                .ok_or_else(|| Error::Conflict("the trigger is handed on already".into()))?;
            let mut writes = self.hand_on_writes(hand_on, &space, now)?;
            writes.extend(placement.writes.iter().cloned());
            let refusal = match self.store.table.transact(&writes).await {
                Ok(()) => return Ok(placement),
                Err(WriteError::Other(error)) => return Err(error),
                Err(WriteError::Refused(refusal)) => refusal,
            };
            if was_handed_on(hand_on, &refusal)? {
                return Ok(placement);
            }
            let space_changed = [keys::space_meta(space.id), keys::member(space.id, to)];
            let changed = || Error::Conflict("the space changed at this moment; try again".into());
            if space_changed.iter().any(|key| refusal.names(key)) {
                return Err(changed());
            }
            tries.after_conflict(RUNS_CHANGE).await.map_err(|_| changed())?;
        }
    }

    /// Fails unless the agent of `from` may hand its trigger on to the agent `to`. Returns what
    /// messages for `to` do while it is busy.
    async fn check_delegation(
        self,
        from: &RunRecord,
        to: EntityId,
        space: &SpaceRecord,
        now: Time,
    ) -> Result<ConcurrencyMode> {
        let me = from.agent_id;
        let settings = &space.settings;
        if settings.trigger_policy != TriggerPolicy::Admin || settings.admin_agent_id != Some(me) {
            return Err(Error::Forbidden(
                "only the admin agent of a space whose policy is \"admin\" can hand its trigger on"
                    .into(),
            ));
        }
        if to == me {
            return Err(Error::Conflict(
                "that is you; expected the id of another agent of the space".into(),
            ));
        }
        let other = self.store.members().get(space.id, to).await?;
        let other = other.filter(|member| member.kind == EntityType::Agent).ok_or_else(|| {
            Error::NotFound(format!("{to} is not an agent of this space; YOUR SPACES lists who is"))
        })?;
        let limits: Option<WakeLimits> = self.store.table.get(&keys::gate(to)).await?;
        let limits = limits.ok_or_else(|| Error::NotFound(format!("{to} is retired")))?;
        if space.has_stopped(from.chain_id(), now) {
            return Err(Error::Conflict("this chain was stopped in the space".into()));
        }
        if settings.paused || limits.paused {
            return Err(Error::Conflict(format!("{} is paused", other.name)));
        }
        if from.chain_depth >= settings.max_chain_depth.min(limits.max_chain_depth) {
            return Err(Error::Conflict(format!(
                "chain depth {} is too deep for {} (maxChainDepth)",
                from.chain_depth, other.name
            )));
        }
        let of_space = ScopeBudget::of(BudgetScope::Space(space.id), settings.budget.per_day());
        let budgets: Vec<_> = self.store.budgets_of(to, &limits, of_space).collect();
        if let Some(used) = self.store.budgets().first_used(&budgets, now).await? {
            let whose = match used {
                BudgetScope::Agent(_) => &other.name,
                BudgetScope::Space(_) => "this space",
                BudgetScope::Deployment => "the deployment",
            };
            return Err(Error::Conflict(format!(
                "the budget of {whose} for today has no room for another call"
            )));
        }
        if self.is_busy(to, space.id, limits.mode).await? {
            return Err(Error::Conflict(format!("{} is busy: too many runs wait", other.name)));
        }
        Ok(limits.mode)
    }

    /// Whether an agent has so many active runs that it takes no more.
    pub(super) async fn is_busy(
        self,
        agent: EntityId,
        space: SpaceId,
        mode: ConcurrencyMode,
    ) -> Result<bool> {
        let space = Some(space).filter(|_| mode != ConcurrencyMode::Parallel);
        Ok(self.lanes_of(agent, space).await?.are_busy(mode))
    }

    fn hand_on_writes(
        self,
        hand_on: &HandOn<'_>,
        space: &SpaceRecord,
        now: Time,
    ) -> Result<Vec<Write>> {
        let HandOn { from, lease, to, delegation, call } = hand_on;
        let is_admin = Write::check(keys::space_meta(space.id))
            .when("#settings.#triggerPolicy = :admin AND #settings.#adminAgentId = :me");
        let mut writes = vec![
            worker_keeps(from.id, lease, "")?,
            call.write(from.id)?,
            is_admin.value(":admin", TriggerPolicy::Admin)?.value(":me", from.agent_id)?,
            is_member(space.id, *to),
            Write::put(
                keys::run_trigger(RunId::of_delegation(*to, from.id)),
                &TriggerItem { delegation, expires_at: self.store.work_expiry(now) },
            )?,
        ];
        writes.extend(call.card_writes()?);
        Ok(writes)
    }

    /// The delegation of a run's trigger, if another agent handed it on.
    pub async fn delegation(self, run: &RunRecord) -> Result<Option<Delegation>> {
        if run.is_delegated() {
            self.store.table.get(&keys::run_trigger(run.id)).await
        } else {
            Ok(None)
        }
    }
}

/// Whether the first try of the transaction took effect and its answer was lost. Fails if the
/// worker has lost its run.
fn was_handed_on(hand_on: &HandOn<'_>, refusal: &Refusal) -> Result<bool> {
    let HandOn { from, call, .. } = hand_on;
    if refusal.names(&keys::run_meta(from.id)) {
        return Err(Error::LeaseLost);
    }
    match refusal.existing::<CallRecord>(&call.key(from.id)) {
        // While the lease holds, only this worker makes this call.
        Some(stored) if stored.call_id == call.call_id => Ok(true),
        None => Ok(false),
        Some(_) => Err(Error::LeaseLost),
    }
}
