//! Forms: calls that people answer. What a form asks never changes (`FORM#`); how it stands is its call (`CALL#`), and its card shows that.
//!
//! A result is one transaction: the call, which takes one result only; the run's count of open forms, and that it is due now; the card. So
//! whoever is told that an answer was taken knows that the run goes on with it, whatever becomes of the queue.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use smartspace_domain::{
    Time,
    ids::{CallId, EntityId, LeaseId, RunId},
    runs::RunStatus,
    steps::CallStatus,
    tools::AnswerBy,
};

use crate::{
    Error, Result, Store,
    cards::OpenCall,
    keys,
    steps::{Answered, CallRecord},
    table::{Query, WriteError, read},
    write::Write,
};

/// A form, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FormRecord {
    /// The call that asks.
    pub call: OpenCall,
    /// What an answer must look like; anything where it is null.
    #[serde(with = "crate::json_text")]
    pub result_schema: Value,
    /// Who may answer.
    pub answer_by: AnswerBy,
    /// Until when.
    pub until: Time,
    /// When it is dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
}

/// What becomes of an open call.
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

/// What came of resolving a call.
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
        self.table.get(&keys::call(form.call.run_id, form.call.step, form.call.index)).await
    }

    /// The forms of a run that have no result yet.
    pub async fn open_forms(&self, run: RunId) -> Result<Vec<FormRecord>> {
        let items = self.table.all(Query::of(keys::run(run)).begins_with(keys::FORM)).await?;
        let forms = items.into_iter().map(read).collect::<Result<Vec<FormRecord>>>()?;
        let places: Vec<_> = forms.iter().map(|form| keys::call(run, form.call.step, form.call.index)).collect();
        let mut calls = self.table.get_all(&places).await?;
        let mut open = Vec::with_capacity(forms.len());
        for (form, place) in forms.into_iter().zip(&places) {
            let call: Option<CallRecord> = calls.take(place)?;
            open.extend(call.filter(|call| call.status == CallStatus::Pending).map(|_| form));
        }
        Ok(open)
    }

    /// Gives an open call its one result. The run is due then, unless it has ended.
    pub async fn resolve(&self, open: &OpenCall, resolution: &Resolution, now: Time) -> Result<Resolved> {
        let Resolution { status, output, by, .. } = resolution;
        let mut card = if open.asks { open.card.answer(*status, output, *by, now)? } else { open.card.finish(*status, output, now)? };
        loop {
            let mut writes = vec![call_write(open, resolution, now)?, run_write(open, resolution, now)?];
            writes.append(&mut card);
            let refusal = match self.table.transact(&writes).await {
                Ok(()) => return Ok(Resolved::Now),
                Err(WriteError::Other(error)) => return Err(error),
                Err(WriteError::Refused(refusal)) => refusal,
            };
            let place = keys::call(open.run_id, open.step, open.index);
            if refusal.names(&place) {
                let call: CallRecord = refusal.there(&place).ok_or_else(|| Error::NotFound("the call is gone".into()))?;
                let is_ours = call.answered.as_ref().is_some_and(|answered| answered.token == resolution.token);
                return Ok(if is_ours { Resolved::Now } else { Resolved::Before(Box::new(call)) });
            }
            if refusal.names(&keys::run_meta(open.run_id)) {
                return Ok(Resolved::RunOver);
            }
            // The card went with its space: the run goes on without it.
        }
    }

    /// Ends the duty to come back to an ended run none of whose calls is open. Whether that is so.
    pub async fn calls_closed(&self, run: RunId) -> Result<bool> {
        let write = Write::update(keys::run_meta(run), "REMOVE #due, #dueAt, #dueCount")
            .when("#openCalls = :none AND attribute_exists(#finishedAt)");
        match self.table.write(write.value(":none", 0)?).await {
            Ok(_) => Ok(true),
            Err(WriteError::Refused(_)) => Ok(false),
            Err(WriteError::Other(error)) => Err(error),
        }
    }
}

fn call_write(open: &OpenCall, resolution: &Resolution, now: Time) -> Result<Write> {
    let Resolution { status, output, label, token, .. } = resolution;
    let answered = Answered { by: label.clone(), token: token.clone() };
    Write::update(
        keys::call(open.run_id, open.step, open.index),
        "SET #status = :status, #output = :output, #finishedAt = :now, #answered = :answered",
    )
    .when("#status = :pending")
    .value(":pending", CallStatus::Pending)?
    .value(":status", status)?
    .value(":output", output.to_string())?
    .value(":now", now)?
    .value(":answered", answered)
}

fn run_write(open: &OpenCall, resolution: &Resolution, now: Time) -> Result<Write> {
    let place = keys::run_meta(open.run_id);
    if resolution.status == CallStatus::Canceled {
        let less = Write::update(place, "SET #openCalls = #openCalls - :one, #kept = #kept + :one").when("attribute_exists(#finishedAt)");
        return less.value(":one", 1);
    }
    // It may have been given up by the sweep while it waited.
    Write::update(place, "SET #openCalls = #openCalls - :one, #kept = #kept + :one, #due = :part, #dueAt = :now REMOVE #dueCount")
        .when("#status IN (:running, :waiting)")
        .value(":part", keys::due(open.run_id.part_of(keys::DUE_PARTS)))?
        .value(":one", 1)?
        .value(":now", now)?
        .value(":running", RunStatus::Running)?
        .value(":waiting", RunStatus::WaitingTool)
}
