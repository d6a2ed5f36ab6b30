//! A run that a worker wants to claim gets its turn, or waits for it.

use smartspace_domain::{concurrency::WaitsFor, ids::RunId, jobs::RunRef, runs::RunStatus};

use crate::{
    Result, Runs,
    runs::{RunRecord, turns::Turns},
};

/// Whether a run may start.
#[derive(Clone, Debug)]
pub(crate) struct Starting {
    pub(crate) turns: Turns,
    /// What the run waits for, and its place in that line; 1 is the next one. `None` if it is its
    /// turn.
    pub(crate) waits: Option<(WaitsFor, usize)>,
}

impl Turns {
    /// Gives a run its turn, or a place in the line.
    fn start(&mut self, run: &RunRecord) -> Option<(WaitsFor, usize)> {
        let waits = self.take_turn(run.to_ref());
        self.must_hold |= waits.is_some();
        waits
    }

    fn take_turn(&mut self, run: RunRef) -> Option<(WaitsFor, usize)> {
        let mut lane = self.lane.clone();
        if self.space.is_some()
            && let Some(position) = lane.start(run)
        {
            self.lane = lane;
            // A run that was first before an older one came has a slot, which others can use.
            let started = self.slots.free(run.run_id);
            self.tell(started);
            return Some((WaitsFor::Lane, position));
        }
        let took = self.slots.take(run);
        self.tell(took.started);
        if took.position.is_none() {
            self.lane = lane;
        }
        took.position.map(|position| (WaitsFor::Slot, position))
    }
}

impl Runs<'_> {
    /// Decides whether a run may start now. If others are before it, it checks that these have not
    /// ended: a version without turns ends runs, too.
    pub(crate) async fn starting(self, run: &RunRecord) -> Result<Starting> {
        let mut turns = self.turns(&run.to_ref()).await?;
        let before = turns.clone();
        let waits = turns.start(run);
        let Some((waits_for, _)) = waits else { return Ok(Starting { turns, waits }) };
        let mut gone: Vec<RunId> = match waits_for {
            WaitsFor::Lane => before.lane.runs.iter().take(1).map(|it| it.run.run_id).collect(),
            WaitsFor::Slot => before.slots.held.iter().copied().collect(),
        };
        let found = self.affected(gone.iter().copied()).await?;
        gone.retain(|other| !found.get(other).is_some_and(has_turn));
        if gone.is_empty() {
            return Ok(Starting { turns, waits });
        }
        tracing::warn!(agent = %run.agent_id, ?gone, "ended runs still had their turn");
        let mut turns = before;
        turns.drop_runs(&gone);
        let waits = turns.start(run);
        turns.next.retain(|next| next.run_id != run.id);
        Ok(Starting { turns, waits })
    }
}

/// Whether a run that has its turn may still need it.
fn has_turn(run: &RunRecord) -> bool {
    match run.status {
        RunStatus::WaitingTool => run.open_calls == Some(0),
        status => status.is_active(),
    }
}
