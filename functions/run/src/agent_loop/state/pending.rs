//! The calls of the last model answer, until all of them have a result.

use smartspace_domain::steps::CallStatus;
use smartspace_store::runs::steps::{CallBegun, CallRecord, StepRecord};

/// Calls of which not all have a result yet.
pub(crate) struct Pending {
    pub(crate) calls: Vec<CallBegun>,
    /// The stored record of each call, if there is one.
    pub(crate) records: Vec<Option<CallRecord>>,
    pub(crate) attempt: u32,
}

impl Pending {
    pub(super) fn new(step: &StepRecord) -> Self {
        Self {
            calls: step.calls.clone(),
            records: vec![None; step.calls.len()],
            attempt: step.stream_attempt,
        }
    }

    /// The first call to make.
    pub(crate) fn next(&self) -> Option<usize> {
        (0..self.records.len()).find(|index| self.is_to_be_made(*index))
    }

    /// Whether a call has to be made: it has not begun, or it is an external call whose end is
    /// unknown.
    pub(crate) fn is_to_be_made(&self, index: usize) -> bool {
        self.records[index].as_ref().is_none_or(CallRecord::is_under_way)
    }

    /// The calls that were made. Forms among them may have no result yet.
    pub(crate) fn made(&self) -> impl Iterator<Item = &CallRecord> + Clone {
        self.records.iter().flatten().filter(|call| !call.is_under_way())
    }

    /// How many forms nobody has answered yet.
    pub(crate) fn open_forms(&self) -> u32 {
        self.made().filter(|call| call.status == CallStatus::Pending).count() as u32
    }
}
