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
    runs::{EndReason, RunStatus},
    steps::CallStatus,
    tools::AnswerBy,
};

use crate::{
    Error, Forms, Result,
    runs::{
        call_approval::{CallApproval, FormApproval},
        cards::{CardAnswer, OpenCall},
        steps::{AnswerOrigin, CallFile, CallRecord},
    },
    shared::message::MessageFile,
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
    /// The rule and the input of a call that people decide. `None` if this is a form of a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<FormApproval>,
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
    /// The files that the answer names.
    pub files: Vec<MessageFile>,
    /// The approval of the call after this, if people decide it and this is their decision.
    pub approval: Option<CallApproval>,
    /// The reason with which the call ends its run, if it does.
    pub ends: Option<EndReason>,
    /// Made before the first try: the token that detects a lost answer.
    pub token: LeaseId,
}

impl Resolution {
    /// The result of a call that nobody has answered.
    pub fn unanswered(status: CallStatus, output: Value, token: LeaseId) -> Self {
        Self {
            status,
            output,
            by: None,
            label: String::new(),
            files: Vec::new(),
            approval: None,
            ends: None,
            token,
        }
    }
}

/// The outcome of resolving a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolved {
    /// The call was open and now has this result.
    Now,
    /// The call had a result before, or its approval has changed since it was read.
    Before(Box<CallRecord>),
    /// The run has ended. For a cancellation: the run has not ended.
    RunOver,
    /// This file, by its position, can't be named any more.
    FileGone(usize),
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

    /// The forms of a run that have no result yet, without calls that people have approved.
    pub async fn open(self, run: RunId) -> Result<Vec<FormRecord>> {
        let forms = self.with_calls(run).await?;
        let open = forms.into_iter().filter(|(_, call)| call.waits_for_people());
        Ok(open.map(|(form, _)| form).collect())
    }

    /// The forms of a run with their calls.
    pub async fn with_calls(self, run: RunId) -> Result<Vec<(FormRecord, CallRecord)>> {
        let items = self.store.table.all(Query::of(keys::run(run)).begins_with(keys::FORM)).await?;
        let forms = items.into_iter().map(read).collect::<Result<Vec<FormRecord>>>()?;
        let item_keys: Vec<_> =
            forms.iter().map(|form| keys::call(run, form.call.step, form.call.index)).collect();
        let mut calls = self.store.table.get_all(&item_keys).await?;
        let mut found = Vec::with_capacity(forms.len());
        for (form, item_key) in forms.into_iter().zip(&item_keys) {
            let call: Option<CallRecord> = calls.take(item_key)?;
            found.extend(call.map(|call| (form, call)));
        }
        Ok(found)
    }

    /// Gives an open call its only result. The run is due then, unless it has ended.
    pub async fn resolve(
        self,
        open: &OpenCall,
        resolution: &Resolution,
        now: Time,
    ) -> Result<Resolved> {
        let mut card = if open.asks {
            let Resolution { status, output, by, files, approval, .. } = resolution;
            let answer = CardAnswer {
                status: *status,
                output,
                by: by.as_ref(),
                files,
                approval: approval.as_ref().map(CallApproval::shown),
            };
            open.card.answer(&answer, now)?
        } else {
            open.card.finish(resolution.status, &resolution.output, now)?
        };
        let space = open.card.space;
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
            let is_gone =
                |file: &MessageFile| refusal.names(&keys::file(space, file.part.attachment_id));
            if let Some(index) = resolution.files.iter().position(is_gone) {
                return Ok(Resolved::FileGone(index));
            }
            // The card was deleted with its space. The result is stored without it.
        }
    }

    /// Takes an ended run off the due index if it has no open call, and no call that people may
    /// have approved. Returns whether it has none.
    pub async fn calls_closed(self, run: RunId) -> Result<bool> {
        self.off_due_index(run, " AND attribute_not_exists(#hasApproved)").await
    }

    /// Takes an ended run off the due index if it has no open call. Its approved calls are closed.
    /// Returns whether it has none.
    pub async fn all_calls_closed(self, run: RunId) -> Result<bool> {
        self.off_due_index(run, "").await
    }

    async fn off_due_index(self, run: RunId, also: &str) -> Result<bool> {
        let expression = "REMOVE #due, #dueAt, #dueCount, #hasApproved";
        let write = Write::update(keys::run_meta(run), expression)
            .when(&format!("#openCalls = :none AND attribute_exists(#finishedAt){also}"));
        match self.store.table.write(write.value(":none", 0)?).await {
            Ok(_) => Ok(true),
            Err(WriteError::Refused(_)) => Ok(false),
            Err(WriteError::Other(error)) => Err(error),
        }
    }
}

fn call_write(open: &OpenCall, resolution: &Resolution, now: Time) -> Result<Write> {
    let Resolution { status, output, by, label, files, approval, ends, token } = resolution;
    let answered = AnswerOrigin { by: label.clone(), sender: by.clone(), token: token.clone() };
    let set = "SET #status = :status, #output = :output, #finishedAt = :now, #answered = :answered";
    let also = [
        (", #files = :files", !files.is_empty()),
        (", #approval = :approval", approval.is_some()),
        (", #ends = :ends", ends.is_some()),
    ];
    let also: String = also.into_iter().filter(|(_, is_set)| *is_set).map(|(set, _)| set).collect();
    let write =
        Write::update(keys::call(open.run_id, open.step, open.index), format!("{set}{also}"));
    let write = match approval {
        Some(approval) => approval.replaces(write)?,
        None => as_decided(open, write)?,
    };
    let write = if let Some(ends) = ends { write.value(":ends", ends)? } else { write };
    let write = if files.is_empty() {
        write
    } else {
        let named = files.iter().map(|file| CallFile {
            space_id: open.card.space,
            label: String::new(),
            file: file.clone(),
        });
        write.value(":files", named.collect::<Vec<_>>())?
    };
    write
        .value(":status", status)?
        .value(":output", output.to_string())?
        .value(":now", now)?
        .value(":answered", answered)
}

/// Adds the condition that the call waits, and that people have decided it as far as `open` says. A
/// call that is approved is made, so only the end of its run may close it.
fn as_decided(open: &OpenCall, write: Write) -> Result<Write> {
    let write = write.when("#status = :pending").value(":pending", CallStatus::Pending)?;
    match open.approval.filter(|_| open.asks) {
        Some(state) => write.when("#approval.#state = :state").value(":state", state),
        None => Ok(write),
    }
}

fn run_write(open: &OpenCall, resolution: &Resolution, now: Time) -> Result<Write> {
    if resolution.status == CallStatus::Canceled {
        let less = if open.is_uncounted() { "" } else { "#openCalls = #openCalls - :one, " };
        let expression = format!("SET {less}#kept = #kept + :one");
        let less = Write::update(keys::run_meta(open.run_id), expression)
            .when("attribute_exists(#finishedAt)");
        return less.value(":one", 1);
    }
    due_write(open.run_id, "", now)
}

/// The write of a run that has one open call less, and is due. `also` are further updates.
pub(super) fn due_write(run: RunId, also: &str, now: Time) -> Result<Write> {
    // The sweep may have given up the run while it waited, so this sets `due` too.
    let expression = format!(
        "SET {also}#openCalls = #openCalls - :one, #kept = #kept + :one, #due = :part, \
         #dueAt = :now REMOVE #dueCount"
    );
    Write::update(keys::run_meta(run), expression)
        .when("#status IN (:running, :waiting)")
        .value(":part", keys::due(run.part_of(keys::DUE_PARTS)))?
        .value(":one", 1)?
        .value(":now", now)?
        .value(":running", RunStatus::Running)?
        .value(":waiting", RunStatus::WaitingTool)
}
