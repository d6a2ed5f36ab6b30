//! A run as it is after its end, and the write that ends it. The lanes need both to replace a run,
//! and [`crate::runs::endings`] needs them for all other ends.

use smartspace_domain::{
    Time,
    ids::LeaseId,
    runs::{EndReason, RunStatus},
};

use crate::{
    Result, Runs,
    runs::RunRecord,
    table::{keys, write::Write},
};

impl Runs<'_> {
    /// A run, as it is after a cancellation.
    pub(crate) fn canceled(
        self,
        run: RunRecord,
        reason: EndReason,
        token: &LeaseId,
        now: Time,
    ) -> RunRecord {
        self.ended(run, RunStatus::Canceled, Some(reason), token, now)
    }
    /// A run, as it is after its end. `by` is the token of the worker or the request that ends
    /// it.
    pub(super) fn ended(
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

/// Cancels a run, whatever its worker has done since it was read. The worker may have stored a
/// step, though: then the write fails and the run is read again, because its usage is added up
/// elsewhere, too.
pub(super) fn cancel_write(canceled: &RunRecord) -> Result<Write> {
    cancel_active(canceled)?.when("#stepCount = :steps").value(":steps", canceled.step_count)
}

/// Cancels a run only if it is in the state that was read.
pub(super) fn cancel_unchanged_write(canceled: &RunRecord) -> Result<Write> {
    cancel_active(canceled)?.when("#kept = :seen").value(":seen", canceled.kept)
}

fn cancel_active(canceled: &RunRecord) -> Result<Write> {
    let also = if canceled.silence.replaced_by.is_some() { "#replacedBy = :newer, " } else { "" };
    let mut write = end_write(canceled, also)?;
    if let Some(newer) = canceled.silence.replaced_by {
        write = write.value(":newer", newer)?;
    }
    write
        .when("#status IN (:queued, :running, :waiting)")
        .value(":queued", RunStatus::Queued)?
        .value(":running", RunStatus::Running)?
        .value(":waiting", RunStatus::WaitingTool)
}

/// Ends a run, and makes the updates in `also`. An ended run is not due, unless it has asked
/// people: then its forms must be closed. Or it has left a question to silence: then somebody looks
/// after that.
pub(super) fn end_write(ended: &RunRecord, also: &str) -> Result<Write> {
    let set = "#status = :status, #endReason = :reason, #finishedAt = :now, #endedBy = :by, \
               #expiresAt = :expires";
    let write = if ended.open_calls.is_some() || ended.owes_look() {
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
        Write::update(keys::run_meta(ended.id), expression)
    };
    let write = if ended.open_calls.is_some() {
        write
    } else {
        write.when("attribute_not_exists(#openCalls)")
    };
    write
        .value(":status", ended.status)?
        .value(":reason", ended.end_reason)?
        .value(":now", ended.finished_at)?
        .value(":by", &ended.ended_by)?
        .value(":expires", ended.expires_at)
}
