//! Creating and changing plans.

use smartspace_domain::{
    Time,
    ids::{EntityId, PlanId},
    plans::{PlanChange, PlanStatus},
};

use crate::{
    Error, Result,
    agents::plans::PlanRecord,
    table::{keys, write::Write},
};

/// A plan to be created or changed.
#[derive(Clone, Debug)]
pub struct SetPlan {
    pub id: PlanId,
    /// Whether the caller named the plan, so that it must exist.
    pub known: bool,
    pub change: PlanChange,
    /// The chain depth of its run, if it runs only once. A plan with a cron expression has depth 0.
    pub chain_depth: u32,
    /// The lowest chain depth at which the agent does not run.
    pub max_chain_depth: u32,
    /// The JSON pointer to it in the input. Errors point below it.
    pub pointer: String,
}

pub(super) struct ChangedPlan {
    /// The plan that was read. `None` for a new plan.
    pub(super) before: Option<PlanRecord>,
    pub(super) record: PlanRecord,
}

impl SetPlan {
    /// Applies the change to the plan in `made`, or else to the one in `existing`, and adds the
    /// result to `made`.
    pub(super) fn apply(
        &self,
        existing: &[PlanRecord],
        made: &mut Vec<ChangedPlan>,
        now: Time,
    ) -> Result<()> {
        let Self { id, known, change, chain_depth, max_chain_depth, pointer } = self;
        let position = made.iter().position(|changed| changed.record.plan.id == *id);
        let before = position.map(|position| made.remove(position)).or_else(|| {
            let record = existing.iter().find(|record| record.plan.id == *id)?.clone();
            Some(ChangedPlan { before: Some(record.clone()), record })
        });
        if before.is_none() && *known {
            return Err(Error::NotFound(format!("{pointer}: there is no plan {id}")));
        }
        let stored = before.as_ref().and_then(|before| before.before.clone());
        let before = before.map(|before| before.record);
        let deepest = before.as_ref().map_or(0, |before| before.chain_depth).max(*chain_depth);
        let plan = change.clone().apply(*id, before.map(|before| before.plan), now, pointer)?;
        let depth = if plan.cron()?.is_some() { 0 } else { deepest };
        if depth >= *max_chain_depth && plan.status == PlanStatus::Active {
            return Err(too_deep(depth, *max_chain_depth));
        }
        let rev = stored.as_ref().map_or(0, |stored| stored.rev) + 1;
        let record = PlanRecord::new(plan, rev, depth);
        made.push(ChangedPlan { before: stored, record });
        Ok(())
    }
}

impl ChangedPlan {
    pub(super) fn write(&self, agent: EntityId) -> Result<Write> {
        if let Some(before) = &self.before {
            // The version of the agent's state is not enough: a firing raises only `rev`.
            return before.change_to(&self.record, agent);
        }
        let item_key = keys::plan(agent, self.record.plan.id);
        Ok(Write::put(item_key, &self.record)?.if_absent())
    }
}

/// The error of a plan whose runs would be too deep in a chain of agents.
pub fn too_deep(depth: u32, most: u32) -> Error {
    Error::Conflict(format!(
        "this plan would wake nobody: its chain depth would be {depth}, and this agent accepts \
         less than {most} (maxChainDepth); a plan with a cron expression begins a new chain"
    ))
}
