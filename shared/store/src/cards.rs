//! Cards whose call has no result yet: forms, and calls that reach outside. What finishes the call finishes its card, in one transaction.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use smartspace_domain::{
    Time,
    ids::{CallId, EntityId, LeaseId, RunId, SpaceId},
    messages::Message,
    steps::CallStatus,
};

use crate::{
    Result, Store, keys,
    messages::{Apart, CutJson},
    runs::RunRecord,
    steps::{CallRecord, lease_holds},
    table::{Query, WriteError, read},
    write::Write,
};

/// Where a card is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CardPlace {
    /// The space that shows it.
    pub space: SpaceId,
    /// Its number there.
    pub seq: u64,
    /// It has a `TEXT#`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_apart: bool,
}

/// A call that is shown and has no result yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenCall {
    /// Whose.
    pub run_id: RunId,
    /// The call.
    pub call_id: CallId,
    /// Of which step.
    pub step: u32,
    /// Its place in it.
    pub index: u32,
    /// Its card.
    pub card: CardPlace,
    /// It asks people.
    pub asks: bool,
}

impl OpenCall {
    /// The call of a record, where it is shown and open.
    pub fn of(run_id: RunId, call: &CallRecord) -> Option<Self> {
        let card = call.card.filter(|_| call.status == CallStatus::Pending)?;
        let CallRecord { call_id, step, index, .. } = *call;
        Some(Self { run_id, call_id, step, index, card, asks: !call.outside })
    }
}

impl CardPlace {
    /// Writes what came of a call that asks nobody.
    pub(crate) fn finish(&self, status: CallStatus, output: &Value, now: Time) -> Result<Vec<Write>> {
        self.finish_with("", status, output, now)
    }

    /// Writes what came of a form, and who answered.
    pub(crate) fn answer(&self, status: CallStatus, output: &Value, by: Option<EntityId>, now: Time) -> Result<Vec<Write>> {
        let mut writes = self.finish_with(", #card.#asks.#resolvedBy = :by", status, output, now)?;
        let card = writes.remove(0).value(":by", by)?;
        writes.insert(0, card);
        Ok(writes)
    }

    fn finish_with(&self, also: &str, status: CallStatus, output: &Value, now: Time) -> Result<Vec<Write>> {
        let (output, whole) = CutJson::of(output);
        let expression =
            format!("SET #card.#status = :status, #card.#output = :output{also}, #text = :none, #rev = #rev + :one, #updatedAt = :now");
        let card = Write::update(self.message(), expression)
            .value(":status", shown(status))?
            .value(":output", output)?
            .value(":none", "")?
            .value(":one", 1)?
            .value(":now", now)?;
        let place = keys::numbered(self.space, keys::TEXT, self.seq);
        let rest = match whole {
            None => None,
            Some(output) if self.is_apart => Some(Write::update(place, "SET #output = :output").value(":output", output)?),
            Some(output) => Some(Write::put(place, &Apart { output: Some(output), ..Apart::default() })?),
        };
        Ok([card].into_iter().chain(rest).collect())
    }

    fn message(&self) -> keys::Key {
        keys::numbered(self.space, keys::MSG, self.seq)
    }
}

/// A card has no word for an unknown outcome: its output tells.
pub(crate) fn shown(status: CallStatus) -> CallStatus {
    if status == CallStatus::Unknown { CallStatus::Failed } else { status }
}

impl Store {
    /// The calls of a run that are shown and have no result yet.
    pub async fn open_calls(&self, run: RunId) -> Result<Vec<OpenCall>> {
        let items = self.table.all(Query::of(keys::run(run)).begins_with(keys::CALL)).await?;
        let calls = items.into_iter().map(read).collect::<Result<Vec<CallRecord>>>()?;
        Ok(calls.iter().filter_map(|call| OpenCall::of(run, call)).collect())
    }

    /// A card as it is now, whole; none where its space is gone.
    pub async fn card(&self, place: &CardPlace) -> Result<Option<Message>> {
        let Some(record) = self.message_record(place.space, place.seq).await? else { return Ok(None) };
        Ok(self.whole(place.space, vec![record]).await?.pop())
    }

    /// Shows on an open card how far its call is. False where it shows that already, is not open, or not the worker's any more.
    pub async fn show_progress(&self, run: &RunRecord, lease: &LeaseId, card: &CardPlace, text: &str, now: Time) -> Result<bool> {
        let holds = lease_holds(Write::check(keys::run_meta(run.id)), lease)?;
        let shows = Write::update(card.message(), "SET #text = :text, #rev = #rev + :one, #updatedAt = :now")
            .when("#card.#status = :pending AND #text <> :text")
            .value(":text", text)?
            .value(":one", 1)?
            .value(":now", now)?
            .value(":pending", CallStatus::Pending)?;
        match self.table.transact(&[holds, shows]).await {
            Ok(()) => Ok(true),
            Err(WriteError::Refused(_)) => Ok(false),
            Err(WriteError::Other(error)) => Err(error),
        }
    }
}
