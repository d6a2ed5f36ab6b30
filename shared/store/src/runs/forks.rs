//! Forks: dry runs that replay the first steps of another run and then ask a model again, perhaps
//! another one or with other instructions. The operator compares their answers.
//!
//! A fork changes nothing besides its own items and the usage: it has no copy among the active runs
//! of its agent, needs no slot, and is in no list of a space.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use smartspace_domain::{
    Time,
    agents::ForkChanges,
    ids::RunId,
    runs::{ForkOf, RunStatus},
    steps::CallStatus,
};

use crate::{
    Error, Result, Runs,
    idempotency::PostKey,
    runs::{
        RunRecord, TriggeredBy,
        steps::{Progress, StepRecord},
    },
    table::{WriteError, json_text, keys, write::Write},
};

/// The changes of a fork, as they are stored.
#[derive(Serialize, Deserialize)]
struct ForkItem {
    #[serde(with = "json_text")]
    changes: Value,
    #[serde(default, rename = "expiresAt", skip_serializing_if = "Option::is_none")]
    expires_at: Option<i64>,
}

impl Runs<'_> {
    /// Queues a fork of the run `of` from `step` on. If the `key` was used before, this returns the
    /// fork of that time. `id` is made before the first try.
    ///
    /// Fails with [`Error::Invalid`] if the run has no such step, and with [`Error::Conflict`] if
    /// a step before it has expired or has a call without a result.
    pub async fn fork(
        self,
        of: &RunRecord,
        step: u32,
        changes: &ForkChanges,
        id: RunId,
        key: &PostKey,
        now: Time,
    ) -> Result<RunRecord> {
        if let Some(made) = self.store.idempotency().made_before::<RunId>(Some(key), now).await? {
            return self.record(made).await;
        }
        if of.fork_of().is_some() {
            return Err(Error::Conflict("this run is a fork; fork the run in its forkOf".into()));
        }
        let replayed = self.store.steps().progress(of.id).await?;
        check_replay(of, &replayed, step)?;
        let fork_of = ForkOf { run_id: of.id, step };
        let cause = TriggeredBy::Fork { fork_of, of_space: of.space_id() };
        let run = RunRecord {
            step_count: step,
            active_space_id: None,
            ..RunRecord::queued(id, of.agent_id, cause, of.chain_depth, now)
        };
        let run = run.traced(self.store);
        let expires_at = self.store.work_expiry(now);
        let writes = [
            Write::put(keys::run_meta(id), &run)?.if_absent(),
            Write::put(keys::run_fork(id), &ForkItem { changes: json!(changes), expires_at })?,
            key.write(&id.to_string(), now)?,
        ];
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(run),
            Err(WriteError::Other(error)) => Err(error),
            // The first try took effect and its answer was lost.
            Err(WriteError::Refused(refusal)) if refusal.names(&keys::run_meta(id)) => Ok(run),
            Err(WriteError::Refused(refusal)) => match PostKey::made(Some(key), &refusal)? {
                Some(made) => self.record(made).await,
                None => Err(Error::Internal("a fork was refused without a reason".into())),
            },
        }
    }

    /// The changes of a fork.
    pub async fn fork_changes(self, fork: RunId) -> Result<ForkChanges> {
        let item: Option<ForkItem> = self.store.table.get(&keys::run_fork(fork)).await?;
        let Some(ForkItem { changes, .. }) = item else { return Ok(ForkChanges::default()) };
        ForkChanges::read_stored(changes)
            .map_err(|error| Error::Internal(format!("a fork could not be read: {error}")))
    }
}

impl Progress {
    /// The steps that a fork continues: those of this run that it replays, then its `own` steps.
    #[must_use]
    pub fn forked(mut self, fork: ForkOf, own: Self) -> Self {
        self.steps.retain(|step| step.index < fork.step);
        self.steps.extend(own.steps);
        self.calls.retain(|(step, _), _| *step < fork.step);
        for call in self.calls.values_mut() {
            // The cards are those of the other run.
            (call.card, call.answer, call.shown_in) = (None, None, None);
        }
        self.calls.extend(own.calls);
        Self { prompt: own.prompt.or(self.prompt), error: own.error, ..self }
    }
}

impl Progress {
    /// Removes from the steps that a fork replays what only their model understands, unless that is
    /// the fork's own `model`.
    pub fn forget_other_models(&mut self, fork: ForkOf, model: &str) {
        let replayed = self.steps.iter_mut().filter(|step| step.index < fork.step);
        replayed.filter(|step| step.model != model).for_each(StepRecord::forget_model);
    }
}

/// Fails unless the steps before `step` can be replayed.
fn check_replay(of: &RunRecord, replayed: &Progress, step: u32) -> Result<()> {
    if of.remote.is_some() {
        let text = "a remote agent worked on the run, so there is no model to ask again";
        return Err(Error::Conflict(text.into()));
    }
    let count = of.step_count;
    // After an answer without calls, or the end by a call or a limit, there is nothing to ask.
    let is_last = |answer: &StepRecord| answer.index + 1 == count && answer.calls.is_empty();
    let has_ended = of.status == RunStatus::Completed || replayed.steps.iter().any(is_last);
    let most = count.saturating_sub(u32::from(has_ended));
    if step > most {
        return Err(Error::invalid(
            "/fromStep",
            format!("expected at most {most}, the last step that the run began, got {step}"),
        ));
    }
    let is_gone = || Error::Conflict("the steps of the run are not stored any more".into());
    let prompt = replayed.prompt.as_ref().filter(|prompt| !prompt.system.is_empty());
    if prompt.is_none() {
        return Err(if count == 0 && replayed.prompt.is_none() {
            Error::Conflict("no answer of the run's model is stored yet".into())
        } else {
            is_gone()
        });
    }
    let before: Vec<_> = replayed.steps.iter().filter(|it| it.index < step).collect();
    if before.len() != step as usize {
        return Err(is_gone());
    }
    for answer in before {
        let is_done = |index: usize| {
            let stored = replayed.calls.get(&(answer.index, index as u32));
            stored.is_some_and(|call| call.status != CallStatus::Pending)
        };
        if !(0..answer.calls.len()).all(is_done) {
            let index = answer.index;
            return Err(Error::Conflict(format!("not all calls of step {index} have a result")));
        }
    }
    Ok(())
}
