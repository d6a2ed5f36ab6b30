//! The WebSocket API: tickets, subscriptions with replay, sending, pings.
//!
//! [`Socket::connect`] opens a connection with a ticket, [`Socket::receive`] answers one frame
//! ([`requests`]), and [`Socket::disconnect`] deletes the connection. Answers and events leave
//! through the port `Sockets`, in the same way on every host.

#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod requests;

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};
use smartspace_domain::{
    Error, Result, Time,
    access::{Caller, SpaceAction},
    events::{Event, EventKind},
    forms::FormAnswer,
    idempotency::IdempotencyKey,
    ids::{ConnectionId, EntityId, MessageId, SpaceId},
    limits,
    messages::MessageText,
};
use smartspace_pipeline::{
    Pipeline,
    access::KnownSpaces,
    frames::{close_expired, error_frame, send_frame},
    problems::Problem,
};
use smartspace_ports::sockets::Sockets;
use smartspace_store::{
    connections::ConnectionRecord,
    idempotency::PostKey,
    messages::{
        Range,
        append::{Content, MessageSource, NewMessage},
    },
    runs::active_view,
};

pub use requests::ACTIONS;
use requests::{Action, Request};

/// The greatest number of messages that a subscription replays.
const REPLAYED: usize = 200;
/// The greatest number of active runs in the answer to a subscription. More do not fit a frame; a
/// client learns of them when they end.
const ACTIVE: usize = 200;

/// The dependencies of the WebSocket API.
#[derive(Clone)]
pub struct Socket {
    /// The table and the queues.
    pub pipeline: Pipeline,
    /// The connections.
    pub sockets: Arc<dyn Sockets>,
}

impl Socket {
    /// Opens a connection and returns when it expires: no later than the credential that its ticket
    /// was created with. Fails with [`Error::Unauthenticated`] if the ticket is unknown, expired or
    /// used.
    pub async fn connect(&self, ticket: &str, id: &ConnectionId) -> Result<Time> {
        let connection = self
            .pipeline
            .store
            .connections()
            .connect(ticket, id, limits::CONNECTION_VALID, self.pipeline.now())
            .await?;
        let refused = || {
            Error::Unauthenticated(
                "expected an unused ticket that has not expired; POST /v1/socketTickets creates one"
                    .into(),
            )
        };
        connection.map(|connection| connection.valid_until).ok_or_else(refused)
    }

    /// Deletes a connection.
    pub async fn disconnect(&self, id: &ConnectionId) -> Result<()> {
        self.pipeline.store.connections().disconnect(id).await
    }

    /// Answers one frame. A request that fails gets an error frame and the connection stays open,
    /// unless its credential has expired.
    pub async fn receive(&self, id: &ConnectionId, frame: &str) -> Result<()> {
        let request = Request::read(frame);
        let Some(connection) =
            self.pipeline.store.connections().get(id, self.pipeline.now()).await?
        else {
            return self.expire(id, request.id.as_ref()).await;
        };
        let done = match request.action {
            Ok(action) => self.act(&connection, request.id.as_ref(), action).await,
            Err(error) => Err(error),
        };
        if let Err(error) = done {
            self.answer_error(id, request.id.as_ref(), &error).await;
        }
        Ok(())
    }

    /// Tells a connection that its credential has expired, and closes it. `request` is the id of
    /// the request that this answers, if any.
    pub async fn expire(&self, id: &ConnectionId, request: Option<&Value>) -> Result<()> {
        close_expired(&self.pipeline.store, &*self.sockets, id, request).await
    }

    async fn act(
        &self,
        connection: &ConnectionRecord,
        id: Option<&Value>,
        action: Action,
    ) -> Result<()> {
        if matches!(action, Action::Send { .. } | Action::ToolResult { .. }) {
            self.pipeline.count_call(connection.caller).await?;
        }
        match action {
            Action::Subscribe { space_id, after_seq } => {
                self.subscribe(connection, id, space_id, after_seq).await
            }
            Action::Unsubscribe { space_id } => {
                self.pipeline.store.connections().unsubscribe(&connection.id, space_id).await?;
                self.answer(
                    &connection.id,
                    id,
                    json!({"type": "unsubscribed", "spaceId": space_id}),
                )
                .await;
                Ok(())
            }
            Action::Send { space_id, text, idempotency_key, sender_id } => {
                let answer = self
                    .send(connection.caller, space_id, text, idempotency_key, sender_id)
                    .await?;
                self.answer(&connection.id, id, answer).await;
                Ok(())
            }
            Action::ToolResult { run_id, call_id, output } => {
                self.pipeline
                    .answer_form(connection.caller, run_id, call_id, &FormAnswer::Output(output))
                    .await?;
                self.answer(
                    &connection.id,
                    id,
                    json!({"type": "accepted", "runId": run_id, "callId": call_id}),
                )
                .await;
                Ok(())
            }
            Action::Ping { spaces } => {
                let ahead = self.ahead(connection.caller, &spaces).await?;
                self.answer(&connection.id, id, json!({"type": "pong", "spaces": ahead})).await;
                Ok(())
            }
        }
    }

    async fn subscribe(
        &self,
        connection: &ConnectionRecord,
        id: Option<&Value>,
        space: SpaceId,
        after: Option<u64>,
    ) -> Result<()> {
        let store = &self.pipeline.store;
        self.pipeline.authorise(connection.caller, SpaceAction::Read, space).await?;
        // The operator may follow any space, but only one that exists.
        store.spaces().record(space).await?;
        // Subscribe first, then read: a message stored in between arrives twice instead of never.
        store.connections().subscribe(connection, space).await?;
        let roster = store.members().roster(space).await?;
        let active = store.runs().active_in_space(space).await?;
        let replayed = match after {
            Some(after) if after < roster.head.seq => {
                let last =
                    store.messages().records(space, Range::Before(u64::MAX), REPLAYED).await?;
                let missed = last.into_iter().filter(|message| message.seq > after).collect();
                store.messages().whole(space, missed).await?
            }
            _ => Vec::new(),
        };
        if !replayed.is_empty() {
            // An entity that was removed meanwhile must not see messages stored since.
            self.pipeline.authorise(connection.caller, SpaceAction::Read, space).await?;
        }
        let answer = json!({
            "type": "subscribed",
            "spaceId": space,
            "seq": roster.head.seq,
            "from": replayed.first().map(|message| message.seq),
            "active": active.iter().take(ACTIVE).map(active_view).collect::<Vec<_>>(),
        });
        self.answer(&connection.id, id, answer).await;
        let mut known = KnownSpaces::of(connection.caller);
        for message in replayed {
            let event = Event {
                space_id: space,
                at: message.created_at,
                what: EventKind::MessageCreated { message },
            };
            let event = match event.known_by() {
                Some(other) if !known.has(&self.pipeline, other).await? => event.for_others(),
                _ => event,
            };
            self.post(&connection.id, event.to_frame()).await;
        }
        Ok(())
    }

    async fn send(
        &self,
        caller: Caller,
        space: SpaceId,
        text: MessageText,
        key: Option<IdempotencyKey>,
        sender: Option<EntityId>,
    ) -> Result<Value> {
        let sender = self.pipeline.speaker(caller, space, sender).await?;
        let body = format!("{sender} {text}");
        let key = key.map(|key| {
            PostKey::new(&caller.label(), "send", &space.to_string(), &key, body.as_bytes())
        });
        let id = MessageId::new(self.pipeline.now(), self.pipeline.ids.random());
        let new = NewMessage {
            id,
            space,
            sender,
            content: Content::Text(text),
            by: MessageSource::Door { key, depth: 0 },
        };
        let posted = self.pipeline.post_as(caller, &new).await?;
        Ok(json!({"type": "sent", "messageId": posted.message.id, "seq": posted.message.seq}))
    }

    /// The spaces whose `seq` is higher than what the client has, with their `seq`.
    async fn ahead(
        &self,
        caller: Caller,
        spaces: &BTreeMap<SpaceId, u64>,
    ) -> Result<BTreeMap<SpaceId, u64>> {
        let mut ahead = BTreeMap::new();
        for (space, seq) in spaces {
            match self.pipeline.authorise(caller, SpaceAction::Read, *space).await {
                Ok(()) => {}
                Err(Error::NotFound(_)) => continue,
                Err(error) => return Err(error),
            }
            // A deleted space has no head.
            if let Some(head) =
                self.pipeline.store.members().head(*space).await?.filter(|head| head.seq > *seq)
            {
                ahead.insert(*space, head.seq);
            }
        }
        Ok(ahead)
    }

    async fn answer(&self, connection: &ConnectionId, id: Option<&Value>, mut answer: Value) {
        if let (Some(id), Some(answer)) = (id, answer.as_object_mut()) {
            answer.insert("id".into(), id.clone());
        }
        self.post(connection, answer.to_string()).await;
    }

    async fn answer_error(&self, connection: &ConnectionId, id: Option<&Value>, error: &Error) {
        if Problem::of(error).status >= 500 {
            tracing::error!(%connection, %error, "a socket request failed");
        }
        self.post(connection, error_frame(id, error)).await;
    }

    async fn post(&self, connection: &ConnectionId, frame: String) {
        send_frame(&self.pipeline.store, &*self.sockets, connection, frame.into()).await;
    }
}

impl std::fmt::Debug for Socket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Socket").finish_non_exhaustive()
    }
}
