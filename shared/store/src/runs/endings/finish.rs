//! The worker of a run ends it.

use serde::Serialize;
use smartspace_domain::{
    Time,
    ids::{EntityId, LeaseId, SpaceId},
    runs::{EndReason, RunError, RunStatus, UsageByModel},
    steps::FinishReason,
};

use crate::{
    Error, Result, Runs,
    runs::{
        FirstPost, RunRecord,
        end_writes::end_write,
        endings::Ended,
        lanes::Leaving,
        marks::{Marks, after_post},
        places::Reads,
        prompts::PromptRecord,
        silence::Silence,
        steps::{ADD_HINTED, SET_REVISION, StepRecord, hinted_values, lease_holds},
        with_first_post,
    },
    shared::member::{MemberRecord, is_member},
    table::{WriteError, keys, refusal::Refusal, write::Write},
    usage,
};

/// How many cursors move in the transaction that ends a run. A transaction has at most 100 items.
const CURSORS: usize = 70;
/// Of how many spaces a run stores what it has read of them, since its item is small.
const SPACES_READ: usize = 10;

/// How a worker ends its run.
#[derive(Clone, Debug)]
pub struct Ending {
    /// Completed, failed or canceled.
    pub status: RunStatus,
    /// Why.
    pub reason: Option<EndReason>,
    /// Whether it completes and has posted nothing.
    pub is_silent: bool,
    /// The beginning of the reason that `skip_response` gave.
    pub skip_reason: Option<String>,
    /// Why it failed.
    pub error: Option<RunError>,
    /// Its usage by model, over all of its steps.
    pub used: UsageByModel,
    /// The last model answer, if it called no tool. It is stored in the same transaction.
    pub last_step: Option<StepRecord>,
    /// The prompt, if the last answer is also the first one.
    pub prompt: Option<PromptRecord>,
    /// How far it had read in each space. Empty unless it completed: only a completed run moves the
    /// cursors of its agent.
    pub marks: Marks,
    /// The messages that it has read. `None` if that is not known: then a message that is deleted
    /// is looked for in all that the run has stored.
    pub reads: Option<Reads>,
}

impl Ending {
    /// An end without a reason, an error, a last answer and marks.
    pub fn new(status: RunStatus, used: UsageByModel) -> Self {
        Self {
            status,
            reason: None,
            is_silent: false,
            skip_reason: None,
            error: None,
            used,
            last_step: None,
            prompt: None,
            marks: Marks::new(),
            reads: None,
        }
    }

    /// The end of a run that failed. It leaves the cursors as they are.
    pub fn failed(error: RunError, used: UsageByModel) -> Self {
        Self { error: Some(error), ..Self::new(RunStatus::Failed, used) }
    }
}

/// The end of a run, as a part of the transaction that stores its last message.
#[derive(Clone, Debug)]
pub struct EndWithMessage {
    /// The run, as it is then.
    pub run: RunRecord,
    /// The writes, without the one of the member.
    pub(crate) writes: Vec<Write>,
    /// How far the run had read in the space of the message. `None` if it had not.
    read: Option<u64>,
    now: Time,
}

impl EndWithMessage {
    /// The writes, if the last message is the one at `seq` of `space`.
    pub(crate) fn writes_with(&self, space: SpaceId, seq: u64) -> Result<Vec<Write>> {
        let own = keys::run_meta(self.run.id);
        let post = FirstPost::of(space, seq, self.run.space_id());
        let noted = |write: Write| {
            if write.key == own { with_first_post(write, post) } else { Ok(write) }
        };
        self.writes.iter().cloned().map(noted).collect()
    }

    /// Whether a transaction was refused because of the end.
    pub(crate) fn is_refused(&self, refusal: &Refusal) -> bool {
        self.writes.iter().any(|write| refusal.names(&write.key))
    }

    /// The end, once the message is stored at `seq`. No run waits for it.
    pub fn ended(self, space: SpaceId, seq: u64) -> Ended {
        let read = self.read.map(|read| (space, after_post(read, seq)));
        Ended { run: self.run, next: Vec::new(), read: read.into_iter().collect() }
    }

    /// Moves the agent's cursor to the message at `seq`, if it has read all before it, and checks
    /// that the agent is a member.
    pub(crate) fn member(&self, space: SpaceId, seq: u64) -> Result<Write> {
        let agent = self.run.agent_id;
        match self.read {
            Some(read) => cursor(space, agent, after_post(read, seq), self.now),
            None => Ok(is_member(space, agent)),
        }
    }
}

#[derive(Serialize)]
struct ErrorItem<'a> {
    #[serde(flatten)]
    error: &'a RunError,
    #[serde(rename = "expiresAt")]
    expires_at: Option<i64>,
}

impl Runs<'_> {
    /// Ends a run under the worker's lease, and lets the runs start that waited for its slot or
    /// its place in the lane.
    pub async fn finish(
        self,
        run: &RunRecord,
        lease: &LeaseId,
        ending: &Ending,
        now: Time,
    ) -> Result<Ended> {
        let mut ended = self.finished(run, lease, ending, now);
        let mut writes = vec![finish_write(&ended, lease, None)?];
        writes.extend(self.ending_writes(run, lease, ending, now).await?);
        let mut leaving = Leaving::of(run.to_ref());
        let mut cursors = ending
            .marks
            .iter()
            .map(|(space, mark)| cursor(*space, run.agent_id, *mark, now))
            .collect::<Result<Vec<_>>>()?;
        let rest = cursors.split_off(cursors.len().min(CURSORS));
        writes.extend(cursors);
        let mut read = ending.marks.clone();
        let item_key = keys::run_meta(run.id);
        loop {
            let left = leaving.writes(now)?;
            let all: Vec<_> = writes.iter().cloned().chain(left).collect();
            let refusal = match self.store.table.transact(&all).await {
                Ok(()) => {
                    self.move_cursors(rest).await;
                    return Ok(Ended { run: ended, next: leaving.next_jobs(), read });
                }
                Err(WriteError::Other(error)) => return Err(error),
                Err(WriteError::Refused(refusal)) => refusal,
            };
            if refusal.names(&item_key) {
                match refusal.existing::<RunRecord>(&item_key) {
                    Some(stored) if stored.ended_by.as_ref() == Some(lease) => {
                        return Ok(Ended { run: stored, next: leaving.next_jobs(), read });
                    }
                    // The run has asked people since it was read.
                    Some(stored)
                        if stored.lease.as_ref() == Some(lease)
                            && stored.open_calls.is_some()
                            && ended.open_calls.is_none() =>
                    {
                        ended.open_calls = stored.open_calls;
                        writes[0] = finish_write(&ended, lease, None)?;
                        continue;
                    }
                    _ => return Err(Error::LeaseLost),
                }
            }
            leaving.refused(self, &refusal).await?;
            // If cursors failed, another run had read as far, or the agent has left the space. The
            // run ends without them.
            correct(&mut read, run.agent_id, &refusal);
            writes.retain(|write| !refusal.names(&write.key));
        }
    }

    /// The end of a run that completes with a message in `space`. The transaction is refused if
    /// another run waits for its slot or its place in the lane. Of its marks only the one of that
    /// space counts.
    pub async fn end_with_message(
        self,
        run: &RunRecord,
        lease: &LeaseId,
        ending: &Ending,
        space: SpaceId,
        now: Time,
    ) -> Result<EndWithMessage> {
        let ended = self.finished(run, lease, ending, now);
        let mut writes = vec![finish_write(&ended, lease, Some(space))?];
        writes.extend(self.ending_writes(run, lease, ending, now).await?);
        writes.extend(Leaving::of(run.to_ref()).writes(now)?);
        let read = ending.marks.get(&space).copied();
        Ok(EndWithMessage { run: ended, writes, read, now })
    }

    /// A run, as it is after its worker has ended it.
    fn finished(self, run: &RunRecord, lease: &LeaseId, ending: &Ending, now: Time) -> RunRecord {
        let hinted = ending.last_step.iter().filter(|step| step.has_hints());
        let answered =
            ending.last_step.as_ref().filter(|step| step.finish_reason != FinishReason::Error);
        RunRecord {
            usage: ending.used.total(),
            step_count: answered.map_or(run.step_count, |step| step.index + 1),
            first_token_at: run
                .first_token_at
                .or_else(|| answered.and_then(|step| step.first_token_at)),
            silence: Silence { silent: ending.is_silent && run.is_asked(), ..run.silence.clone() },
            skip_reason: ending.skip_reason.clone(),
            reads: ending.reads.clone().filter(|reads| reads.len() <= SPACES_READ),
            hinted: hinted.map(|step| step.index).collect(),
            ..self.ended(run.clone(), ending.status, ending.reason, lease, now)
        }
    }

    /// The writes of every end: of the active copy, the last step, the prompt, the error and the
    /// usage. The parts of the prompt are stored at once.
    async fn ending_writes(
        self,
        run: &RunRecord,
        lease: &LeaseId,
        ending: &Ending,
        now: Time,
    ) -> Result<Vec<Write>> {
        let RunRecord { id, agent_id, .. } = *run;
        let expires_at = self.store.work_expiry(now);
        let mut writes = vec![Write::delete(keys::active_run(agent_id, id))];
        if let Some(prompt) = &ending.prompt {
            let holds = lease_holds(Write::check(keys::run_meta(id)), lease)?;
            writes.push(self.store.prompts().store_parts(run, prompt, holds, now).await?);
        }
        if let Some(step) = &ending.last_step {
            let step_item = StepRecord { expires_at, ..step.clone() };
            writes.push(Write::put(keys::step(id, step.index), &step_item)?);
        }
        if let Some(error) = &ending.error {
            writes.push(Write::put(keys::run_error(id), &ErrorItem { error, expires_at })?);
        }
        writes.extend(usage::writes(run.usage_scope(), &ending.used, 1, now)?);
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
}

/// Replaces the marks whose cursors a transaction refused by the positions that the agent has, and
/// removes those of spaces that it has left.
fn correct(read: &mut Marks, agent: EntityId, refusal: &Refusal) {
    read.retain(|space, mark| {
        let key = keys::member(*space, agent);
        if refusal.names(&key) {
            let member: Option<MemberRecord> = refusal.existing(&key);
            *mark = member.as_ref().map_or(0, |member| member.view().read_seq);
        }
        *mark > 0
    });
}

/// Moves an agent's cursor forward, if the agent is still a member.
fn cursor(space: SpaceId, agent: EntityId, mark: u64, now: Time) -> Result<Write> {
    let cursor =
        Write::update(keys::member(space, agent), "SET #cursor = :mark, #lastRunAt = :now");
    cursor.when("#cursor < :mark").value(":mark", mark)?.value(":now", now)
}

/// Ends a run. `active` is its active space, if that is not stored yet.
fn finish_write(ended: &RunRecord, lease: &LeaseId, active: Option<SpaceId>) -> Result<Write> {
    let also = [
        ("#activeSpaceId = :space, ", active.is_some()),
        ("#firstTokenAt = :firstToken, ", ended.first_token_at.is_some()),
        ("#skipReason = :skipReason, ", ended.skip_reason.is_some()),
        ("#reported = :reported, ", ended.reported.is_some()),
        ("#reads = :reads, ", ended.reads.is_some()),
        ("#silent = :silent, ", ended.silence.silent),
        (SET_REVISION, ended.config_revision.is_some()),
        (ADD_HINTED, !ended.hinted.is_empty()),
    ];
    let also: String = also.into_iter().filter(|(_, is_set)| *is_set).map(|(set, _)| set).collect();
    let expression = format!("{also}#stepCount = :steps, #usage = :usage, ");
    let write = lease_holds(end_write(ended, &expression)?, lease)?;
    // A remote agent may post a message at the same moment, which counts as a step.
    let counted = "#stepCount = :steps";
    let write = if ended.remote.is_some() { write.when(counted) } else { write };
    let mut write = write.value(":steps", ended.step_count)?.value(":usage", ended.usage)?;
    if let Some(space) = active {
        write = write.value(":space", space)?;
    }
    if let Some(at) = ended.first_token_at {
        write = write.value(":firstToken", at)?;
    }
    if let Some(reason) = &ended.skip_reason {
        write = write.value(":skipReason", reason)?;
    }
    if let Some(reported) = &ended.reported {
        write = write.value(":reported", reported)?;
    }
    if let Some(reads) = &ended.reads {
        write = write.value(":reads", reads)?;
    }
    if ended.silence.silent {
        write = write.value(":silent", true)?;
    }
    if let Some(revision) = ended.config_revision {
        write = write.value(":revision", revision)?;
    }
    if !ended.hinted.is_empty() {
        write = hinted_values(write, &ended.hinted)?;
    }
    Ok(write)
}
