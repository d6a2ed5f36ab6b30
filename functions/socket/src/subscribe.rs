//! The actions `subscribe` and `unsubscribe`. `subscribe` follows a space, and replays the messages
//! that the client has missed.
//!
//! API Gateway delivers the frames of a connection in parallel, so an older frame may come after a
//! newer one. Frames with a counter `n` are applied only if it is higher than the last one of the
//! connection and the space. The answer to an older one says what holds.

use std::time::Duration;

use serde_json::{Value, json};
use smartspace_domain::{
    Error, Result,
    access::SpaceAction,
    events::{Event, EventKind},
    ids::SpaceId,
    messages::Message,
};
use smartspace_pipeline::{access::KnownSpaces, frames::SendOutcome};
use smartspace_store::{connections::ConnectionRecord, messages::Range, runs::active_view};
use tokio::time::Instant;

use crate::Socket;

/// The greatest number of messages that a subscription replays.
const MAX_REPLAYED: usize = 200;
/// The greatest number of active runs in the answer to a subscription. More do not fit a frame; a
/// client learns of them when they end.
const MAX_ACTIVE_RUNS: usize = 200;
/// How long a replay takes at most, so that its answer comes within the 29 s of API Gateway.
const REPLAY_LIMIT: Duration = Duration::from_secs(10);

impl Socket {
    /// Subscribes a connection to a space, and replays the messages after `after`. `id` is the id
    /// of the request, and `n` its counter.
    pub(crate) async fn subscribe(
        &self,
        connection: &ConnectionRecord,
        id: Option<&Value>,
        space: SpaceId,
        after: Option<u64>,
        n: Option<u64>,
    ) -> Result<()> {
        let followers = self.admit(connection, space).await?;
        // Subscribing precedes reading, so that a message stored in between arrives twice instead
        // of never.
        if self.pipeline.store.connections().subscribe(connection, space, n).await? {
            self.ask_for_current_text(connection, space, followers).await;
            return self.show(connection, id, space, after).await;
        }
        // A newer `unsubscribe` overtook this frame.
        self.answer_unsubscribed(connection, id, space).await;
        Ok(())
    }

    /// Ends a subscription. The answer says what holds: if a newer `subscribe` overtook this frame,
    /// it says so.
    pub(crate) async fn unsubscribe(
        &self,
        connection: &ConnectionRecord,
        id: Option<&Value>,
        space: SpaceId,
        n: Option<u64>,
    ) -> Result<()> {
        let connections = self.pipeline.store.connections();
        let follows = match n {
            // Only where the caller may follow can an older `subscribe` come later. Elsewhere a
            // counter would be left for each space id that somebody makes up.
            Some(n) if self.may_follow(connection, space).await? => {
                connections.unsubscribe_at(connection, space, n).await?
            }
            _ => {
                connections.unsubscribe(&connection.id, space).await?;
                false
            }
        };
        if follows {
            return self.show(connection, id, space, None).await;
        }
        self.pipeline.forget_presence(&connection.id, space).await?;
        self.answer_unsubscribed(connection, id, space).await;
        Ok(())
    }

    async fn may_follow(&self, connection: &ConnectionRecord, space: SpaceId) -> Result<bool> {
        match self.pipeline.authorise(connection.caller, SpaceAction::Read, space).await {
            Ok(()) => Ok(true),
            Err(Error::NotFound(_) | Error::Forbidden(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn answer_unsubscribed(
        &self,
        connection: &ConnectionRecord,
        id: Option<&Value>,
        space: SpaceId,
    ) {
        let answer = json!({"type": "unsubscribed", "spaceId": space});
        self.answer(&connection.id, id, answer).await;
    }

    /// Answers that a connection follows a space, and replays the messages after `after`.
    async fn show(
        &self,
        connection: &ConnectionRecord,
        id: Option<&Value>,
        space: SpaceId,
        after: Option<u64>,
    ) -> Result<()> {
        let store = &self.pipeline.store;
        let roster = store.members().roster(space).await?;
        let mut active = store.runs().active_in_space(space).await?;
        // A run that only shows a card here goes on after its agent has left.
        active.retain(|run| roster.member(run.agent_id).is_some());
        let replayed = match after {
            // A caller that may not read now fetches the messages later, over HTTP.
            Some(after)
                if after < roster.head.seq
                    && self.pipeline.count_call(connection.caller).await.is_ok() =>
            {
                let missed = self.missed(space, after, roster.head.seq).await?;
                self.pipeline.charge_for(connection.caller, bytes_of(&missed)).await;
                missed
            }
            _ => Vec::new(),
        };
        if !replayed.is_empty() {
            // An entity that has been removed in between must not see messages stored since.
            self.pipeline.authorise(connection.caller, SpaceAction::Read, space).await?;
        }
        let answer = json!({
            "type": "subscribed",
            "spaceId": space,
            "seq": roster.head.seq,
            "from": replayed.first().map(|message| message.seq),
            "active": active.iter().take(MAX_ACTIVE_RUNS).map(active_view).collect::<Vec<_>>(),
        });
        match self.answer(&connection.id, id, answer).await {
            SendOutcome::Gone => Ok(()),
            SendOutcome::Sent | SendOutcome::Failed => {
                self.replay(connection, space, replayed).await
            }
        }
    }

    /// The messages of a space after `after` up to `last`, or the last ones if there are too many.
    /// Later ones come as live events.
    async fn missed(&self, space: SpaceId, after: u64, last: u64) -> Result<Vec<Message>> {
        let store = &self.pipeline.store;
        let count = usize::try_from(last - after).map_or(MAX_REPLAYED, |it| it.min(MAX_REPLAYED));
        let last = store.messages().records(space, Range::Before(last + 1), count).await?;
        let missed = last.into_iter().filter(|message| message.seq > after).collect();
        store.messages().with_long_texts(space, missed).await
    }

    /// Sends messages as the events that the connection has missed. Ends early if the connection is
    /// gone or slow. A client that still exists sees the gap in `seq` and fetches the rest.
    async fn replay(
        &self,
        connection: &ConnectionRecord,
        space: SpaceId,
        messages: Vec<Message>,
    ) -> Result<()> {
        let ends = Instant::now() + REPLAY_LIMIT;
        let mut known_spaces = KnownSpaces::of(connection.caller);
        for message in messages {
            let event = Event {
                space_id: space,
                at: message.created_at,
                what: EventKind::MessageCreated { message },
            };
            let mut event = event;
            for known_by in event.known_by() {
                if !known_spaces.has(&self.pipeline, known_by).await? {
                    event = event.for_others_than(known_by);
                }
            }
            let sent = self.post(&connection.id, event.to_frame()).await;
            if sent == SendOutcome::Gone || Instant::now() >= ends {
                break;
            }
        }
        Ok(())
    }
}

/// About how many bytes of the table some messages are.
fn bytes_of(messages: &[Message]) -> u64 {
    let json = messages.iter().filter_map(|message| serde_json::to_string(message).ok());
    json.map(|json| json.len() as u64).sum()
}
