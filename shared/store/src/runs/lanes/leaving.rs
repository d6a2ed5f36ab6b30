//! A run that ends or pauses gives back its slot and its place in the lane.

use serde_dynamo::string_set::StringSet;
use smartspace_domain::{
    Time,
    concurrency::LaneRun,
    jobs::{RunJob, RunRef},
};

use crate::{
    Result, Runs,
    runs::lanes::{Lanes, lane_key},
    table::{keys, refusal::Refusal, write::Write},
};

/// Takes a run out of its slot and its lane, as a part of the transaction that ends or pauses it.
///
/// Mostly no run waits for either, so the first try reads nothing: it succeeds only if no run waits
/// for a slot, and if the lane holds nothing but the run.
#[derive(Clone, Debug)]
pub(crate) struct Leaving {
    run: RunRef,
    /// `None` at the first try.
    lanes: Option<Lanes>,
}

impl Leaving {
    /// The first try, which has read nothing.
    pub(crate) fn of(run: RunRef) -> Self {
        Self { run, lanes: None }
    }

    async fn read(&mut self, runs: Runs<'_>) -> Result<()> {
        let mut lanes = runs.lanes(&self.run).await?;
        lanes.free(self.run.run_id);
        self.lanes = Some(lanes);
        Ok(())
    }

    /// The writes of this try.
    pub(crate) fn writes(&self, now: Time) -> Result<Vec<Write>> {
        if self.run.is_fork {
            return Ok(Vec::new());
        }
        if let Some(lanes) = &self.lanes {
            return lanes.writes(now);
        }
        let slot =
            Write::update(keys::slots(self.run.agent_id), "ADD #changes :one DELETE #held :run")
                .when("attribute_not_exists(#waiting)")
                .value(":one", 1)?
                .value(":run", StringSet([self.run.run_id]))?;
        let mut writes = vec![slot];
        if let Some(lane) = lane_key(&self.run) {
            // A run that waits for people is not in its lane. If it is canceled then, the only run
            // there is another one.
            let write = Write::update(lane, "SET #runs = :none ADD #changes :one")
                .when("size(#runs) = :one AND #runs[0].#runId = :run")
                .value(":none", Vec::<LaneRun>::new())?
                .value(":one", 1)?
                .value(":run", self.run.run_id)?;
            writes.push(write);
        }
        Ok(writes)
    }

    /// Reads again if the transaction was refused because of the slots or the lane. Returns whether
    /// it was.
    pub(crate) async fn refused(&mut self, runs: Runs<'_>, refusal: &Refusal) -> Result<bool> {
        let keys = [Some(keys::slots(self.run.agent_id)), lane_key(&self.run)];
        let is_ours = keys.iter().flatten().any(|key| refusal.names(key));
        if is_ours {
            self.read(runs).await?;
        }
        Ok(is_ours)
    }

    /// The jobs of the runs that may start, once the transaction has taken effect.
    pub(crate) fn next_jobs(&self) -> Vec<RunJob> {
        self.lanes.as_ref().map_or_else(Vec::new, Lanes::next_jobs)
    }
}
