//! How a run ends: by its worker (finish), or by someone else (cancel). One transaction each.

use serde::Serialize;
use smartspace_domain::{
    Time,
    ids::{EntityId, LeaseId, RunId, SpaceId},
    runs::{EndReason, RunError, RunStatus, Usage},
    steps::FinishReason,
};

use crate::{
    Error, Result, Store, keys,
    prompts::PromptRecord,
    runs::{RunRecord, no_such_run},
    steps::{CallRecord, Marks, StepRecord, lease_holds, worker_keeps},
    table::WriteError,
    write::Write,
};

/// Cursors that move with a run's end; a transaction holds 100 items.
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
    /// What it used in all.
    pub usage: Usage,
    /// The last model answer, where it called nothing: kept in the same transaction.
    pub last_step: Option<StepRecord>,
    /// The prompt, where the last answer is also the first.
    pub prompt: Option<PromptRecord>,
    /// How far it had read, where that counts: only a completed run moves its agent's cursors.
    pub marks: Marks,
}

#[derive(Serialize)]
struct ErrorItem<'a> {
    #[serde(flatten)]
    error: &'a RunError,
    #[serde(rename = "expiresAt")]
    expires_at: Option<i64>,
}

impl Store {
    /// Ends a run under the worker's lease.
    pub async fn finish(&self, run: &RunRecord, lease: &LeaseId, ending: &Ending, now: Time) -> Result<RunRecord> {
        let answered = ending.last_step.as_ref().filter(|step| step.finish_reason != FinishReason::Error);
        let step_count = answered.map_or(run.step_count, |step| step.index + 1);
        let mut ended = RunRecord {
            status: ending.status,
            end_reason: ending.reason,
            usage: ending.usage,
            step_count,
            finished_at: Some(now),
            ended_by: Some(lease.clone()),
            expires_at: self.run_expiry(now),
            lease: None,
            lease_until: None,
            due: None,
            due_at: None,
            ..run.clone()
        };
        let meta = |ended: &RunRecord| {
            let meta = lease_holds(end(ended, "#stepCount = :steps, #usage = :usage, ")?, lease)?;
            meta.value(":steps", step_count)?.value(":usage", ending.usage)
        };
        let mut writes = vec![meta(&ended)?, Write::delete(keys::active_run(run.agent_id, run.id))];
        let expires_at = self.progress_expiry(now);
        if let Some(step) = &ending.last_step {
            writes.push(Write::put(keys::step(run.id, step.index), &StepRecord { expires_at, ..step.clone() })?);
        }
        if let Some(prompt) = &ending.prompt {
            self.keep_parts(prompt, now).await?;
            writes.push(Write::put(keys::run_prompt(run.id), &PromptRecord { expires_at, ..prompt.clone() })?);
        }
        if let Some(error) = &ending.error {
            writes.push(Write::put(keys::run_error(run.id), &ErrorItem { error, expires_at })?);
        }
        let mut cursors = ending.marks.iter().map(|(space, mark)| cursor(*space, run.agent_id, *mark, now)).collect::<Result<Vec<_>>>()?;
        let rest = cursors.split_off(cursors.len().min(CURSORS));
        writes.extend(cursors);
        let place = keys::run_meta(run.id);
        loop {
            let refusal = match self.table.transact(&writes).await {
                Ok(()) => {
                    self.move_cursors(rest).await;
                    return Ok(ended);
                }
                Err(WriteError::Other(error)) => return Err(error),
                Err(WriteError::Refused(refusal)) => refusal,
            };
            if refusal.names(&place) {
                match refusal.there::<RunRecord>(&place) {
                    Some(there) if there.ended_by.as_ref() == Some(lease) => return Ok(there),
                    // It has asked people since.
                    Some(there) if there.lease.as_ref() == Some(lease) && there.open_calls.is_some() && ended.open_calls.is_none() => {
                        ended.open_calls = there.open_calls;
                        writes[0] = meta(&ended)?;
                        continue;
                    }
                    _ => return Err(Error::LeaseLost),
                }
            }
            // Only cursors failed: another run had read further, or the agent has left. Again without those.
            writes.retain(|write| !refusal.names(&write.key));
        }
    }

    /// Moves cursors that the transaction had no room for. One that is not moved leaves as new what was read, which is the safe side.
    async fn move_cursors(&self, cursors: Vec<Write>) {
        for cursor in cursors {
            if let Err(WriteError::Other(error)) = self.table.write(cursor).await {
                tracing::warn!(%error, "a cursor was not moved");
            }
        }
    }

    /// Ends a run from outside, whoever works on it: its worker writes nothing more. [`Error::Conflict`] where it had ended.
    /// `token` is made before the first try, and tells a lost answer.
    pub async fn cancel(&self, run: &RunRecord, reason: EndReason, token: &LeaseId, now: Time) -> Result<RunRecord> {
        self.end_other(run, reason, token, None, now)
            .await?
            .ok_or_else(|| Error::Internal("a cancellation has no condition of its own".into()))
    }

    /// Ends another run of the worker's agent, in the name of a call of its own: of two that end each other the first one wins, the other has
    /// lost its lease. The call's result is kept in the same transaction. None where something was kept of the other run since it was read:
    /// read it again. [`Error::Conflict`] where it had ended otherwise.
    pub async fn end_own(&self, other: &RunRecord, reason: EndReason, by: &ByWorker<'_>, now: Time) -> Result<Option<RunRecord>> {
        self.end_other(other, reason, &LeaseId(by.result.call_id.to_string()), Some(by), now).await
    }

    async fn end_other(
        &self,
        run: &RunRecord,
        reason: EndReason,
        token: &LeaseId,
        by: Option<&ByWorker<'_>>,
        now: Time,
    ) -> Result<Option<RunRecord>> {
        let also = by.map(|by| Ok::<_, Error>([worker_keeps(by.run, by.lease, "")?, by.result.write(by.run)?])).transpose()?;
        let mut run = run.clone();
        loop {
            let canceled = RunRecord {
                status: RunStatus::Canceled,
                end_reason: Some(reason),
                finished_at: Some(now),
                ended_by: Some(token.clone()),
                expires_at: self.run_expiry(now),
                ..run.clone()
            };
            // Its worker may have kept a step since this was read: what it counts stays.
            let meta = end(&canceled, "")?
                .when("#status IN (:queued, :running, :waiting)")
                .value(":queued", RunStatus::Queued)?
                .value(":running", RunStatus::Running)?
                .value(":waiting", RunStatus::WaitingTool)?;
            let meta = if by.is_some() { meta.when("#kept = :seen").value(":seen", run.kept)? } else { meta };
            let writes: Vec<_> =
                [meta, Write::delete(keys::active_run(run.agent_id, run.id))].into_iter().chain(also.iter().flatten().cloned()).collect();
            let refusal = match self.table.transact(&writes).await {
                Ok(()) => return Ok(Some(canceled)),
                Err(WriteError::Other(error)) => return Err(error),
                Err(WriteError::Refused(refusal)) => refusal,
            };
            if by.is_some_and(|by| refusal.names(&keys::run_meta(by.run))) {
                return Err(Error::LeaseLost);
            }
            let place = keys::run_meta(run.id);
            if !refusal.names(&place) {
                return Err(Error::Conflict("this call is done already".into()));
            }
            match refusal.there::<RunRecord>(&place) {
                Some(there) if there.ended_by.as_ref() == Some(token) => return Ok(Some(there)),
                Some(there) if there.status.is_active() && by.is_some() && there.kept != run.kept => return Ok(None),
                // It has asked people since.
                Some(there) if there.status.is_active() && there.open_calls.is_some() && run.open_calls.is_none() => run = there,
                Some(there) => {
                    return Err(Error::Conflict(format!("the run had ended already: it is {}", there.status.as_str())));
                }
                None => return Err(no_such_run()),
            }
        }
    }
}

/// Who ends another run of its agent.
#[derive(Clone, Copy, Debug)]
pub struct ByWorker<'a> {
    /// Its run.
    pub run: RunId,
    /// Its lease.
    pub lease: &'a LeaseId,
    /// The call that does it, with its result. Its id is the token of a lost answer.
    pub result: &'a CallRecord,
}

/// Moves an agent's cursor: forward only, and only while the agent is there.
fn cursor(space: SpaceId, agent: EntityId, mark: u64, now: Time) -> Result<Write> {
    let cursor = Write::update(keys::member(space, agent), "SET #cursor = :mark, #lastRunAt = :now");
    cursor.when("#cursor < :mark AND attribute_not_exists(#left)").value(":mark", mark)?.value(":now", now)
}

/// Ends a run, and sets what stands in `also`. Nobody has to come back to it; but to one that has asked people, whose forms are to be closed.
fn end(ended: &RunRecord, also: &str) -> Result<Write> {
    let set = "#status = :status, #endReason = :reason, #finishedAt = :now, #endedBy = :by, #expiresAt = :expires";
    let write = if ended.open_calls.is_some() {
        let expression = format!("SET {also}{set}, #due = :due, #dueAt = :now REMOVE #lease, #leaseUntil, #dueCount");
        let due = keys::due(ended.id.part_of(keys::DUE_PARTS));
        Write::update(keys::run_meta(ended.id), expression).value(":due", due)?
    } else {
        let expression = format!("SET {also}{set} REMOVE #lease, #leaseUntil, #due, #dueAt, #dueCount");
        Write::update(keys::run_meta(ended.id), expression).when("attribute_not_exists(#openCalls)")
    };
    write
        .value(":status", ended.status)?
        .value(":reason", ended.end_reason)?
        .value(":now", ended.finished_at)?
        .value(":by", &ended.ended_by)?
        .value(":expires", ended.expires_at)
}
