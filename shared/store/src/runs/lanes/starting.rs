//! A run that a worker wants to claim may start, or waits for its place in the lane or a slot.

use smartspace_domain::{concurrency::WaitsFor, jobs::RunRef};

use crate::{
    Result, Runs,
    runs::{RunRecord, lanes::Lanes},
};

/// Whether a run may start.
#[derive(Clone, Debug)]
pub(crate) struct Starting {
    pub(crate) lanes: Lanes,
    /// What the run waits for, and its position among those that wait for it; 1 is the next one.
    /// `None` if it may start.
    pub(crate) waits: Option<(WaitsFor, usize)>,
}

impl Lanes {
    /// Gives a run its slot and its place in the lane, or lets it wait.
    fn start(&mut self, run: &RunRecord) -> Option<(WaitsFor, usize)> {
        self.must_hold = true;
        let waits = self.enter(run.to_ref());
        self.next.retain(|next| next.run_id != run.id);
        waits
    }

    fn enter(&mut self, run: RunRef) -> Option<(WaitsFor, usize)> {
        let mut lane = self.lane.clone();
        if self.space.is_some()
            && let Some(position) = lane.start(run)
        {
            self.lane = lane;
            // A run that was first before an older one came has a slot, which others can use.
            let started = self.slots.free(run.run_id);
            self.start_next(started);
            return Some((WaitsFor::Lane, position));
        }
        let took = self.slots.take(run);
        self.start_next(took.started);
        if took.position.is_none() {
            self.lane = lane;
        }
        took.position.map(|position| (WaitsFor::Slot, position))
    }
}

impl Runs<'_> {
    /// Decides whether a run may start now.
    pub(crate) async fn starting(self, run: &RunRecord) -> Result<Starting> {
        let mut lanes = self.lanes(&run.to_ref()).await?;
        let waits = lanes.start(run);
        Ok(Starting { lanes, waits })
    }
}
