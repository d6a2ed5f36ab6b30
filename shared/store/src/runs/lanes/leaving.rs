//! A run that ends or pauses gives back its slot and its place in the lane.

use serde_dynamo::string_set::StringSet;
use smartspace_domain::{
    Time,
    jobs::{RunJob, RunRef},
};

use crate::{
    Result, Runs,
    runs::lanes::Lanes,
    table::{keys, refusal::Refusal, write::Write},
};

/// Takes a run out of its slot and its lane, as a part of the transaction that ends or pauses it.
#[derive(Clone, Debug)]
pub(crate) struct Leaving {
    run: RunRef,
    /// `None` at the first try of a run that is in no lane: mostly, no run waits for its slot.
    lanes: Option<Lanes>,
}

impl Leaving {
    /// Reads what is needed for the first try.
    pub(crate) async fn of(runs: Runs<'_>, run: RunRef) -> Result<Self> {
        let mut leaving = Self { run, lanes: None };
        if run.in_lane {
            leaving.read(runs).await?;
        }
        Ok(leaving)
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
        let write =
            Write::update(keys::slots(self.run.agent_id), "ADD #changes :one DELETE #held :run")
                .when("attribute_not_exists(#waiting)")
                .value(":one", 1)?
                .value(":run", StringSet([self.run.run_id]))?;
        Ok(vec![write])
    }

    /// Reads again if the transaction was refused because of the slots or the lane. Returns whether
    /// it was.
    pub(crate) async fn refused(&mut self, runs: Runs<'_>, refusal: &Refusal) -> Result<bool> {
        let is_ours = match &self.lanes {
            None => refusal.names(&keys::slots(self.run.agent_id)),
            Some(lanes) => lanes.have_changed(refusal),
        };
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
