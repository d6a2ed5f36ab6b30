//! Retries: a person lets an agent answer a trigger once more, after the run for it failed or was
//! canceled.
//!
//! A retry is a new run for the same trigger. It passes the limits that its trigger passed, as they
//! are now. Its id follows from the run that it repeats, so there is one, however often somebody
//! asks for it.
//!
//! The checks of the transaction, and their reasons:
//! - no run has the id: the retry was made before, or the answer to the first try was lost
//! - the agent is a member of the space; if no message triggered the run, the agent is not retired
//! - the space's runs of this minute are as they were read, because they are limited

use smartspace_domain::{
    Time,
    agents::ConcurrencyMode,
    budgets::{BudgetScope, ScopeBudget},
    dispatch::{Reason, cannot_wake},
    ids::{DeliveryId, RunId},
    jobs::MessageRef,
    quota::{Bucket, QuotaUser, RateWindow},
    runs::{EndReason, RunStatus},
    triggers::Delegation,
};

use crate::{
    Error, Result, Runs,
    entities::not_retired,
    limits::quota::{minute_stays, refused_by_hand},
    runs::{
        ActiveCause, ActiveRecord, RunRecord, TriggeredBy, created_before,
        delegations::TriggerItem,
        lanes::{NewRun, Placement},
        triggers::{FiredRecord, PayloadRecord},
    },
    shared::member::is_member,
    table::{WriteError, keys, write::Write},
};

/// A request to repeat a run.
#[derive(Clone, Debug)]
pub struct Retry<'a> {
    pub of: &'a RunRecord,
    /// The requester: the run counts as theirs in the runs per minute.
    pub by: QuotaUser,
    /// The chain depth of the request. The retry has this depth, or that of the run if it is
    /// larger.
    pub chain_depth: u32,
}

/// A retry that passes the limits.
struct Allowed {
    active: ActiveRecord,
    mode: ConcurrencyMode,
    /// The writes besides those of the run itself.
    writes: Vec<Write>,
    /// Counts the run in its space, if it is in one.
    counted: Option<Write>,
    /// The bucket of the agent's quota that it is taken from.
    bucket: Option<Bucket>,
}

impl Runs<'_> {
    /// Repeats a run, unless that was done before. The second value is what follows from it.
    ///
    /// Fails with [`Error::Conflict`] unless the run failed or was canceled by a person or by
    /// `stop_run`, and if the agent can't be triggered now; with [`Error::TooMany`] if its runs of
    /// this minute or a budget are used.
    pub async fn retry(self, retry: &Retry<'_>, now: Time) -> Result<(RunId, Placement)> {
        let of = retry.of;
        let run = RunRecord {
            retry_of: Some(of.id),
            joined: of.joined.clone(),
            ..RunRecord::queued(
                RunId::of_retry(of.agent_id, of.id),
                of.agent_id,
                of.triggered_by.repeated(),
                of.chain_depth.max(retry.chain_depth),
                now,
            )
        };
        let run = run.traced(self.store);
        let item_key = keys::run_meta(run.id);
        if let Some(made) = self.store.table.get(&item_key).await? {
            return Ok((run.id, created_before(&made)));
        }
        check_end(of)?;
        self.repeat(retry, &run, now).await
    }

    /// Stores `run`, which has the trigger of another one, unless that was done before.
    pub(super) async fn repeat(
        self,
        retry: &Retry<'_>,
        run: &RunRecord,
        now: Time,
    ) -> Result<(RunId, Placement)> {
        let item_key = keys::run_meta(run.id);
        let mut tries = self.store.optimistic_retry_of(run.agent_id);
        loop {
            let Allowed { active, mode, writes, counted, bucket } =
                Box::pin(self.allowed(retry, run, now)).await?;
            let new = NewRun { run: run.clone(), active, mode, auto_since: None };
            let Some(placement) = self.place(new, now).await? else {
                return Ok((run.id, created_before(&self.record(run.id).await?)));
            };
            let ends = placement.never_started.as_ref().and_then(|run| run.end_reason);
            if ends == Some(EndReason::Superseded) {
                let text = "a newer message of the space is being answered (mode latest)";
                return Err(Error::Conflict(text.into()));
            }
            // A run that joins another one does not start.
            let starts = ends != Some(EndReason::Coalesced);
            let writes = writes.into_iter().chain(counted.filter(|_| starts));
            let writes: Vec<_> = placement.writes.iter().cloned().chain(writes).collect();
            let refusal = match self.store.table.transact(&writes).await {
                Ok(()) => {
                    if let Some(bucket) = bucket.filter(|_| starts) {
                        self.store.quota().count_run(run.agent_id, bucket, &retry.by, now).await;
                    }
                    return Ok((run.id, placement));
                }
                Err(WriteError::Other(error)) => return Err(error),
                Err(WriteError::Refused(refusal)) => refusal,
            };
            if let Some(made) = refusal.existing(&item_key) {
                return Ok((run.id, created_before(&made)));
            }
            tries.after_conflict("the space or the agent changes all the time").await?;
        }
    }

    /// Checks the limits of a retry, and reads what it needs.
    async fn allowed(self, retry: &Retry<'_>, run: &RunRecord, now: Time) -> Result<Allowed> {
        let Retry { of, by, .. } = retry;
        let entity = self.store.entities().any_record(run.agent_id).await?;
        if entity.is_none_or(|entity| entity.retired_at.is_some()) {
            return Err(Error::Conflict("the agent is retired".into()));
        }
        let (reason, bucket) =
            self.store.quota().may_wake(run.agent_id, run.chain_depth, by, now).await?;
        if let Some(reason) = reason {
            return Err(refused_by_hand(reason, "the agent", run.chain_depth, now));
        }
        match run.triggered_by {
            TriggeredBy::Message { space_id, seq, .. } => {
                let message = MessageRef { space_id, seq };
                let allowed = Box::pin(self.in_space(retry, run, message, now)).await?;
                Ok(Allowed { bucket, ..allowed })
            }
            TriggeredBy::Plan { .. } => {
                let fired: Option<FiredRecord> =
                    self.store.table.get(&keys::run_trigger(of.id)).await?;
                let fired = fired.ok_or_else(trigger_is_gone)?;
                let cause = ActiveCause::Plan { plan_name: fired.name.clone() };
                let fired = FiredRecord { expires_at: self.store.work_expiry(now), ..fired };
                let writes =
                    vec![Write::put(keys::run_trigger(run.id), &fired)?, not_retired(run.agent_id)];
                Ok(Allowed {
                    active: ActiveRecord::new(run, cause),
                    mode: ConcurrencyMode::Parallel,
                    writes,
                    counted: None,
                    bucket,
                })
            }
            TriggeredBy::Delivery { delivery_id } => {
                let cause = self.service_cause(delivery_id).await?;
                let exists = not_retired(run.agent_id);
                Ok(Allowed {
                    active: ActiveRecord::new(run, cause),
                    mode: ConcurrencyMode::Parallel,
                    writes: vec![exists],
                    counted: None,
                    bucket,
                })
            }
            TriggeredBy::Fork { .. } => {
                Err(Error::Conflict("a fork can't be repeated; fork the same run once more".into()))
            }
            TriggeredBy::Unknown {} => Err(Error::Conflict(
                "the run has a cause that only a later version of the server knows".into(),
            )),
        }
    }

    async fn service_cause(self, delivery: DeliveryId) -> Result<ActiveCause> {
        let payload: Option<PayloadRecord> = self.store.table.get(&keys::payload(delivery)).await?;
        let payload = payload.ok_or_else(trigger_is_gone)?;
        Ok(ActiveCause::Service { service_name: payload.service })
    }

    /// The same for the trigger in a space. The bucket of the agent's quota is not known here.
    async fn in_space(
        self,
        retry: &Retry<'_>,
        run: &RunRecord,
        message: MessageRef,
        now: Time,
    ) -> Result<Allowed> {
        let Retry { of, by, .. } = retry;
        let MessageRef { space_id: id, seq } = message;
        let agent = run.agent_id;
        let (space, head, message, member, (gate, _)) = futures::try_join!(
            async {
                match self.store.spaces().record(id).await {
                    Err(Error::NotFound(_)) => Err(trigger_is_gone()),
                    found => found,
                }
            },
            self.store.members().head(id),
            self.store.messages().record(id, seq),
            self.store.members().get(id, agent),
            self.store.quota().gate_and_minute(agent, now),
        )?;
        let (Some(head), Some(message)) = (head, message) else { return Err(trigger_is_gone()) };
        let (Some(_), Some(gate)) = (member, gate) else {
            return Err(Error::Conflict("the agent is not a member of the space any more".into()));
        };
        let settings = &space.settings;
        if let Some(reason) = cannot_wake(settings, &gate, run.chain_depth) {
            return Err(refused_by_hand(reason, "the space", run.chain_depth, now));
        }
        let mut minute = RateWindow::now(head.minute.as_ref(), now);
        let room = minute.room_in_space(settings.budget.runs_per_minute, by);
        let refused = |reason| Err(refused_by_hand(reason, "the space", run.chain_depth, now));
        let Some(bucket) = room else { return refused(Reason::Rate) };
        let of_space = ScopeBudget::of(BudgetScope::Space(id), settings.budget.per_day());
        let mut budgets: Vec<_> = self.store.budgets_of(agent, &gate, of_space).collect();
        // The others were checked already.
        budgets.retain(|budget| budget.scope == BudgetScope::Space(id));
        if self.store.budgets().first_used(&budgets, now).await?.is_some() {
            return refused(Reason::Budget);
        }
        if self.is_busy(agent, id, gate.mode).await? {
            return refused(Reason::Busy);
        }
        minute.count(bucket, by);
        let counted = Write::update(keys::space_head(id), "SET #minute = :after");
        let counted = minute_stays(counted, head.minute.as_ref())?.value(":after", &minute)?;
        let mut writes = vec![is_member(id, agent)];
        if of.is_delegated() {
            let delegation: Option<Delegation> = self.delegation(of).await?;
            let delegation = &delegation.ok_or_else(trigger_is_gone)?;
            let item = TriggerItem { delegation, expires_at: self.store.work_expiry(now) };
            writes.push(Write::put(keys::run_trigger(run.id), &item)?);
        }
        let active = ActiveRecord::triggered(run, id, &settings.name, &message);
        Ok(Allowed { active, mode: gate.mode, writes, counted: Some(counted), bucket: None })
    }
}

/// Fails unless a run ended in a way that may be repeated.
fn check_end(run: &RunRecord) -> Result<()> {
    let how = match (run.status, run.end_reason) {
        (RunStatus::Failed, _)
        | (RunStatus::Canceled, Some(EndReason::Cancel | EndReason::StopRun)) => return Ok(()),
        (status, _) if status.is_active() => "it has not ended",
        (RunStatus::Completed, _) => "it completed",
        (_, Some(EndReason::Declined)) => "people ended it in place of approving a call",
        _ => "another run took its place, or its agent or its space is gone",
    };
    Err(Error::Conflict(format!("only a run that failed or was canceled is repeated: {how}")))
}

fn trigger_is_gone() -> Error {
    Error::Conflict("what triggered the run is not stored any more".into())
}
