//! Reads the messages and runs of a space for a turn, and names messages for clients.

use smartspace_client::{Page, Refusal, Session as ApiSession, messages_path};
use smartspace_domain::{
    idempotency::IdempotencyKey, ids::SpaceId, messages::Message, runs::Run, steps::CallStatus,
};

use crate::turn::{card_of, sequencer::TurnSequencer};

/// How many messages a page has.
pub(super) const PAGE: usize = 200;
/// How many of the newest runs of a space are read.
const RUNS: u64 = 100;

/// The idempotency key of a client's message: the protocol's name and the client's id of it.
pub(crate) fn key_of(protocol: &str, id: &str) -> Result<IdempotencyKey, Refusal> {
    format!("{protocol}:{id}").parse().map_err(|_| {
        Refusal::new(422, "/messages: id: expected at most 240 printable ASCII characters")
    })
}

/// The message with this `seq`.
pub(super) async fn message(
    api: &ApiSession,
    space: SpaceId,
    seq: u64,
) -> Result<Option<Message>, Refusal> {
    let query = [("after", (seq - 1).to_string()), ("limit", "1".to_owned())];
    let mut page: Page<Message> = api.get(&messages_path(space), &query).await?;
    Ok(page.items.pop())
}

/// The newest runs that messages of the space have triggered, newest first.
pub(crate) async fn runs(api: &ApiSession, space: SpaceId) -> Result<Vec<Run>, Refusal> {
    let query = [("limit", RUNS.to_string())];
    let page: Page<Run> = api.get(&format!("/v1/spaces/{space}/runs"), &query).await?;
    Ok(page.items)
}

/// The runs of the turn that are not among the newest ones of the space.
pub(super) async fn older_runs(
    api: &ApiSession,
    sequencer: &mut TurnSequencer,
) -> Result<Vec<Run>, Refusal> {
    let mut runs = Vec::new();
    for id in sequencer.unknown_runs() {
        match api.get(&format!("/v1/runs/{id}"), &[]).await {
            Ok(run) => runs.push(run),
            // Runs expire only after they have ended. Without this, the turn would never be over.
            Err(refusal) if refusal.status == 404 => sequencer.run_expired(id),
            Err(refusal) => return Err(refusal),
        }
    }
    Ok(runs)
}

/// The id of a message for clients: that of its stream, if it has one. Clients show the text of a
/// stream under that id before the message exists.
pub(crate) fn id_for_clients(message: &Message) -> String {
    message.stream_id.map_or_else(|| message.id.to_string(), |stream| stream.to_string())
}

/// Whether a message shows a form that waits for an answer.
pub(crate) fn is_open_form(message: &Message) -> bool {
    card_of(message).is_some_and(|card| card.ui.is_some() && card.status == CallStatus::Pending)
}
