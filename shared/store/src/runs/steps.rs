//! The work of a run: its prompt, the answers of its model, and its calls. Each is stored once,
//! under the worker's lease, and read again by a worker that takes over the run.

mod approved;
mod awaiting;
mod extending;
mod records;
mod view;

use std::collections::BTreeMap;

use smartspace_domain::{
    Time,
    ids::{LeaseId, RunId, SpaceId},
    runs::{EndReason, RunError, RunStatus, UsageByModel},
    steps::CallStatus,
};

pub(super) use self::records::is_zero;
pub use self::{
    records::{
        AnswerOrigin, CallBegun, CallFile, CallRecord, CallUsage, Opaque, ShownPage, StepRecord,
    },
    view::{hints, view},
};
pub use crate::runs::{awaited_input::AwaitedInput, call_approval::CallApproval, marks::Marks};
use crate::{
    Error, Result, Steps,
    runs::{RunRecord, prompts::PromptRecord},
    table::{Query, WriteError, key_of, keys, read, write::Write},
};

/// Adds the condition that the worker still holds the lease to a write of a run's state.
pub(crate) fn lease_holds(write: Write, lease: &LeaseId) -> Result<Write> {
    write
        .when("#lease = :mine AND #status = :isRunning")
        .value(":mine", lease)?
        .value(":isRunning", RunStatus::Running)
}

/// The write of a run's state with which a worker stores anything: it checks the lease, raises
/// `kept`, and makes the updates in `also`.
pub(crate) fn worker_keeps(run: RunId, lease: &LeaseId, also: &str) -> Result<Write> {
    lease_holds(
        Write::update(keys::run_meta(run), format!("SET {also}#kept = #kept + :more")),
        lease,
    )?
    .value(":more", 1)
}

/// The update that adds steps with hints to those of a run, with [`hinted_values`].
pub(super) const ADD_HINTED: &str =
    "#hinted = list_append(if_not_exists(#hinted, :noHints), :hinted), ";

/// The update that stores the revision of the agent, `:revision`.
pub(super) const SET_REVISION: &str = "#configRevision = :revision, ";

/// Fills in the steps of [`ADD_HINTED`], and the empty list for a run that has none so far.
pub(super) fn hinted_values(write: Write, steps: &[u32]) -> Result<Write> {
    write.value(":hinted", steps)?.value(":noHints", Vec::<u32>::new())
}

/// The condition that a run was canceled while a worker had it that had claimed it as the
/// `claims`-th one. No other worker may store what its model had written, and nobody may if the
/// run's message was deleted.
pub(crate) fn was_stopped(run: RunId, claims: u32) -> Result<Write> {
    if_stopped(Write::check(keys::run_meta(run)), claims)
}

fn if_stopped(write: Write, claims: u32) -> Result<Write> {
    write
        .when("#status = :canceled AND #claims = :claims AND #endReason <> :deleted")
        .value(":canceled", RunStatus::Canceled)?
        .value(":deleted", EndReason::Deleted)?
        .value(":claims", claims)
}

/// The stored work of a run.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    pub prompt: Option<PromptRecord>,
    /// The answers of its model, in order.
    pub steps: Vec<StepRecord>,
    /// Its stored calls, by step and position.
    pub calls: BTreeMap<(u32, u32), CallRecord>,
    /// Why it failed.
    pub error: Option<RunError>,
}

impl Steps<'_> {
    /// Everything that a run has done so far.
    pub async fn progress(self, id: RunId) -> Result<Progress> {
        let mut progress = Progress::default();
        for item in self.store.table.all(Query::of(keys::run(id))).await? {
            let sk = key_of(&item)?.sk;
            if sk == "PROMPT" {
                progress.prompt = Some(read(item)?);
            } else if sk == "ERROR" {
                progress.error = Some(read(item)?);
            } else if sk.starts_with(keys::STEP) {
                progress.steps.push(read(item)?);
            } else if sk.starts_with("CALL#") {
                let call: CallRecord = read(item)?;
                progress.calls.insert((call.step, call.index), call);
            }
        }
        if let Some(prompt) = &mut progress.prompt {
            self.store.prompts().load_parts(prompt).await?;
        }
        Ok(progress)
    }

    /// The model answers of a run, in order.
    pub async fn answers(self, id: RunId) -> Result<Vec<StepRecord>> {
        let query = Query::of(keys::run(id)).begins_with(keys::STEP);
        self.store.table.all(query).await?.into_iter().map(read).collect()
    }

    /// The stored calls of a step, in order.
    pub async fn calls_of(self, id: RunId, step: u32) -> Result<Vec<CallRecord>> {
        let first = keys::call(id, step, 0).sk;
        let last = keys::call(id, step, 999).sk;
        self.store
            .table
            .all(Query::of(keys::run(id)).between(&first, &last))
            .await?
            .into_iter()
            .map(read)
            .collect()
    }

    /// The last stored calls of a run, newest first.
    pub async fn last_calls(self, id: RunId, limit: usize) -> Result<Vec<CallRecord>> {
        let query = Query::of(keys::run(id))
            .between(keys::CALL, &format!("{}~", keys::CALL))
            .newest_first()
            .limit(limit);
        self.store.table.all(query).await?.into_iter().map(read).collect()
    }

    /// The spaces that the calls of a run have entered so far, or in which they have shown a card.
    pub async fn spaces_shown_in(self, id: RunId) -> Result<Vec<SpaceId>> {
        self.spaces_of(id, |call| call.shows_run_in().collect()).await
    }

    /// The spaces that the calls of a run have entered so far.
    pub async fn spaces_entered(self, id: RunId) -> Result<Vec<SpaceId>> {
        self.spaces_of(id, |call| call.active_space.into_iter().collect()).await
    }

    async fn spaces_of(
        self,
        id: RunId,
        of_call: impl Fn(&CallRecord) -> Vec<SpaceId>,
    ) -> Result<Vec<SpaceId>> {
        let query = Query::of(keys::run(id)).between(keys::CALL, &format!("{}~", keys::CALL));
        let mut spaces = Vec::new();
        for item in self.store.table.all(query).await? {
            let call: CallRecord = read(item)?;
            for space in of_call(&call) {
                if !spaces.contains(&space) {
                    spaces.push(space);
                }
            }
        }
        Ok(spaces)
    }

    /// Stores a finished model answer. The first one comes with the prompt.
    pub async fn store_step(
        self,
        run: &RunRecord,
        step: &StepRecord,
        prompt: Option<&PromptRecord>,
        used: &UsageByModel,
        now: Time,
    ) -> Result<()> {
        let mut writes = Vec::new();
        if let Some(prompt) = prompt {
            let holds = lease_holds(Write::check(keys::run_meta(run.id)), &step.lease)?;
            writes.push(self.store.prompts().store_parts(run, prompt, holds, now).await?);
        }
        let expires_at = self.store.work_expiry(now);
        let first_token = step.first_token_at.filter(|_| step.index == 0);
        let also = if first_token.is_some() { "#firstTokenAt = :firstToken, " } else { "" };
        let hinted = if step.has_hints() { ADD_HINTED } else { "" };
        let revised = if step.config_revision.is_some() { SET_REVISION } else { "" };
        let also =
            format!("{also}{hinted}{revised}#stepCount = :steps, #usage = :usage, #used = :used, ");
        let mut meta = worker_keeps(run.id, &step.lease, &also)?
            .value(":steps", step.index + 1)?
            .value(":usage", used.total())?
            .value(":used", used)?;
        if let Some(at) = first_token {
            meta = meta.value(":firstToken", at)?;
        }
        if step.has_hints() {
            meta = hinted_values(meta, &[step.index])?;
        }
        if let Some(revision) = step.config_revision {
            meta = meta.value(":revision", revision)?;
        }
        let step_item = StepRecord { expires_at, ..step.clone() };
        writes.push(meta);
        writes.push(Write::put(keys::step(run.id, step.index), &step_item)?.if_absent());
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(()),
            Err(WriteError::Other(error)) => Err(error),
            Err(WriteError::Refused(refusal)) => {
                match refusal.existing::<StepRecord>(&keys::step(run.id, step.index)) {
                    // The first try took effect and its answer was lost.
                    Some(stored) if stored.lease == step.lease => Ok(()),
                    _ => Err(Error::LeaseLost),
                }
            }
        }
    }

    /// Stores what the model of a canceled run had written of an answer. Returns whether this was
    /// the run's last worker.
    pub async fn store_partial(
        self,
        run: RunId,
        claims: u32,
        step: &StepRecord,
        now: Time,
    ) -> Result<bool> {
        let step_item = StepRecord { expires_at: self.store.work_expiry(now), ..step.clone() };
        let stopped = if step.has_hints() {
            let add = format!("SET {}", ADD_HINTED.trim_end_matches(", "));
            let add = Write::update(keys::run_meta(run), add);
            hinted_values(if_stopped(add, claims)?, &[step.index])?
        } else {
            was_stopped(run, claims)?
        };
        let writes = [stopped, Write::put(keys::step(run, step.index), &step_item)?.if_absent()];
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(true),
            Err(WriteError::Other(error)) => Err(error),
            Err(WriteError::Refused(refusal)) => Ok(!refusal.names(&keys::run_meta(run))),
        }
    }

    /// Stores a finished call that wrote nothing else, or an external call that begins. If the call
    /// has an open card, that gets the result too, and names the pictures of the call: they stay as
    /// long as the space. If the call has used a model, `spent` is what the run's models have used
    /// with that.
    pub async fn store_call(
        self,
        run: &RunRecord,
        lease: &LeaseId,
        call: &CallRecord,
        spent: Option<&UsageByModel>,
        now: Time,
    ) -> Result<()> {
        let mut call = CallRecord { expires_at: self.store.work_expiry(now), ..call.clone() };
        let meta = call_counts(run, lease, &call, spent)?;
        let mut card = call.card.filter(|_| call.status != CallStatus::Pending);
        loop {
            let mut writes = vec![meta.clone(), call.write(run.id)?];
            if let Some(card) = &card {
                writes.extend(card.returned(&call, now)?);
            }
            let refusal = match self.store.table.transact(&writes).await {
                Ok(()) => return Ok(()),
                Err(WriteError::Other(error)) => return Err(error),
                Err(WriteError::Refused(refusal)) => refusal,
            };
            if refusal.names(&keys::run_meta(run.id)) {
                return Err(Error::LeaseLost);
            }
            if refusal.names(&call.key(run.id)) {
                // While the lease holds, only this worker makes this call. So the first try took
                // effect and its answer was lost.
                let stored: Option<CallRecord> = refusal.existing(&call.key(run.id));
                let is_ours = stored.is_some_and(|stored| {
                    stored.call_id == call.call_id && stored.status == call.status
                });
                return if is_ours { Ok(()) } else { Err(Error::LeaseLost) };
            }
            // A picture may be deleted before a message names it.
            let is_gone =
                |it: &CallFile| refusal.names(&keys::file(it.space_id, it.file.part.attachment_id));
            let mut gone = call.files.iter_mut().filter(|it| is_gone(it)).peekable();
            if gone.peek().is_none() {
                // The card was deleted with its space. The call is stored without it.
                card = None;
            }
            gone.for_each(|it| it.file.part.deleted = true);
        }
    }
}

/// The write of a run's state with which a worker stores a call.
fn call_counts(
    run: &RunRecord,
    lease: &LeaseId,
    call: &CallRecord,
    spent: Option<&UsageByModel>,
) -> Result<Write> {
    let is_shown = call.card.is_some();
    // An approved call is not counted as open. An external one is while it is under way.
    let counts = match (call.uses_approval(), call.status) {
        (true, CallStatus::Pending) if is_shown => "#openCalls = #openCalls + :one, ",
        (false, status) if is_shown && status != CallStatus::Pending => {
            "#openCalls = #openCalls - :one, "
        }
        _ => "",
    };
    let pays = if spent.is_some() { "#usage = :usage, #used = :used, " } else { "" };
    let enters = if call.active_space.is_some() { "#activeSpaceId = :space, " } else { "" };
    let mut meta = worker_keeps(run.id, lease, &format!("{counts}{pays}{enters}"))?;
    if let Some(space) = call.active_space {
        meta = meta.value(":space", space)?;
    }
    if !counts.is_empty() {
        meta = meta.value(":one", 1)?;
    }
    match spent {
        Some(spent) => meta.value(":usage", spent.total())?.value(":used", spent),
        None => Ok(meta),
    }
}
