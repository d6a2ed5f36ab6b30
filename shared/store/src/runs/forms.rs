//! Forms: calls that people answer. The question of a form never changes (`FORM#`). Its status is
//! in its call (`CALL#`), and its card shows that status.
//!
//! One transaction stores a result: in the call, which accepts only one result, in the run, which
//! has one open call less and is due now, and in the card. So after an answer is accepted, the run
//! resumes with it even if the queue loses the job.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use smartspace_domain::{
    Time,
    ids::{CallId, LeaseId, RunId},
    messages::Sender,
    runs::RunStatus,
    steps::CallStatus,
    tools::AnswerBy,
};

use crate::{
    Error, Forms, Result,
    runs::{
        cards::OpenCall,
        steps::{AnswerOrigin, CallRecord},
    },
    table::{Query, WriteError, keys, read, write::Write},
};

/// A form, as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FormRecord {
    pub call: OpenCall,
    /// The JSON Schema of an answer. Null if any answer fits.
    #[serde(with = "crate::table::json_text")]
    pub result_schema: Value,
    /// The people who may answer.
    #[serde(deserialize_with = "AnswerBy::read_stored")]
    pub answer_by: AnswerBy,
    /// When the form expires.
    pub until: Time,
    /// When its item expires, in seconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
}

/// The result of an open call.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolution {
    /// Completed, expired or canceled.
    pub status: CallStatus,
    /// The output that the model gets.
    pub output: Value,
    /// The entity that answered. `None` also if the operator answered.
    pub by: Option<Sender>,
    /// The label of the caller who answered. Empty if nobody answered.
    pub label: String,
    /// Made before the first try: the token that detects a lost answer.
    pub token: LeaseId,
}

/// The outcome of resolving a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolved {
    /// The call was open and now has this result.
    Now,
    /// The call had a result before.
    Before(Box<CallRecord>),
    /// The run has ended. For a cancellation: the run has not ended.
    RunOver,
}

impl Forms<'_> {
    /// A form, or `None` if it does not exist or has expired.
    pub async fn get(self, run: RunId, call: CallId) -> Result<Option<FormRecord>> {
        self.store.table.get(&keys::form(run, call)).await
    }

    /// The call of a form, with its status.
    pub async fn call(self, form: &FormRecord) -> Result<Option<CallRecord>> {
        self.store.table.get(&keys::call(form.call.run_id, form.call.step, form.call.index)).await
    }

    /// The forms of a run that have no result yet.
    pub async fn open(self, run: RunId) -> Result<Vec<FormRecord>> {
        let items = self.store.table.all(Query::of(keys::run(run)).begins_with(keys::FORM)).await?;
        let forms = items.into_iter().map(read).collect::<Result<Vec<FormRecord>>>()?;
        let item_keys: Vec<_> =
            forms.iter().map(|form| keys::call(run, form.call.step, form.call.index)).collect();
        let mut calls = self.store.table.get_all(&item_keys).await?;
        let mut open = Vec::with_capacity(forms.len());
        for (form, item_key) in forms.into_iter().zip(&item_keys) {
            let call: Option<CallRecord> = calls.take(item_key)?;
            open.extend(call.filter(|call| call.status == CallStatus::Pending).map(|_| form));
        }
        Ok(open)
    }

    /// Gives an open call its only result. The run is due then, unless it has ended.
    pub async fn resolve(
        self,
        open: &OpenCall,
        resolution: &Resolution,
        now: Time,
    ) -> Result<Resolved> {
        let Resolution { status, output, by, .. } = resolution;
        let mut card = if open.asks {
            open.card.answer(*status, output, by.as_ref(), now)?
        } else {
            open.card.finish(*status, output, now)?
        };
        loop {
            let mut writes =
                vec![call_write(open, resolution, now)?, run_write(open, resolution, now)?];
            writes.append(&mut card);
            let refusal = match self.store.table.transact(&writes).await {
                Ok(()) => return Ok(Resolved::Now),
                Err(WriteError::Other(error)) => return Err(error),
                Err(WriteError::Refused(refusal)) => refusal,
            };
            let item_key = keys::call(open.run_id, open.step, open.index);
            if refusal.names(&item_key) {
                let call: CallRecord = refusal
                    .existing(&item_key)
                    .ok_or_else(|| Error::NotFound("the call is gone".into()))?;
                let is_ours =
                    call.answer.as_ref().is_some_and(|answer| answer.token == resolution.token);
                return Ok(if is_ours { Resolved::Now } else { Resolved::Before(Box::new(call)) });
            }
            if refusal.names(&keys::run_meta(open.run_id)) {
                return Ok(Resolved::RunOver);
            }
            // The card was deleted with its space. The result is stored without it.
        }
    }

    /// Takes an ended run off the due index if it has no open call. Returns whether it has none.
    pub async fn calls_closed(self, run: RunId) -> Result<bool> {
        let write = Write::update(keys::run_meta(run), "REMOVE #due, #dueAt, #dueCount")
            .when("#openCalls = :none AND attribute_exists(#finishedAt)");
        match self.store.table.write(write.value(":none", 0)?).await {
            Ok(_) => Ok(true),
            Err(WriteError::Refused(_)) => Ok(false),
            Err(WriteError::Other(error)) => Err(error),
        }
    }
}

fn call_write(open: &OpenCall, resolution: &Resolution, now: Time) -> Result<Write> {
    let Resolution { status, output, by, label, token } = resolution;
    let answered = AnswerOrigin { by: label.clone(), sender: by.clone(), token: token.clone() };
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
    let item_key = keys::run_meta(open.run_id);
    if resolution.status == CallStatus::Canceled {
        let less =
            Write::update(item_key, "SET #openCalls = #openCalls - :one, #kept = #kept + :one")
                .when("attribute_exists(#finishedAt)");
        return less.value(":one", 1);
    }
    // The sweep may have given up the run while it waited, so this sets `due` too.
    let expression = "SET #openCalls = #openCalls - :one, #kept = #kept + :one, #due = :part, \
                      #dueAt = :now REMOVE #dueCount";
    Write::update(item_key, expression)
        .when("#status IN (:running, :waiting)")
        .value(":part", keys::due(open.run_id.part_of(keys::DUE_PARTS)))?
        .value(":one", 1)?
        .value(":now", now)?
        .value(":running", RunStatus::Running)?
        .value(":waiting", RunStatus::WaitingTool)
}
