//! What a run has done: its prompt, its model's answers, its calls. Each is kept once, under the worker's lease, and read again by who
//! takes the run over.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use smartspace_domain::{
    Time,
    ids::{CallId, LeaseId, RunId, SpaceId},
    runs::{EndReason, RunError, RunStatus, Usage},
    steps::{Call, CallStatus, FinishReason, Prompt, Step, SystemMessage},
};

use crate::{
    Error, Result, Store,
    cards::CardPlace,
    keys,
    prompts::PromptRecord,
    runs::RunRecord,
    table::{Query, WriteError, key_of, read},
    write::Write,
};

/// How far a run has read in each space.
pub type Marks = BTreeMap<SpaceId, u64>;

/// A finished model answer, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepRecord {
    /// From 0.
    pub index: u32,
    /// The run's attempt that made it.
    pub attempt: u32,
    /// Which try of an answer it was: the streams of its calls are named by it.
    pub stream_attempt: u32,
    /// The lease under which it was kept: the token of a lost answer.
    pub lease: LeaseId,
    /// `provider/model`.
    pub model: String,
    /// What the model thought aloud.
    pub text: String,
    /// What it called.
    pub calls: Vec<CallBegun>,
    /// What the system said before it.
    pub system_messages: Vec<SystemMessage>,
    /// How far that read in each space.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub marks: Marks,
    /// Why it stopped.
    pub finish_reason: FinishReason,
    /// What it used.
    pub usage: Usage,
    /// When it was asked.
    pub started_at: Time,
    /// When its first piece came.
    pub first_token_at: Option<Time>,
    /// When it was complete.
    pub finished_at: Time,
    /// When it is dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
}

/// A call as the model made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallBegun {
    /// Its id.
    pub call_id: CallId,
    /// The tool.
    pub name: String,
    /// The input as the model wrote it.
    pub input: String,
}

/// Messages of a space that a run was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownPage {
    /// Where.
    pub space: SpaceId,
    /// The first one.
    pub first: u64,
    /// The last one.
    pub last: u64,
    /// Up to here the agent had read before.
    pub cursor: u64,
}

/// A finished call, or one that people are asked about, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallRecord {
    /// Its id.
    pub call_id: CallId,
    /// Of which step.
    pub step: u32,
    /// Its place in it.
    pub index: u32,
    /// The tool.
    pub name: String,
    /// What came of it.
    #[serde(with = "crate::json_text")]
    pub output: Value,
    /// How it ended.
    pub status: CallStatus,
    /// When it began.
    pub started_at: Time,
    /// When it ended.
    pub finished_at: Time,
    /// It ends the run so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<EndReason>,
    /// The space that is active after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_space: Option<SpaceId>,
    /// What it showed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub marks: Marks,
    /// Messages that it showed, which may leave a gap below them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<ShownPage>,
    /// The first 200 characters of what it said in the active space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// Who answered it, where it is a form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<Answered>,
    /// It reaches outside: it was kept when it began, and again with its result.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outside: bool,
    /// It said when it began that it may be made again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeatable: bool,
    /// Its card, where that was shown before its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<CardPlace>,
    /// When it is dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
}

/// Who gave a form its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    /// Who, as callers are named; empty where its time was up or its run ended.
    pub by: String,
    /// The token of whoever resolved it.
    pub token: LeaseId,
}

/// Adds to a write of a run's state that the lease is still the worker's.
pub(crate) fn lease_holds(write: Write, lease: &LeaseId) -> Result<Write> {
    write.when("#lease = :mine AND #status = :isRunning").value(":mine", lease)?.value(":isRunning", RunStatus::Running)
}

/// What every write of a run's worker does to its state: it checks the lease, raises the count of what is kept, and sets what stands in `also`.
pub(crate) fn worker_keeps(run: RunId, lease: &LeaseId, also: &str) -> Result<Write> {
    lease_holds(Write::update(keys::run_meta(run), format!("SET {also}#kept = #kept + :more")), lease)?.value(":more", 1)
}

impl CallRecord {
    /// Whether it has begun outside, and nothing is known of its end.
    pub fn is_under_way(&self) -> bool {
        self.outside && self.status == CallStatus::Pending
    }

    /// Where it is kept.
    pub(crate) fn key(&self, run: RunId) -> keys::Key {
        keys::call(run, self.step, self.index)
    }

    pub(crate) fn write(&self, run: RunId) -> Result<Write> {
        let write = Write::put(self.key(run), self)?;
        if self.outside && self.status != CallStatus::Pending {
            return write.when("#status = :pending").value(":pending", CallStatus::Pending);
        }
        Ok(write.if_absent())
    }
}

/// All that is kept of a run's work.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// What its model was first sent.
    pub prompt: Option<PromptRecord>,
    /// Its model's answers, in order.
    pub steps: Vec<StepRecord>,
    /// Its finished calls, by step and place.
    pub calls: BTreeMap<(u32, u32), CallRecord>,
    /// Why it failed.
    pub error: Option<RunError>,
}

impl Store {
    /// What a run has done so far.
    pub async fn progress(&self, id: RunId) -> Result<Progress> {
        let mut progress = Progress::default();
        for item in self.table.all(Query::of(keys::run(id))).await? {
            let sk = key_of(&item)?.sk;
            if sk == "PROMPT" {
                progress.prompt = Some(read(item)?);
            } else if sk == "ERROR" {
                progress.error = Some(read(item)?);
            } else if sk.starts_with("STEP#") {
                progress.steps.push(read(item)?);
            } else if sk.starts_with("CALL#") {
                let call: CallRecord = read(item)?;
                progress.calls.insert((call.step, call.index), call);
            }
        }
        if let Some(prompt) = &mut progress.prompt {
            self.add_parts(prompt).await?;
        }
        Ok(progress)
    }

    /// The calls of one of a run's answers that were made so far, in order.
    pub async fn calls_of(&self, id: RunId, step: u32) -> Result<Vec<CallRecord>> {
        let (first, last) = (keys::call(id, step, 0).sk, keys::call(id, step, 999).sk);
        self.table.all(Query::of(keys::run(id)).between(&first, &last)).await?.into_iter().map(read).collect()
    }

    /// The last calls of a run that were made, newest first.
    pub async fn last_calls(&self, id: RunId, limit: usize) -> Result<Vec<CallRecord>> {
        let query = Query::of(keys::run(id)).between(keys::CALL, &format!("{}~", keys::CALL)).newest_first().limit(limit);
        self.table.all(query).await?.into_iter().map(read).collect()
    }

    /// The spaces that a run has entered so far, as its calls say.
    pub async fn spaces_entered(&self, id: RunId) -> Result<Vec<SpaceId>> {
        let query = Query::of(keys::run(id)).between(keys::CALL, &format!("{}~", keys::CALL));
        let mut entered = Vec::new();
        for item in self.table.all(query).await? {
            let call: CallRecord = read(item)?;
            entered.extend(call.active_space.filter(|space| !entered.contains(space)));
        }
        Ok(entered)
    }

    /// Keeps a finished model answer, with the prompt where it is the first.
    pub async fn keep_step(
        &self,
        run: &RunRecord,
        step: &StepRecord,
        prompt: Option<&PromptRecord>,
        usage: Usage,
        now: Time,
    ) -> Result<()> {
        if let Some(prompt) = prompt {
            self.keep_parts(prompt, now).await?;
        }
        let expires_at = self.progress_expiry(now);
        let meta = worker_keeps(run.id, &step.lease, "#stepCount = :steps, #usage = :usage, ")?;
        let meta = meta.value(":steps", step.index + 1)?.value(":usage", usage)?;
        let step_item = StepRecord { expires_at, ..step.clone() };
        let mut writes = vec![meta, Write::put(keys::step(run.id, step.index), &step_item)?.if_absent()];
        if let Some(prompt) = prompt {
            writes.push(Write::put(keys::run_prompt(run.id), &PromptRecord { expires_at, ..prompt.clone() })?);
        }
        match self.table.transact(&writes).await {
            Ok(()) => Ok(()),
            Err(WriteError::Other(error)) => Err(error),
            Err(WriteError::Refused(refusal)) => match refusal.there::<StepRecord>(&keys::step(run.id, step.index)) {
                Some(kept) if kept.lease == step.lease => Ok(()),
                _ => Err(Error::LeaseLost),
            },
        }
    }

    /// Keeps a finished call that wrote nothing else, or one that begins outside. Its open card is finished with it.
    pub async fn keep_call(&self, run: &RunRecord, lease: &LeaseId, call: &CallRecord, now: Time) -> Result<()> {
        let call = CallRecord { expires_at: self.progress_expiry(now), ..call.clone() };
        let open = call.card.filter(|_| call.status != CallStatus::Pending);
        let mut card = open.map(|card| card.finish(call.status, &call.output, now)).transpose()?.unwrap_or_default();
        let closes = if open.is_some() { "#openCalls = #openCalls - :one, " } else { "" };
        let meta = match call.active_space {
            Some(space) => worker_keeps(run.id, lease, &format!("{closes}#activeSpaceId = :space, "))?.value(":space", space)?,
            None => worker_keeps(run.id, lease, closes)?,
        };
        let meta = if open.is_some() { meta.value(":one", 1)? } else { meta };
        loop {
            let mut writes = vec![meta.clone(), call.write(run.id)?];
            writes.append(&mut card);
            let refusal = match self.table.transact(&writes).await {
                Ok(()) => return Ok(()),
                Err(WriteError::Other(error)) => return Err(error),
                Err(WriteError::Refused(refusal)) => refusal,
            };
            if refusal.names(&keys::run_meta(run.id)) {
                return Err(Error::LeaseLost);
            }
            if refusal.names(&call.key(run.id)) {
                // Only this worker makes this call while its lease holds: the answer to the first try was lost.
                let kept: Option<CallRecord> = refusal.there(&call.key(run.id));
                let is_ours = kept.is_some_and(|kept| kept.call_id == call.call_id && kept.status == call.status);
                return if is_ours { Ok(()) } else { Err(Error::LeaseLost) };
            }
            // The card went with its space: the run goes on without it.
        }
    }

    /// Steps and calls outlive their run by nothing, but a run may last: they get a week more.
    pub fn progress_expiry(&self, now: Time) -> Option<i64> {
        self.run_expiry(now + std::time::Duration::from_hours(7 * 24))
    }
}

/// A run's steps, as the API shows them: the prompt whole in step 0, later only what was added. Calls that a run which has `ended` did not come to
/// were canceled.
pub fn view(progress: Progress, ended: bool) -> Result<Vec<Step>> {
    let undone = if ended { CallStatus::Canceled } else { CallStatus::Pending };
    let mut prompt = progress.prompt.as_ref().map(PromptRecord::view).transpose()?.unwrap_or_default();
    let mut steps = Vec::with_capacity(progress.steps.len());
    for step in progress.steps {
        let said = step.system_messages.iter().map(|said| json!({"role": "system", "text": said.text}));
        prompt.messages.extend(said);
        let calls: Vec<Call> = step
            .calls
            .iter()
            .enumerate()
            .map(|(index, begun)| call_view(begun, progress.calls.get(&(step.index, index as u32)), undone))
            .collect();
        let results: Vec<Value> = calls.iter().map(|call| json!({"callId": call.call_id, "output": call.output})).collect();
        let added =
            vec![json!({"role": "assistant", "text": step.text, "calls": step.calls}), json!({"role": "tool_results", "results": results})];
        steps.push(Step {
            index: step.index,
            attempt: step.attempt,
            model: step.model,
            prompt: std::mem::replace(&mut prompt, Prompt { system: Vec::new(), messages: added }),
            system_messages: step.system_messages,
            text: step.text,
            calls,
            finish_reason: step.finish_reason,
            usage: step.usage,
            started_at: step.started_at,
            first_token_at: step.first_token_at,
            finished_at: step.finished_at,
        });
    }
    Ok(steps)
}

fn call_view(begun: &CallBegun, known: Option<&CallRecord>, undone: CallStatus) -> Call {
    let done = known.filter(|call| call.status != CallStatus::Pending);
    Call {
        call_id: begun.call_id,
        name: begun.name.clone(),
        input: smartspace_domain::json::parse(&begun.input).unwrap_or_else(|_| Value::String(begun.input.clone())),
        output: done.map(|done| done.output.clone()),
        status: done.map_or(undone, |done| done.status),
        started_at: known.map(|known| known.started_at),
        finished_at: done.map(|done| done.finished_at),
    }
}
