//! Cards whose call has no result yet: forms and external calls. The transaction that stores the
//! result of a call also updates its card.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use smartspace_domain::{
    Time,
    approvals::{Approval, ApprovalState},
    ids::{CallId, LeaseId, RunId},
    messages::{Message, Sender},
    steps::CallStatus,
};

pub use crate::runs::card_ref::CardRef;
use crate::{
    Calls, Result,
    attachments::naming,
    runs::{
        RunRecord,
        steps::{CallRecord, lease_holds},
    },
    shared::message::{CutJson, MessageFile, Overflow},
    table::{Query, WriteError, keys, read, write::Write},
};

/// A call with a card that has no result yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenCall {
    pub run_id: RunId,
    pub call_id: CallId,
    /// The step that made it.
    pub step: u32,
    /// Its position in the step.
    pub index: u32,
    pub card: CardRef,
    /// Whether it is a form.
    pub asks: bool,
    /// How far people have decided it, if they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalState>,
    /// Whether it is an external call that waits for an input of people.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaits_input: bool,
}

impl OpenCall {
    /// The call of a record, if it has a card and no result.
    pub fn of(run_id: RunId, call: &CallRecord) -> Option<Self> {
        let card = call.card.filter(|_| call.status == CallStatus::Pending)?;
        let CallRecord { call_id, step, index, .. } = *call;
        let approval = call.approval.as_ref().map(|approval| approval.state);
        let asks = !call.is_external;
        let awaits_input = call.awaits.is_some();
        Some(Self { run_id, call_id, step, index, card, asks, approval, awaits_input })
    }

    /// Whether its run does not count it as open: people have approved it and it has not begun, or
    /// it waits for an input, whose form is counted.
    pub(crate) fn is_uncounted(&self) -> bool {
        self.awaits_input || self.asks && self.approval == Some(ApprovalState::Approved)
    }
}

/// The end of an update expression that takes a card off the index of open cards.
pub(crate) const NO_LONGER_OPEN: &str = "REMOVE #g2pk, #g2sk";

/// The result of a form, as its card shows it.
pub(crate) struct CardAnswer<'a> {
    pub(crate) status: CallStatus,
    pub(crate) output: &'a Value,
    pub(crate) by: Option<&'a Sender>,
    pub(crate) files: &'a [MessageFile],
    /// The approvals, if the result is a decision of people.
    pub(crate) approval: Option<Approval>,
}

impl CardRef {
    /// Writes how an external call has ended that returned nothing.
    pub(crate) fn finish(
        &self,
        status: CallStatus,
        output: &Value,
        now: Time,
    ) -> Result<Vec<Write>> {
        self.finish_with("", status, output, now)
    }

    /// Writes the result of an external call of an agent.
    pub(crate) fn returned(&self, call: &CallRecord, now: Time) -> Result<Vec<Write>> {
        let files: Vec<_> = call.files.iter().filter(|it| it.space_id == self.space).collect();
        if files.is_empty() {
            return self.finish(call.status, &call.output, now);
        }
        let mut writes = self.finish_with(", #files = :files", call.status, &call.output, now)?;
        let files: Vec<_> = files.into_iter().map(|it| &it.file).collect();
        let card = writes.remove(0).value(":files", &files)?;
        writes.insert(0, card);
        let kept = files.iter().filter(|it| !it.part.deleted).map(|it| it.part.attachment_id);
        writes.extend(naming(self.space, self.seq, kept)?);
        Ok(writes)
    }

    /// Writes the result of a form, the entity that answered, and the files of the answer.
    pub(crate) fn answer(&self, answer: &CardAnswer<'_>, now: Time) -> Result<Vec<Write>> {
        let CardAnswer { status, output, by, files, approval } = answer;
        let mut also = ", #card.#asks.#resolvedBy = :by, #card.#asks.#resolvedName = :name, \
                        #card.#asks.#resolvedByGuest = :guest"
            .to_owned();
        if !files.is_empty() {
            also.push_str(", #files = :files");
        }
        if approval.is_some() {
            also.push_str(", #card.#asks.#approval = :approval");
        }
        let mut writes = self.finish_with(&also, *status, output, now)?;
        let mut card = writes
            .remove(0)
            .value(":by", by.map(|sender| sender.id))?
            .value(":name", by.map(|sender| &sender.name))?
            .value(":guest", by.is_some_and(|sender| sender.guest))?;
        if let Some(approval) = approval {
            card = card.value(":approval", approval)?;
        }
        if !files.is_empty() {
            card = card.value(":files", files)?;
            let ids = files.iter().map(|file| file.part.attachment_id);
            writes.extend(naming(self.space, self.seq, ids)?);
        }
        writes.insert(0, card);
        Ok(writes)
    }

    fn finish_with(
        &self,
        also: &str,
        status: CallStatus,
        output: &Value,
        now: Time,
    ) -> Result<Vec<Write>> {
        let (output, whole) = CutJson::of(output);
        let expression = format!(
            "SET #card.#status = :status, #card.#output = :output{also}, #text = :none, \
             #rev = #rev + :one, #updatedAt = :now {NO_LONGER_OPEN}"
        );
        let card = Write::update(self.message(), expression)
            .value(":status", shown(status))?
            .value(":output", output)?
            .value(":none", "")?
            .value(":one", 1)?
            .value(":now", now)?;
        let item_key = self.overflow();
        let rest = match whole {
            None => None,
            Some(output) if self.is_apart => {
                Some(Write::update(item_key, "SET #output = :output").value(":output", output)?)
            }
            Some(output) => {
                let overflow = Overflow { output: Some(output), ..Overflow::default() };
                Some(Write::fill(item_key, &overflow, &[])?)
            }
        };
        Ok([card].into_iter().chain(rest).collect())
    }

    pub(super) fn message(&self) -> keys::Key {
        keys::numbered(self.space, keys::MSG, self.seq)
    }

    /// The item of what is too long for the message.
    pub(super) fn overflow(&self) -> keys::Key {
        keys::numbered(self.space, keys::TEXT, self.seq)
    }
}

/// The status that a card shows. Cards have no status for an unknown outcome, but their output says
/// that it is unknown.
pub(crate) fn shown(status: CallStatus) -> CallStatus {
    if status == CallStatus::Unknown { CallStatus::Failed } else { status }
}

impl Calls<'_> {
    /// The calls of a run that have a card and no result yet.
    pub async fn open(self, run: RunId) -> Result<Vec<OpenCall>> {
        let items = self.store.table.all(Query::of(keys::run(run)).begins_with(keys::CALL)).await?;
        let calls = items.into_iter().map(read).collect::<Result<Vec<CallRecord>>>()?;
        Ok(calls.iter().filter_map(|call| OpenCall::of(run, call)).collect())
    }

    /// The message of a card, or `None` if its space was deleted.
    pub async fn card(self, card: &CardRef) -> Result<Option<Message>> {
        let Some(record) = self.store.messages().record(card.space, card.seq).await? else {
            return Ok(None);
        };
        Ok(self.store.messages().with_long_texts(card.space, vec![record]).await?.pop())
    }

    /// Shows the progress of a call on its open card. Returns false if the card shows that text
    /// already or is not open, or if the worker has lost its lease.
    pub async fn show_progress(
        self,
        run: &RunRecord,
        lease: &LeaseId,
        card: &CardRef,
        text: &str,
        now: Time,
    ) -> Result<bool> {
        let holds = lease_holds(Write::check(keys::run_meta(run.id)), lease)?;
        let shows = Write::update(
            card.message(),
            "SET #text = :text, #rev = #rev + :one, #updatedAt = :now",
        )
        .when("#card.#status = :pending AND #text <> :text")
        .value(":text", text)?
        .value(":one", 1)?
        .value(":now", now)?
        .value(":pending", CallStatus::Pending)?;
        match self.store.table.transact(&[holds, shows]).await {
            Ok(()) => Ok(true),
            Err(WriteError::Refused(_)) => Ok(false),
            Err(WriteError::Other(error)) => Err(error),
        }
    }
}
