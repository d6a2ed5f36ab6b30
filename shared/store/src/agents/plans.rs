//! The plans of agents. [`crate::agents::state`] describes how changes are stored. A firing is a
//! transaction of its own.

mod by_hand;
mod changes;
mod firing;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    ids::{EntityId, PlanId},
    limits,
    plans::{Plan, PlanStatus},
    projects::{ManagedBy, PlanSpec},
};

use self::changes::ChangedPlan;
pub use self::{
    changes::{SetPlan, too_deep},
    firing::Fired,
};
use crate::{
    Error, Plans, Result,
    agents::state::{Change, ChangedBy, Counts, Reads},
    projects::changed_meanwhile,
    table::{
        keys,
        pages::{Page, PageRequest},
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

    /// The write that changes it to `after`, if it is still at the revision that was read.
    fn change_to(&self, after: &Self, agent: EntityId) -> Result<Write> {
        let mut before = self.clone();
        if before.fires_at().is_none() {
            // This version would not make it due. Another version may know why it is.
            before.due = None;
            before.due_at = None;
        }
        let item_key = keys::plan(agent, self.plan.id);
        let change = Write::change(item_key, &before, after, &["dueCount"])?;
        let change = change.ok_or_else(|| Error::Internal("a plan does not change".into()))?;
        change.when("#rev = :seen").value(":seen", self.rev)
    }

    /// When it fires next, if it is active.
    pub fn fires_at(&self) -> Option<Time> {
        self.plan.next_run_at.filter(|_| self.plan.status == PlanStatus::Active)
    }
}

impl Plans<'_> {
    /// A page of an agent's plans, by age.
    pub async fn list(self, agent: EntityId, request: &PageRequest) -> Result<Page<Plan>> {
        self.store.agent_state().page(agent, keys::PLAN, request).await
    }

    /// All of an agent's plans, by age.
    pub async fn all(self, agent: EntityId) -> Result<Vec<Plan>> {
        self.store.agent_state().all(agent, keys::PLAN).await
    }

    pub async fn get(self, agent: EntityId, id: PlanId) -> Result<Plan> {
        let record: Option<PlanRecord> = self.store.table.get(&keys::plan(agent, id)).await?;
        record.map(|record| record.plan).ok_or_else(no_such_plan)
    }

    /// Creates and changes plans, at most [`limits::CHANGES_AT_ONCE`], one after the other. Returns
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
                    if matches!(by, ChangedBy::Run(_)) {
                        must_be_unmanaged(&existing, plan.id)?;
                    }
                    plan.apply(&existing, &mut made, now)?;
                }
                let new = made.iter().filter(|changed| changed.before.is_none()).count();
                if new > 0 && existing.len() + new > limits::PLANS {
                    return Err(too_many_plans(existing.len(), new));
                }
                stored(agent, made, counts)
            })
            .await
    }

    /// Creates or changes a plan as a file says, if it is still as `seen`.
    pub async fn set_from_file(
        self,
        agent: EntityId,
        set: &SetPlan,
        seen: Option<&PlanSpec>,
        managed_by: &ManagedBy,
        by: &ChangedBy<Plan>,
        now: Time,
    ) -> Result<Vec<Plan>> {
        self.store
            .agent_state()
            .change(agent, Reads::All(keys::PLAN), by, |items, counts| {
                let existing: Vec<PlanRecord> = items.into_all()?;
                let found = existing.iter().find(|record| record.plan.id == set.id);
                let is_seen = found.and_then(|it| PlanSpec::of(agent, &it.plan)).as_ref() == seen;
                if !is_seen || found.is_some() != seen.is_some() {
                    return Err(changed_meanwhile());
                }
                if found.is_none() && existing.len() >= limits::PLANS {
                    return Err(too_many_plans(existing.len(), 1));
                }
                let mut made = Vec::with_capacity(1);
                set.apply(&existing, &mut made, now)?;
                for changed in &mut made {
                    changed.record.plan.managed_by = Some(managed_by.clone());
                }
                stored(agent, made, counts)
            })
            .await
    }

    /// Deletes the plans with these ids, at most [`limits::CHANGES_AT_ONCE`]. Returns the ids of
    /// those that existed.
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
                if matches!(by, ChangedBy::Run(_)) {
                    for id in unwanted {
                        must_be_unmanaged(&existing, *id)?;
                    }
                }
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

/// The error of an unknown plan id.
pub fn no_such_plan() -> Error {
    Error::NotFound("there is no such plan".into())
}

/// The change that stores plans.
fn stored(agent: EntityId, made: Vec<ChangedPlan>, counts: Counts) -> Result<Change<Plan>> {
    let writes = made.iter().map(|changed| changed.write(agent)).collect::<Result<_>>()?;
    let made = made.into_iter().map(|changed| changed.record.plan).collect();
    Ok(Change { writes, counts, made })
}

/// Fails if files manage a plan that a run would change.
fn must_be_unmanaged(existing: &[PlanRecord], id: PlanId) -> Result<()> {
    let managed = |record: &PlanRecord| record.plan.id == id && record.plan.managed_by.is_some();
    if existing.iter().any(managed) {
        return Err(Error::Conflict("this plan is managed by files; people change it".into()));
    }
    Ok(())
}

fn too_many_plans(existing: usize, new: usize) -> Error {
    Error::Conflict(format!(
        "an agent has at most {} plans, this one has {existing}, and {new} would be new; delete \
         some first, or change existing ones",
        limits::PLANS
    ))
}
