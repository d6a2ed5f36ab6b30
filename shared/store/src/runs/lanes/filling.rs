//! Waiting runs start when their agent gets more slots.

use smartspace_domain::{Time, ids::EntityId, jobs::RunJob};

use crate::{
    Result, Runs,
    optimistic_retry::RUNS_CHANGE,
    runs::lanes::Lanes,
    table::{WriteError, keys},
};

impl Runs<'_> {
    /// Gives the free slots of an agent to the runs that wait for one.
    pub async fn fill_slots(self, agent: EntityId, now: Time) -> Result<Vec<RunJob>> {
        let mut tries = self.store.optimistic_retry_of(agent);
        let mut jobs = Vec::new();
        loop {
            let mut items = self.store.table.get_all(&[keys::slots(agent)]).await?;
            let mut lanes = Lanes::take(&mut items, agent, None, 1)?;
            let before = lanes.slots.clone();
            lanes.fill_slots();
            if lanes.slots == before {
                return Ok(jobs);
            }
            match self.store.table.transact(&lanes.writes(now)?).await {
                Ok(()) => {
                    jobs.extend(lanes.next_jobs());
                    continue;
                }
                Err(WriteError::Refused(_)) => {}
                Err(WriteError::Other(error)) => return Err(error),
            }
            tries.after_conflict(RUNS_CHANGE).await?;
        }
    }
}
