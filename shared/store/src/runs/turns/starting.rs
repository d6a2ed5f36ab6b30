//! A run that a worker wants to claim gets its turn, or waits for it.

use smartspace_domain::{concurrency::WaitsFor, ids::RunId, jobs::RunRef};

use crate::{
    Result, Runs,
    runs::{
        RunRecord,
        turns::{Others, Turns},
    },
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
        self.must_hold = true;
        let waits = self.take_turn(run.to_ref());
        // It may be the first one only because those before it need no turn.
        let before = self.lane_read.as_ref().and_then(|read| read.lane.runs.first());
        if let Some(first) = self.lane.runs.first()
            && before.is_none_or(|before| before.run.run_id != first.run.run_id)
        {
            self.tell([first.run]);
        }
        self.next.retain(|next| next.run_id != run.id);
        waits
    }

    /// The runs because of which a run waits, and those that start instead.
    fn before(&self, waits: Option<(WaitsFor, usize)>) -> Vec<RunId> {
        let mut runs: Vec<_> = self.next.iter().map(|run| run.run_id).collect();
        match waits {
            Some((WaitsFor::Lane, _)) => {
                runs.extend(self.lane.runs.first().map(|first| first.run.run_id));
            }
            Some((WaitsFor::Slot, _)) => runs.extend(&self.slots.held),
            None => {}
        }
        runs
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
    /// Decides whether a run may start now. If others are before it, it checks that these still
    /// need their turn.
    pub(crate) async fn starting(self, run: &RunRecord) -> Result<Starting> {
        let read = self.turns(&run.to_ref()).await?;
        let mut others = Others::default();
        loop {
            let mut turns = read.clone();
            turns.correct(&others);
            let waits = turns.start(run);
            let unread: Vec<_> = turns
                .before(waits)
                .into_iter()
                .filter(|other| *other != run.id && !others.know(*other))
                .collect();
            if unread.is_empty() {
                return Ok(Starting { turns, waits });
            }
            others.extend(self.others(unread).await?);
        }
    }
}
