//! The plans of agents. [`crate::agents::state`] describes how changes are stored. A firing is a
//! transaction of its own.

mod by_hand;
mod firing;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    ids::{EntityId, PlanId},
    limits,
    plans::{Plan, PlanChange, PlanStatus},
};

pub use self::firing::Fired;
use crate::{
    Error, Plans, Result,
    agents::state::{Change, ChangedBy, Reads},
    table::{
        keys,
        pages::{Ask, Page},
        write::Write,
    },
};

/// A plan, as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanRecord {
    /// The plan, as the API shows it.
    #[serde(flatten)]
    pub plan: Plan,
    /// Raised by each change and each firing.
    pub rev: u64,
    /// The chain depth of its runs.
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

    /// When it fires next, if it is active.
    pub fn fires_at(&self) -> Option<Time> {
        self.plan.next_run_at.filter(|_| self.plan.status == PlanStatus::Active)
    }
}

/// A plan to be created or changed.
#[derive(Clone, Debug)]
pub struct SetPlan {
    /// Its id.
    pub id: PlanId,
    /// Whether the caller named the plan, so that it must exist.
    pub known: bool,
    /// The change.
    pub change: PlanChange,
    /// The chain depth of its run, if it runs only once. A plan with a cron expression has depth 0.
    pub chain_depth: u32,
    /// The lowest chain depth at which the agent does not run.
    pub max_chain_depth: u32,
    /// The JSON pointer to it in the input. Errors point below it.
    pub pointer: String,
}

struct ChangedPlan {
    /// The revision that was read. `None` for a new plan.
    seen_rev: Option<u64>,
    record: PlanRecord,
}

impl SetPlan {
    /// Applies the change to the plan in `made`, or else to the one in `existing`, and adds the
    /// result to `made`.
    fn apply(&self, existing: &[PlanRecord], made: &mut Vec<ChangedPlan>, now: Time) -> Result<()> {
        let Self { id, known, change, chain_depth, max_chain_depth, pointer } = self;
        let position = made.iter().position(|changed| changed.record.plan.id == *id);
        let before = position.map(|position| made.remove(position)).or_else(|| {
            let record = existing.iter().find(|record| record.plan.id == *id)?.clone();
            Some(ChangedPlan { seen_rev: Some(record.rev), record })
        });
        if before.is_none() && *known {
            return Err(Error::NotFound(format!("{pointer}: there is no plan {id}")));
        }
        let seen_rev = before.as_ref().and_then(|before| before.seen_rev);
        let before = before.map(|before| before.record);
        let deepest = before.as_ref().map_or(0, |before| before.chain_depth).max(*chain_depth);
        let plan = change.clone().apply(*id, before.map(|before| before.plan), now, pointer)?;
        let depth = if plan.cron()?.is_some() { 0 } else { deepest };
        if depth >= *max_chain_depth && plan.status == PlanStatus::Active {
            return Err(too_deep(depth, *max_chain_depth));
        }
        let record = PlanRecord::new(plan, seen_rev.unwrap_or(0) + 1, depth);
        made.push(ChangedPlan { seen_rev, record });
        Ok(())
    }
}

impl ChangedPlan {
    fn write(&self, agent: EntityId) -> Result<Write> {
        let write = Write::put(keys::plan(agent, self.record.plan.id), &self.record)?;
        match self.seen_rev {
            // The version of the agent's state is not enough: a firing raises only `rev`.
            Some(rev) => write.when("#rev = :seen").value(":seen", rev),
            None => Ok(write.if_absent()),
        }
    }
}

impl Plans<'_> {
    /// A page of an agent's plans, by age.
    pub async fn list(self, agent: EntityId, ask: &Ask) -> Result<Page<Plan>> {
        self.store.agent_state().page(agent, keys::PLAN, ask).await
    }

    /// All of an agent's plans, by age.
    pub async fn all(self, agent: EntityId) -> Result<Vec<Plan>> {
        self.store.agent_state().all(agent, keys::PLAN).await
    }

    /// A plan.
    pub async fn get(self, agent: EntityId, id: PlanId) -> Result<Plan> {
        let record: Option<PlanRecord> = self.store.table.get(&keys::plan(agent, id)).await?;
        record.map(|record| record.plan).ok_or_else(no_such_plan)
    }

    /// Creates and changes plans, at most [`limits::KEPT_AT_ONCE`], one after the other. Returns
    /// each plan as it is afterwards. Of several changes to one plan, only the last one is
    /// returned, at its place in `set`.
    ///
    /// Fails with [`Error::Invalid`] if a plan is invalid, with [`Error::NotFound`] if a plan to be
    /// changed does not exist, and with [`Error::Conflict`] if the agent would have too many plans
    /// or the runs of a plan would be too deep in a chain.
    pub async fn set(
        self,
        agent: EntityId,
        set: &[SetPlan],
        by: &ChangedBy<Plan>,
        now: Time,
    ) -> Result<Vec<Plan>> {
        self.store
            .agent_state()
            .change(agent, Reads::All(keys::PLAN), by, |items, counts| {
                let existing: Vec<PlanRecord> = items.into_all()?;
                let mut made = Vec::with_capacity(set.len());
                for plan in set {
                    plan.apply(&existing, &mut made, now)?;
                }
                let new = made.iter().filter(|changed| changed.seen_rev.is_none()).count();
                if new > 0 && existing.len() + new > limits::PLANS {
                    return Err(too_many_plans(existing.len(), new));
                }
                let writes =
                    made.iter().map(|changed| changed.write(agent)).collect::<Result<_>>()?;
                let made = made.into_iter().map(|changed| changed.record.plan).collect();
                Ok(Change { writes, counts, made })
            })
            .await
    }

    /// Deletes the plans with these ids, at most [`limits::KEPT_AT_ONCE`]. Returns the ids of those
    /// that existed.
    pub async fn delete(
        self,
        agent: EntityId,
        unwanted: &BTreeSet<PlanId>,
        by: &ChangedBy<PlanId>,
    ) -> Result<Vec<PlanId>> {
        self.store
            .agent_state()
            .change(agent, Reads::All(keys::PLAN), by, |items, counts| {
                let existing: Vec<PlanRecord> = items.into_all()?;
                let made: Vec<PlanId> = existing
                    .iter()
                    .map(|record| record.plan.id)
                    .filter(|id| unwanted.contains(id))
                    .collect();
                let writes = made.iter().map(|id| Write::delete(keys::plan(agent, *id))).collect();
                Ok(Change { writes, counts, made })
            })
            .await
    }

    /// Deletes all plans of a retired agent.
    pub async fn delete_all(self, agent: EntityId) -> Result<()> {
        for plan in self.all(agent).await? {
            self.store.table.write_always(Write::delete(keys::plan(agent, plan.id))).await?;
        }
        Ok(())
    }
}

/// The error of a plan whose runs would be too deep in a chain of agents.
pub fn too_deep(depth: u32, most: u32) -> Error {
    Error::Conflict(format!(
        "this plan would wake nobody: its chain depth would be {depth}, and this agent accepts \
         less than {most} (maxChainDepth); a plan with a cron expression begins a new chain"
    ))
}

/// The error of an unknown plan id.
pub fn no_such_plan() -> Error {
    Error::NotFound("there is no such plan".into())
}

fn too_many_plans(existing: usize, new: usize) -> Error {
    Error::Conflict(format!(
        "an agent has at most {} plans, this one has {existing}, and {new} would be new; delete \
         some first, or change existing ones",
        limits::PLANS
    ))
}
