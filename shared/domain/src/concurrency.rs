//! Concurrency: whether a run may work now.
//!
//! An agent has slots, which limit how many of its runs work at the same time over all spaces. In
//! each space it has a lane, which its runs of that space pass one after the other, unless its mode
//! is `parallel`. A run that waits for people has neither.
//!
//! Both are small values that are read, changed and stored as a whole.

mod lane;
mod slots;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use self::{
    lane::{AutoReplies, Lane, LaneEntry, LaneRun},
    slots::{SlotOutcome, Slots},
};

/// What a run waits for before it may start or go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WaitsFor {
    /// For the runs before it in the lane.
    Lane,
    /// For a slot of its agent.
    Slot,
}
