//! Running a plan by hand.

use smartspace_domain::{
    Time,
    ids::{EntityId, PlanId, RunId},
    quota::QuotaUser,
};

use crate::{
    Plans, Result,
    agents::plans::no_such_plan,
    entities::no_such_entity,
    idempotency::PostKey,
    limits::quota::refused_by_hand,
    runs::{RunRecord, TriggeredBy},
    table::{WriteError, keys, write::Write},
};

impl Plans<'_> {
    /// Wakes an agent for a plan by hand. The plan's own next time stays the same.
    ///
    /// `run_id` is made before the first try. `chain_depth` is the depth of the request. Unless it
    /// is 0, the run counts as caused by a plan and not by a person. If the `key` was used before,
    /// this returns the run of that time.
    ///
    /// Fails with [`Error::Conflict`] if the agent is paused or the chain is too deep for it, and
    /// with [`Error::TooMany`] if the agent has used up its runs of this minute.
    pub async fn run_now(
        self,
        agent: EntityId,
        id: PlanId,
        run_id: RunId,
        chain_depth: u32,
        key: Option<&PostKey>,
        now: Time,
    ) -> Result<RunRecord> {
        if let Some(made) = self.store.idempotency().made_before::<RunId>(key, now).await? {
            return self.store.runs().record(made).await;
        }
        let plan = self.get(agent, id).await?;
        let user = if chain_depth == 0 { QuotaUser::operator() } else { QuotaUser::plans() };
        let (reason, bucket) = self.store.quota().may_wake(agent, chain_depth, &user, now).await?;
        if let Some(reason) = reason {
            return Err(refused_by_hand(reason, "the agent", chain_depth, now));
        }
        let run = RunRecord::queued(
            run_id,
            agent,
            TriggeredBy::Plan { plan_id: id, scheduled_at: now },
            chain_depth,
            now,
        )
        .traced(self.store);
        let exists =
            Write::update(keys::plan(agent, id), "SET #lastRunAt = :now").value(":now", now)?;
        let mut writes = vec![exists];
        writes.extend(self.run_writes(&run, &plan, now, 0, now)?);
        writes.extend(key.map(|key| key.write(&run_id.to_string(), now)).transpose()?);
        match self.store.table.transact(&writes).await {
            Ok(()) => {}
            Err(WriteError::Other(error)) => return Err(error),
            // The first try took effect and its answer was lost.
            Err(WriteError::Refused(refusal)) if refusal.names(&keys::run_meta(run_id)) => {}
            Err(WriteError::Refused(refusal)) => {
                return match PostKey::made(key, &refusal)? {
                    Some(made) => self.store.runs().record(made).await,
                    None if refusal.names(&keys::plan(agent, id)) => Err(no_such_plan()),
                    None => Err(no_such_entity()),
                };
            }
        }
        if let Some(bucket) = bucket {
            self.store.quota().count_run(agent, bucket, &user, now).await;
        }
        Ok(run)
    }
}
