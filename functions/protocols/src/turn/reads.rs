//! What a conversation reads of a space.

use serde::Deserialize;
use smartspace_domain::{
    idempotency::IdempotencyKey, ids::SpaceId, messages::Message, runs::Run, steps::CallStatus,
};

use crate::{
    api_client::{Refusal, Visitor, messages_path},
    narration::{Narration, card_of},
};

/// How many messages a page has.
pub(super) const PAGE: usize = 200;
/// How many runs of the space are read.
const RUNS: u64 = 100;

/// A page of a list.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    pub(crate) next_cursor: Option<String>,
}

/// The key of a client's message: the door's name and the client's id of the message.
pub(crate) fn key_of(door: &str, id: &str) -> Result<IdempotencyKey, Refusal> {
    format!("{door}:{id}").parse().map_err(|_| {
        Refusal::new(422, "/messages: id: expected at most 240 printable ASCII characters")
    })
}

/// The message with this number.
pub(super) async fn message(
    visitor: &Visitor,
    space: SpaceId,
    seq: u64,
) -> Result<Option<Message>, Refusal> {
    let query = [("after", (seq - 1).to_string()), ("limit", "1".to_owned())];
    let mut page: Page<Message> = visitor.get(&messages_path(space), &query).await?;
    Ok(page.items.pop())
}

/// The newest runs that the space triggered, newest first.
pub(crate) async fn runs(visitor: &Visitor, space: SpaceId) -> Result<Vec<Run>, Refusal> {
    let query = [("limit", RUNS.to_string())];
    let page: Page<Run> = visitor.get(&format!("/v1/spaces/{space}/runs"), &query).await?;
    Ok(page.items)
}

/// The runs of the turn that are not among the newest of the space. Runs that are gone have ended.
pub(super) async fn older_runs(
    visitor: &Visitor,
    narration: &mut Narration,
) -> Result<Vec<Run>, Refusal> {
    let mut runs = Vec::new();
    for id in narration.unknown_runs() {
        match visitor.get(&format!("/v1/runs/{id}"), &[]).await {
            Ok(run) => runs.push(run),
            Err(refusal) if refusal.status == 404 => narration.forgets(id),
            Err(refusal) => return Err(refusal),
        }
    }
    Ok(runs)
}

/// The id under which clients know a message: that of its stream, so that the text they saw is the
/// message.
pub(crate) fn id_for_clients(message: &Message) -> String {
    message.stream_id.map_or_else(|| message.id.to_string(), |stream| stream.to_string())
}

/// Whether a message shows a form that waits for an answer.
pub(crate) fn is_open_form(message: &Message) -> bool {
    card_of(message).is_some_and(|card| card.ui.is_some() && card.status == CallStatus::Pending)
}
