//! Reads the messages and runs of a space for a turn, over HTTP.

use smartspace_client::{Page, Refusal, Session as ApiSession, messages_path};
use smartspace_domain::{ids::SpaceId, messages::Message, runs::Run};

use crate::turn::sequencer::TurnSequencer;

/// How many messages a page has.
pub(super) const PAGE_MESSAGES: usize = 200;
/// How many of the newest runs of a space are read.
const PAGE_RUNS: u64 = 100;

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
    let query = [("limit", PAGE_RUNS.to_string())];
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
