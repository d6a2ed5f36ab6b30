//! Plans: kept, then an alarm is set; at their time, fired.

use std::time::Duration;

use smartspace_domain::{
    Result, Time,
    ids::{EntityId, PlanId, RunId},
    jobs::TriggerJob,
    plans::{Plan, PlanStatus},
};
use smartspace_store::{
    kept::By,
    plans::{Fired, SetPlan},
    posted::PostKey,
    runs::RunRecord,
};

use crate::Pipeline;

impl Pipeline {
    /// Makes and changes plans of an agent, as [`Store::set_plans`](smartspace_store::Store::set_plans) does.
    pub async fn set_plans(&self, agent: EntityId, set: &[SetPlan], by: &By<Plan>) -> Result<Vec<Plan>> {
        let plans = self.store.set_plans(agent, set, by, self.now()).await?;
        for plan in plans.iter().filter(|plan| plan.status == PlanStatus::Active) {
            self.set_alarm(agent, plan.id, plan.next_run_at).await;
        }
        Ok(plans)
    }

    /// A plan's time has come, as an alarm says: it fires once for each of its times.
    pub async fn fire_plan(&self, agent: EntityId, plan: PlanId, at: Time) -> Result<()> {
        match self.store.fire_plan(agent, plan, at, self.now()).await? {
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

    /// Wakes an agent for a plan by hand; how deep in a chain of agents' doings who asks for it is.
    pub async fn run_plan(&self, agent: EntityId, plan: PlanId, chain_depth: u32, key: Option<&PostKey>) -> Result<RunRecord> {
        let id = RunId::new(self.now(), self.ids.random());
        let run = self.store.run_plan(agent, plan, (id, chain_depth), key, self.now()).await?;
        self.queue_runs(vec![run.job()]).await;
        Ok(run)
    }

    async fn set_alarm(&self, agent_id: EntityId, plan_id: PlanId, at: Option<Time>) {
        if let Some(at) = at {
            // Plans that were put off for want of runs come before those whose time it is: else the same ones would be put off for ever.
            let after = Duration::from_millis(20 + (self.ids.random() % 100) as u64);
            self.alarms.set(at + after, TriggerJob::FirePlan { agent_id, plan_id, at }).await;
        }
    }
}
