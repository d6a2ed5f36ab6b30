//! A run that ends or pauses loses its turn.

use serde_dynamo::string_set::StringSet;
use smartspace_domain::{
    Time,
    jobs::{RunJob, RunRef},
};

use crate::{
    Result, Runs,
    runs::turns::{Others, Turns},
    table::{keys, refusal::Refusal, write::Write},
};

/// Takes the turn of a run away, as a part of the transaction that ends or pauses it.
#[derive(Clone, Debug)]
pub(crate) struct Leaving {
    run: RunRef,
    /// `None` at the first try of a run that is in no lane: mostly, no run waits for its slot.
    turns: Option<Turns>,
    /// The runs that could not be started at an earlier try.
    others: Others,
}

impl Leaving {
    /// Reads what is needed for the first try.
    pub(crate) async fn of(runs: Runs<'_>, run: RunRef) -> Result<Self> {
        let mut leaving = Self { run, turns: None, others: Others::default() };
        if run.in_lane {
            leaving.read(runs).await?;
        }
        Ok(leaving)
    }

    async fn read(&mut self, runs: Runs<'_>) -> Result<()> {
        let mut turns = runs.turns(&self.run).await?;
        turns.correct(&self.others);
        turns.free(self.run.run_id);
        self.turns = Some(turns);
        Ok(())
    }

    /// The writes of this try.
    pub(crate) fn writes(&self, now: Time) -> Result<Vec<Write>> {
        if self.run.is_fork {
            return Ok(Vec::new());
        }
        if let Some(turns) = &self.turns {
            return turns.writes(now);
        }
        let write =
            Write::update(keys::slots(self.run.agent_id), "ADD #changes :one DELETE #held :run")
                .when("attribute_not_exists(#waiting)")
                .value(":one", 1)?
                .value(":run", StringSet([self.run.run_id]))?;
        Ok(vec![write])
    }

    /// Reads again if the transaction was refused because of the turns. Returns whether it was.
    pub(crate) async fn refused(&mut self, runs: Runs<'_>, refusal: &Refusal) -> Result<bool> {
        let is_ours = match &self.turns {
            None => refusal.names(&keys::slots(self.run.agent_id)),
            Some(turns) => self.others.learn(turns, refusal),
        };
        if is_ours {
            self.read(runs).await?;
        }
        Ok(is_ours)
    }

    /// The jobs of the runs whose turn it is, once the transaction has taken effect.
    pub(crate) fn next_jobs(&self) -> Vec<RunJob> {
        self.turns.as_ref().map_or_else(Vec::new, Turns::next_jobs)
    }
}
