//! Plans: stores a plan and sets its alarm, and fires it at its time.

use std::time::Duration;

use smartspace_domain::{
    Result, Time,
    ids::{EntityId, PlanId, RunId},
    jobs::TriggerJob,
    plans::{Plan, PlanStatus},
    projects::{ManagedBy, PlanSpec},
};
use smartspace_store::{
    agents::{
        plans::{Fired, SetPlan},
        state::ChangedBy,
    },
    idempotency::PostKey,
    runs::RunRecord,
};

use crate::Pipeline;

impl Pipeline {
    /// Creates and changes plans of an agent, as [`Plans::set`](smartspace_store::Plans::set) does,
    /// and sets their alarms.
    pub async fn set_plans(
        &self,
        agent: EntityId,
        set: &[SetPlan],
        by: &ChangedBy<Plan>,
    ) -> Result<Vec<Plan>> {
        let plans = self.store.plans().set(agent, set, by, self.now()).await?;
        self.set_alarms(agent, &plans).await;
        Ok(plans)
    }

    /// Creates or changes a plan as a file says, if it is still as `seen`, and sets its alarm.
    pub async fn set_plan_from_file(
        &self,
        agent: EntityId,
        set: &SetPlan,
        seen: Option<&PlanSpec>,
        managed_by: &ManagedBy,
        by: &ChangedBy<Plan>,
    ) -> Result<()> {
        let plans = self.store.plans();
        let plans = plans.set_from_file(agent, set, seen, managed_by, by, self.now()).await?;
        self.set_alarms(agent, &plans).await;
        Ok(())
    }

    async fn set_alarms(&self, agent: EntityId, plans: &[Plan]) {
        for plan in plans.iter().filter(|plan| plan.status == PlanStatus::Active) {
            self.set_alarm(agent, plan.id, plan.next_run_at).await;
        }
    }

    /// Fires a plan whose alarm went off. A plan fires once for each of its times.
    pub async fn fire_plan(&self, agent: EntityId, plan: PlanId, at: Time) -> Result<()> {
        match self.store.plans().fire(agent, plan, at, self.now()).await? {
            Fired::Now(run, next) => {
                self.queue_runs(vec![run.job()]).await;
                self.set_alarm(agent, plan, next).await;
            }
            Fired::Later(then) => {
                let job = TriggerJob::FirePlan { agent_id: agent, plan_id: plan, at };
                self.alarms.set(then, job).await;
            }
            Fired::Never => {}
        }
        Ok(())
    }

    /// Runs a plan now, at the chain depth of the request.
    pub async fn run_plan(
        &self,
        agent: EntityId,
        plan: PlanId,
        chain_depth: u32,
        key: Option<&PostKey>,
    ) -> Result<RunRecord> {
        let id = RunId::new(self.now(), self.ids.random());
        let run = self.store.plans().run_now(agent, plan, id, chain_depth, key, self.now()).await?;
        self.queue_runs(vec![run.job()]).await;
        Ok(run)
    }

    async fn set_alarm(&self, agent_id: EntityId, plan_id: PlanId, at: Option<Time>) {
        if let Some(at) = at {
            // Plans that were postponed for lack of runs fire before those that are due now.
            // Otherwise the same plans would be postponed forever.
            let after = Duration::from_millis(20 + (self.ids.random() % 100) as u64);
            self.alarms.set(at + after, TriggerJob::FirePlan { agent_id, plan_id, at }).await;
        }
    }
}
