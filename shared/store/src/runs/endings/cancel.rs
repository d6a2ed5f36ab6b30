//! A request or another run cancels a run.

use smartspace_domain::{
    Time,
    ids::{LeaseId, RunId},
    runs::{EndReason, RunStatus},
};

use crate::{
    Error, Result, Runs,
    runs::{
        RunRecord,
        end_writes::{cancel_unchanged_write, cancel_write},
        endings::Ended,
        lanes::Leaving,
        marks::Marks,
        no_such_run,
        steps::{CallRecord, worker_keeps},
    },
    table::{WriteError, keys, write::Write},
    usage,
};

/// The worker and the call that end another run.
#[derive(Clone, Copy, Debug)]
pub struct ByWorker<'a> {
    pub run: RunId,
    pub lease: &'a LeaseId,
    /// The call and its result. Its id is the token that detects a lost answer.
    pub result: &'a CallRecord,
}

impl Runs<'_> {
    /// Ends a run from outside. Its worker, if it has one, can no longer write. Fails with
    /// [`Error::Conflict`] if the run had ended. `token` is made before the first try, and detects
    /// a lost answer.
    pub async fn cancel(
        self,
        run: &RunRecord,
        reason: EndReason,
        token: &LeaseId,
        now: Time,
    ) -> Result<Ended> {
        self.end_other(run, reason, token, None, now)
            .await?
            .ok_or_else(|| Error::Internal("a cancellation has no condition of its own".into()))
    }

    /// Ends a run whose messages were all deleted. Returns `None` if the run has changed since it
    /// was read: a message may have joined it. Fails with [`Error::Conflict`] if it had ended.
    pub async fn cancel_deleted(
        self,
        run: &RunRecord,
        token: &LeaseId,
        now: Time,
    ) -> Result<Option<Ended>> {
        self.end_other(run, EndReason::Deleted, token, None, now).await
    }

    /// Ends another run of the worker's agent by a tool call, whose result is stored in the same
    /// transaction. If two runs end each other, the first one wins and the other loses its lease.
    ///
    /// Returns `None` if the other run has changed since it was read: the caller reads it again.
    /// Fails with [`Error::Conflict`] if it had ended otherwise.
    pub async fn end_own(
        self,
        other: &RunRecord,
        reason: EndReason,
        by: &ByWorker<'_>,
        now: Time,
    ) -> Result<Option<Ended>> {
        self.end_other(other, reason, &LeaseId(by.result.call_id.to_string()), Some(by), now).await
    }

    async fn end_other(
        self,
        run: &RunRecord,
        reason: EndReason,
        token: &LeaseId,
        by: Option<&ByWorker<'_>>,
        now: Time,
    ) -> Result<Option<Ended>> {
        let must_be_unchanged = by.is_some() || reason == EndReason::Deleted;
        let mut run = run.clone();
        let mut leaving = Leaving::of(run.to_ref());
        loop {
            let canceled = self.canceled(run.clone(), reason, token, now);
            let mut writes = ending_writes(&canceled, by, must_be_unchanged)?;
            writes.extend(usage::writes(canceled.usage_scope(), &canceled.used, 1, now)?);
            writes.extend(leaving.writes(now)?);
            let ended = |run| Some(Ended { run, next: leaving.next_jobs(), read: Marks::new() });
            let refusal = match self.store.table.transact(&writes).await {
                Ok(()) => return Ok(ended(canceled)),
                Err(WriteError::Other(error)) => return Err(error),
                Err(WriteError::Refused(refusal)) => refusal,
            };
            if by.is_some_and(|by| refusal.names(&keys::run_meta(by.run))) {
                return Err(Error::LeaseLost);
            }
            let item_key = keys::run_meta(run.id);
            if !refusal.names(&item_key) {
                if leaving.refused(self, &refusal).await? {
                    continue;
                }
                return Err(Error::Conflict("this call is finished already".into()));
            }
            let stored: RunRecord = refusal.existing(&item_key).ok_or_else(no_such_run)?;
            if stored.ended_by.as_ref() == Some(token) {
                return Ok(ended(stored));
            }
            if !stored.status.is_active() {
                return Err(had_ended(stored.status));
            }
            if must_be_unchanged && stored.kept != run.kept {
                return Ok(None);
            }
            // The run has asked people, or used a model, since it was read.
            let has_asked = stored.open_calls.is_some() && run.open_calls.is_none();
            if has_asked || stored.step_count != run.step_count {
                run = stored;
            } else {
                return Err(had_ended(stored.status));
            }
        }
    }
}

/// The writes that end a run from outside, and store the call of the worker that does it. A worker
/// that cancels another run must have seen its latest state.
fn ending_writes(
    canceled: &RunRecord,
    by: Option<&ByWorker<'_>>,
    must_be_unchanged: bool,
) -> Result<Vec<Write>> {
    let cancel = if must_be_unchanged { cancel_unchanged_write } else { cancel_write };
    let mut writes =
        vec![cancel(canceled)?, Write::delete(keys::active_run(canceled.agent_id, canceled.id))];
    if let Some(by) = by {
        writes.push(worker_keeps(by.run, by.lease, "")?);
        writes.push(by.result.write(by.run)?);
        writes.extend(by.result.card_writes()?);
    }
    Ok(writes)
}

fn had_ended(status: RunStatus) -> Error {
    Error::Conflict(format!("the run had ended already: it is {}", status.as_str()))
}
