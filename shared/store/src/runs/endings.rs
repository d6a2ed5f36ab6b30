//! How a run ends: its worker finishes it, or someone else cancels it. Each is one transaction.

mod cancel;
mod finish;

use smartspace_domain::jobs::RunJob;

pub use self::{
    cancel::ByWorker,
    finish::{EndWithMessage, Ending},
};
use crate::runs::{RunRecord, marks::Marks};

/// A run that has ended.
#[derive(Clone, Debug)]
pub struct Ended {
    pub run: RunRecord,
    /// The jobs of the runs that may start now.
    pub next: Vec<RunJob>,
    /// How far the agent has read in each space that the run has read, if the end moves its
    /// cursors.
    pub read: Marks,
}
