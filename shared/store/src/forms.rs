//! Forms: calls that people answer. What a form asks never changes (`FORM#`); how it stands is its call (`CALL#`), and its card shows that.
//!
//! A result is one transaction: the call, which takes one result only; the run's count of open forms, and that it is due now; the card. So
//! whoever is told that an answer was taken knows that the run goes on with it, whatever becomes of the queue.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use smartspace_domain::{
    Time,
    ids::{CallId, EntityId, LeaseId, MessageId, RunId, SpaceId},
    messages::Message,
    runs::RunStatus,
    steps::CallStatus,
    tools::AnswerBy,
};

use crate::{
    Error, Result, Store, keys,
    messages::{Apart, CutJson},
    steps::{Answered, CallRecord},
    table::{Query, WriteError, read},
    write::Write,
};

/// A form, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FormRecord {
    /// Whose.
    pub run_id: RunId,
    /// The call.
    pub call_id: CallId,
    /// Of which step.
    pub step: u32,
    /// Its place in it.
    pub index: u32,
    /// The space that shows it.
    pub space: SpaceId,
    /// Its card's place there.
    pub seq: u64,
    /// Its card.
    pub message_id: MessageId,
    /// What an answer must look like; anything where it is null.
    #[serde(with = "crate::json_text")]
    pub result_schema: Value,
    /// Who may answer.
    pub answer_by: AnswerBy,
    /// Until when.
    pub until: Time,
    /// Its card has a `TEXT#`.
    pub card_is_apart: bool,
    /// When it is dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
}

/// What becomes of an open form.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolution {
    /// Completed, expired or canceled.
    pub status: CallStatus,
    /// What the model is given.
    pub output: Value,
    /// Who answered.
    pub by: Option<EntityId>,
    /// As callers are named; empty where nobody answered.
    pub label: String,
    /// Made before the first try: tells a lost answer.
    pub token: LeaseId,
}

/// What came of resolving a form.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolved {
    /// It was open, and is resolved so.
    Now,
    /// It was resolved before.
    Before(Box<CallRecord>),
    /// Its run has ended, or, for what closes an ended run's forms, has not.
    RunOver,
}

impl Store {
    /// A form; none where there is none, or it was dropped.
    pub async fn form(&self, run: RunId, call: CallId) -> Result<Option<FormRecord>> {
        self.table.get(&keys::form(run, call)).await
    }

    /// How a form stands.
    pub async fn form_call(&self, form: &FormRecord) -> Result<Option<CallRecord>> {
        self.table.get(&keys::call(form.run_id, form.step, form.index)).await
    }

    /// The forms of a run that have no result yet.
    pub async fn open_forms(&self, run: RunId) -> Result<Vec<FormRecord>> {
        let items = self.table.all(Query::of(keys::run(run)).begins_with(keys::FORM)).await?;
        let forms = items.into_iter().map(read).collect::<Result<Vec<FormRecord>>>()?;
        let places: Vec<_> = forms.iter().map(|form| keys::call(run, form.step, form.index)).collect();
        let mut calls = self.table.get_all(&places).await?;
        let mut open = Vec::with_capacity(forms.len());
        for (form, place) in forms.into_iter().zip(&places) {
            let call: Option<CallRecord> = calls.take(place)?;
            open.extend(call.filter(|call| call.status == CallStatus::Pending).map(|_| form));
        }
        Ok(open)
    }

    /// Gives a form its one result. The run is due then, unless it has ended.
    pub async fn resolve(&self, form: &FormRecord, resolution: &Resolution, now: Time) -> Result<Resolved> {
        let mut card = card_writes(form, resolution, now)?;
        loop {
            let mut writes = vec![call_write(form, resolution, now)?, run_write(form, resolution, now)?];
            writes.append(&mut card);
            let olds = match self.table.transact(&writes).await {
                Ok(()) => return Ok(Resolved::Now),
                Err(WriteError::Other(error)) => return Err(error),
                Err(WriteError::Refused(olds)) => olds,
            };
            if let Some(old) = &olds[0] {
                let call: CallRecord = old.read().ok_or_else(|| Error::NotFound("the form is gone".into()))?;
                let is_ours = call.answered.as_ref().is_some_and(|answered| answered.token == resolution.token);
                return Ok(if is_ours { Resolved::Now } else { Resolved::Before(Box::new(call)) });
            }
            if olds[1].is_some() {
                return Ok(Resolved::RunOver);
            }
            if olds[2..].iter().all(Option::is_none) {
                return Err(Error::Internal("a form could not be resolved, and no condition says why".into()));
            }
            // The card went with its space: the run goes on without it.
        }
    }

    /// Ends the duty to come back to an ended run whose forms are closed.
    pub async fn forms_closed(&self, run: RunId) -> Result<()> {
        let write = Write::update(keys::run_meta(run), "REMOVE #due, #dueAt, #dueCount")
            .when("#openCalls = :none AND attribute_exists(#finishedAt)");
        self.table.write_where_it_holds(write.value(":none", 0)?).await
    }

    /// A card as it is now, whole; none where its space is gone.
    pub async fn card(&self, form: &FormRecord) -> Result<Option<Message>> {
        let Some(record) = self.message_record(form.space, form.seq).await? else { return Ok(None) };
        Ok(self.whole(form.space, vec![record]).await?.pop())
    }
}

fn call_write(form: &FormRecord, resolution: &Resolution, now: Time) -> Result<Write> {
    let Resolution { status, output, label, token, .. } = resolution;
    let answered = Answered { by: label.clone(), token: token.clone() };
    Write::update(
        keys::call(form.run_id, form.step, form.index),
        "SET #status = :status, #output = :output, #finishedAt = :now, #answered = :answered",
    )
    .when("#status = :pending")
    .value(":pending", CallStatus::Pending)?
    .value(":status", status)?
    .value(":output", output.to_string())?
    .value(":now", now)?
    .value(":answered", answered)
}

fn run_write(form: &FormRecord, resolution: &Resolution, now: Time) -> Result<Write> {
    let place = keys::run_meta(form.run_id);
    if resolution.status == CallStatus::Canceled {
        let less = Write::update(place, "SET #openCalls = #openCalls - :one, #kept = #kept + :one").when("attribute_exists(#finishedAt)");
        return less.value(":one", 1);
    }
    Write::update(place, "SET #openCalls = #openCalls - :one, #kept = #kept + :one, #dueAt = :now REMOVE #dueCount")
        .when("#status IN (:running, :waiting)")
        .value(":one", 1)?
        .value(":now", now)?
        .value(":running", RunStatus::Running)?
        .value(":waiting", RunStatus::WaitingTool)
}

fn card_writes(form: &FormRecord, resolution: &Resolution, now: Time) -> Result<Vec<Write>> {
    let (output, whole) = CutJson::of(&resolution.output);
    let expression =
        "SET #card.#status = :status, #card.#output = :output, #card.#asks.#resolvedBy = :by, #rev = #rev + :one, #updatedAt = :now";
    let card = Write::update(keys::numbered(form.space, keys::MSG, form.seq), expression)
        .value(":status", resolution.status)?
        .value(":output", output)?
        .value(":by", resolution.by)?
        .value(":one", 1)?
        .value(":now", now)?;
    let place = keys::numbered(form.space, keys::TEXT, form.seq);
    let rest = match whole {
        None => None,
        Some(output) if form.card_is_apart => Some(Write::update(place, "SET #output = :output").value(":output", output)?),
        Some(output) => Some(Write::put(place, &Apart { output: Some(output), ..Apart::default() })?),
    };
    Ok([card].into_iter().chain(rest).collect())
}
