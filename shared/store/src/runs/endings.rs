//! How a run ends: its worker finishes it, or someone else cancels it. Each is one transaction.

use serde::Serialize;
use smartspace_domain::{
    Time,
    ids::{EntityId, LeaseId, RunId, SpaceId},
    runs::{EndReason, RunError, RunStatus, Usage},
    steps::FinishReason,
};

use crate::{
    Error, Result, Runs,
    runs::{
        RunRecord, no_such_run,
        prompts::PromptRecord,
        steps::{CallRecord, Marks, StepRecord, lease_holds, worker_keeps},
    },
    table::{WriteError, keys, write::Write},
};

/// How many cursors move in the transaction that ends a run. A transaction has at most 100 items.
const CURSORS: usize = 80;

/// How a worker ends its run.
#[derive(Clone, Debug)]
pub struct Ending {
    /// Completed, failed or canceled.
    pub status: RunStatus,
    /// Why.
    pub reason: Option<EndReason>,
    /// Why it failed.
    pub error: Option<RunError>,
    /// The tokens that it used in all.
    pub usage: Usage,
    /// The last model answer, if it called no tool. It is stored in the same transaction.
    pub last_step: Option<StepRecord>,
    /// The prompt, if the last answer is also the first one.
    pub prompt: Option<PromptRecord>,
    /// How far it had read in each space. Empty unless it completed: only a completed run moves the
    /// cursors of its agent.
    pub marks: Marks,
}

#[derive(Serialize)]
struct ErrorItem<'a> {
    #[serde(flatten)]
    error: &'a RunError,
    #[serde(rename = "expiresAt")]
    expires_at: Option<i64>,
}

impl Runs<'_> {
    /// Ends a run under the worker's lease.
    pub async fn finish(
        self,
        run: &RunRecord,
        lease: &LeaseId,
        ending: &Ending,
        now: Time,
    ) -> Result<RunRecord> {
        let mut ended = self.finished(run, lease, ending, now);
        let mut writes = vec![
            finish_write(&ended, lease)?,
            Write::delete(keys::active_run(run.agent_id, run.id)),
        ];
        if let Some(prompt) = &ending.prompt {
            self.store.prompts().store_parts(prompt, now).await?;
        }
        writes.extend(self.ending_writes(run.id, ending, now)?);
        let mut cursors = ending
            .marks
            .iter()
            .map(|(space, mark)| cursor(*space, run.agent_id, *mark, now))
            .collect::<Result<Vec<_>>>()?;
        let rest = cursors.split_off(cursors.len().min(CURSORS));
        writes.extend(cursors);
        let place = keys::run_meta(run.id);
        loop {
            let refusal = match self.store.table.transact(&writes).await {
                Ok(()) => {
                    self.move_cursors(rest).await;
                    return Ok(ended);
                }
                Err(WriteError::Other(error)) => return Err(error),
                Err(WriteError::Refused(refusal)) => refusal,
            };
            if refusal.names(&place) {
                match refusal.existing::<RunRecord>(&place) {
                    Some(stored) if stored.ended_by.as_ref() == Some(lease) => return Ok(stored),
                    // The run has asked people since it was read.
                    Some(stored)
                        if stored.lease.as_ref() == Some(lease)
                            && stored.open_calls.is_some()
                            && ended.open_calls.is_none() =>
                    {
                        ended.open_calls = stored.open_calls;
                        writes[0] = finish_write(&ended, lease)?;
                        continue;
                    }
                    _ => return Err(Error::LeaseLost),
                }
            }
            // Only cursors failed: another run had read further, or the agent has left the space.
            // The run ends without them.
            writes.retain(|write| !refusal.names(&write.key));
        }
    }

    /// A run, as it is after its worker has ended it.
    fn finished(self, run: &RunRecord, lease: &LeaseId, ending: &Ending, now: Time) -> RunRecord {
        let answered =
            ending.last_step.as_ref().filter(|step| step.finish_reason != FinishReason::Error);
        RunRecord {
            status: ending.status,
            end_reason: ending.reason,
            usage: ending.usage,
            step_count: answered.map_or(run.step_count, |step| step.index + 1),
            finished_at: Some(now),
            ended_by: Some(lease.clone()),
            expires_at: self.store.run_expiry(now),
            lease: None,
            lease_until: None,
            due: None,
            due_at: None,
            ..run.clone()
        }
    }

    /// The writes of the last step, the prompt and the error.
    fn ending_writes(self, run: RunId, ending: &Ending, now: Time) -> Result<Vec<Write>> {
        let expires_at = self.store.steps().expiry(now);
        let mut writes = Vec::new();
        if let Some(step) = &ending.last_step {
            let step_item = StepRecord { expires_at, ..step.clone() };
            writes.push(Write::put(keys::step(run, step.index), &step_item)?);
        }
        if let Some(prompt) = &ending.prompt {
            let prompt_item = PromptRecord { expires_at, ..prompt.clone() };
            writes.push(Write::put(keys::run_prompt(run), &prompt_item)?);
        }
        if let Some(error) = &ending.error {
            writes.push(Write::put(keys::run_error(run), &ErrorItem { error, expires_at })?);
        }
        Ok(writes)
    }

    /// Moves the cursors that did not fit in the transaction. If a cursor is not moved, messages
    /// that were read count as new, which is the safe side.
    async fn move_cursors(self, cursors: Vec<Write>) {
        for cursor in cursors {
            if let Err(WriteError::Other(error)) = self.store.table.write(cursor).await {
                tracing::warn!(%error, "a cursor could not be moved");
            }
        }
    }

    /// Ends a run from outside. Its worker, if it has one, can't write any further. Fails with
    /// [`Error::Conflict`] if the run had ended. `token` is made before the first try, and detects
    /// a lost answer.
    pub async fn cancel(
        self,
        run: &RunRecord,
        reason: EndReason,
        token: &LeaseId,
        now: Time,
    ) -> Result<RunRecord> {
        self.end_other(run, reason, token, None, now)
            .await?
            .ok_or_else(|| Error::Internal("a cancellation has no condition of its own".into()))
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
    ) -> Result<Option<RunRecord>> {
        self.end_other(other, reason, &LeaseId(by.result.call_id.to_string()), Some(by), now).await
    }

    async fn end_other(
        self,
        run: &RunRecord,
        reason: EndReason,
        token: &LeaseId,
        by: Option<&ByWorker<'_>>,
        now: Time,
    ) -> Result<Option<RunRecord>> {
        let mut run = run.clone();
        loop {
            let canceled = RunRecord {
                status: RunStatus::Canceled,
                end_reason: Some(reason),
                finished_at: Some(now),
                ended_by: Some(token.clone()),
                expires_at: self.store.run_expiry(now),
                ..run.clone()
            };
            let mut writes = vec![
                cancel_write(&canceled, by)?,
                Write::delete(keys::active_run(run.agent_id, run.id)),
            ];
            if let Some(by) = by {
                writes.push(worker_keeps(by.run, by.lease, "")?);
                writes.push(by.result.write(by.run)?);
            }
            let refusal = match self.store.table.transact(&writes).await {
                Ok(()) => return Ok(Some(canceled)),
                Err(WriteError::Other(error)) => return Err(error),
                Err(WriteError::Refused(refusal)) => refusal,
            };
            if by.is_some_and(|by| refusal.names(&keys::run_meta(by.run))) {
                return Err(Error::LeaseLost);
            }
            let place = keys::run_meta(run.id);
            if !refusal.names(&place) {
                return Err(Error::Conflict("this call is finished already".into()));
            }
            let stored: RunRecord = refusal.existing(&place).ok_or_else(no_such_run)?;
            if stored.ended_by.as_ref() == Some(token) {
                return Ok(Some(stored));
            }
            if !stored.status.is_active() {
                return Err(had_ended(stored.status));
            }
            if by.is_some() && stored.kept != run.kept {
                return Ok(None);
            }
            // The run has asked people since it was read.
            if stored.open_calls.is_some() && run.open_calls.is_none() {
                run = stored;
            } else {
                return Err(had_ended(stored.status));
            }
        }
    }
}

fn had_ended(status: RunStatus) -> Error {
    Error::Conflict(format!("the run had ended already: it is {}", status.as_str()))
}

/// The worker and the call that end another run.
#[derive(Clone, Copy, Debug)]
pub struct ByWorker<'a> {
    /// The worker's run.
    pub run: RunId,
    /// The worker's lease.
    pub lease: &'a LeaseId,
    /// The call and its result. Its id is the token that detects a lost answer.
    pub result: &'a CallRecord,
}

/// Moves an agent's cursor forward, if the agent is still a member.
fn cursor(space: SpaceId, agent: EntityId, mark: u64, now: Time) -> Result<Write> {
    let cursor =
        Write::update(keys::member(space, agent), "SET #cursor = :mark, #lastRunAt = :now");
    cursor
        .when("#cursor < :mark AND attribute_not_exists(#left)")
        .value(":mark", mark)?
        .value(":now", now)
}

/// The write of a run's state when its worker ends it.
fn finish_write(ended: &RunRecord, lease: &LeaseId) -> Result<Write> {
    lease_holds(end(ended, "#stepCount = :steps, #usage = :usage, ")?, lease)?
        .value(":steps", ended.step_count)?
        .value(":usage", ended.usage)
}

/// The write of a run's state when it is canceled. A worker that cancels another run must have seen
/// its latest state.
fn cancel_write(canceled: &RunRecord, by: Option<&ByWorker<'_>>) -> Result<Write> {
    // The worker of the run may have stored a step since the run was read, so its counts stay.
    let meta = end(canceled, "")?
        .when("#status IN (:queued, :running, :waiting)")
        .value(":queued", RunStatus::Queued)?
        .value(":running", RunStatus::Running)?
        .value(":waiting", RunStatus::WaitingTool)?;
    if by.is_some() { meta.when("#kept = :seen").value(":seen", canceled.kept) } else { Ok(meta) }
}

/// Ends a run, and makes the updates in `also`. An ended run is not due, unless it has asked
/// people: then its forms must be closed.
fn end(ended: &RunRecord, also: &str) -> Result<Write> {
    let set = "#status = :status, #endReason = :reason, #finishedAt = :now, #endedBy = :by, \
               #expiresAt = :expires";
    let write = if ended.open_calls.is_some() {
        let expression = format!(
            "SET {also}{set}, #due = :due, #dueAt = :now REMOVE #lease, #leaseUntil, #dueCount"
        );
        let due = keys::due(ended.id.part_of(keys::DUE_PARTS));
        Write::update(keys::run_meta(ended.id), expression).value(":due", due)?
    } else {
        let expression =
            format!("SET {also}{set} REMOVE #lease, #leaseUntil, #due, #dueAt, #dueCount");
        Write::update(keys::run_meta(ended.id), expression).when("attribute_not_exists(#openCalls)")
    };
    write
        .value(":status", ended.status)?
        .value(":reason", ended.end_reason)?
        .value(":now", ended.finished_at)?
        .value(":by", &ended.ended_by)?
        .value(":expires", ended.expires_at)
}
