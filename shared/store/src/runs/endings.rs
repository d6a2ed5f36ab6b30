//! How a run ends: its worker finishes it, or someone else cancels it. Each is one transaction.

mod cancel;
mod finish;

use smartspace_domain::{
    Time,
    ids::LeaseId,
    jobs::RunJob,
    runs::{EndReason, RunStatus},
};

pub(crate) use self::cancel::cancel_write;
pub use self::{
    cancel::ByWorker,
    finish::{EndWithMessage, Ending},
};
use crate::{
    Result, Runs,
    runs::RunRecord,
    table::{keys, write::Write},
};

/// A run that has ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The run.
    pub run: RunRecord,
    /// The jobs of the runs whose turn it is now.
    pub next: Vec<RunJob>,
}

impl Runs<'_> {
    /// A run, as it is after its end. `by` is the token of whoever ends it.
    fn ended(
        self,
        run: RunRecord,
        status: RunStatus,
        reason: Option<EndReason>,
        by: &LeaseId,
        now: Time,
    ) -> RunRecord {
        RunRecord {
            status,
            end_reason: reason,
            finished_at: Some(now),
            ended_by: Some(by.clone()),
            expires_at: self.store.run_expiry(now),
            lease: None,
            lease_until: None,
            waits_for: None,
            due: None,
            due_at: None,
            ..run
        }
    }
}

/// Ends a run, and makes the updates in `also`. An ended run is not due, unless it has asked
/// people: then its forms must be closed.
fn end(ended: &RunRecord, also: &str) -> Result<Write> {
    let set = "#status = :status, #endReason = :reason, #finishedAt = :now, #endedBy = :by, \
               #expiresAt = :expires";
    let write = if ended.open_calls.is_some() {
        let expression = format!(
            "SET {also}{set}, #due = :due, #dueAt = :now \
             REMOVE #lease, #leaseUntil, #dueCount, #waitsFor, #used"
        );
        let due = keys::due(ended.id.part_of(keys::DUE_PARTS));
        Write::update(keys::run_meta(ended.id), expression).value(":due", due)?
    } else {
        let expression = format!(
            "SET {also}{set} REMOVE #lease, #leaseUntil, #due, #dueAt, #dueCount, #waitsFor, \
             #used"
        );
        Write::update(keys::run_meta(ended.id), expression).when("attribute_not_exists(#openCalls)")
    };
    write
        .value(":status", ended.status)?
        .value(":reason", ended.end_reason)?
        .value(":now", ended.finished_at)?
        .value(":by", &ended.ended_by)?
        .value(":expires", ended.expires_at)
}
