//! The WebSocket API: tickets, subscriptions with replay, sending, pings.
//!
//! [`Socket::connect`] opens a connection with a ticket. [`Socket::receive`] answers one frame:
//! [`admission`] counts it, [`requests`] reads it, and [`actions`] does what it asks for.
//! [`Socket::disconnect`] deletes the connection. Answers and events are sent through the port
//! `Sockets` on every host.
//!
//! `docs/internals/presence.md` says how presence and read positions work.

mod actions;
mod admission;
mod requests;
mod snapshots;
mod subscribe;

use std::sync::Arc;

use futures::future::{BoxFuture, join};
use serde_json::Value;
use smartspace_domain::{
    Error, Result, Time,
    ids::ConnectionId,
    limits::{self, CallLimits},
    problems::Problem,
};
use smartspace_pipeline::{
    Pipeline,
    frames::{SendOutcome, close_expired, error_frame, send_frame},
};
use smartspace_ports::sockets::Sockets;
use smartspace_store::limits::frames::FrameCount;

pub use requests::ACTIONS;
use requests::Request;

/// The dependencies of the WebSocket API.
#[derive(Clone)]
pub struct Socket {
    /// The table and the queues.
    pub pipeline: Pipeline,
    pub sockets: Arc<dyn Sockets>,
    /// How many connections of an entity for other protocols may subscribe.
    pub call_limits: CallLimits,
}

impl Socket {
    /// Opens a connection and returns when it expires: no later than the credential that its ticket
    /// was created with. Fails with [`Error::Unauthenticated`] if the ticket is unknown, expired or
    /// used.
    ///
    /// Boxed here, as the others, so that the crates that call it need not compile it once more.
    pub fn connect<'a>(
        &'a self,
        ticket: &'a str,
        id: &'a ConnectionId,
    ) -> BoxFuture<'a, Result<Time>> {
        Box::pin(self.open(ticket, id))
    }

    /// Deletes a connection.
    pub fn disconnect<'a>(&'a self, id: &'a ConnectionId) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.close(id))
    }

    /// Answers one frame. A request that fails gets an error frame and the connection stays open,
    /// unless its credential has expired or it sends too many frames.
    pub fn receive<'a>(
        &'a self,
        id: &'a ConnectionId,
        frame: &'a str,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.answer_frame(id, frame))
    }

    /// Counts a frame that asks for nothing, such as a ping of the protocol itself. It gets no
    /// answer, but a connection that sends too many is closed.
    pub fn count_control_frame<'a>(&'a self, id: &'a ConnectionId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            match self.count_tokens(id, 1).await {
                FrameCount::Refused { in_a_row, .. } if in_a_row >= limits::REFUSED_FRAMES => {
                    self.close_for_frames(id).await
                }
                FrameCount::Refused { .. } | FrameCount::Allowed => Ok(()),
            }
        })
    }

    /// Closes a connection that follows no space, because it has sent nothing for a while.
    pub fn close_if_idle<'a>(&'a self, id: &'a ConnectionId) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.end_idle(id))
    }

    async fn open(&self, ticket: &str, id: &ConnectionId) -> Result<Time> {
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

    async fn close(&self, id: &ConnectionId) -> Result<()> {
        for space in self.pipeline.store.connections().disconnect(id).await? {
            self.pipeline.show_presence_soon(space).await;
        }
        Ok(())
    }

    async fn answer_frame(&self, id: &ConnectionId, frame: &str) -> Result<()> {
        let request = Request::read(frame);
        let now = self.pipeline.now();
        let connections = self.pipeline.store.connections();
        let (connection, count) =
            join(connections.get(id, now), self.count_frame(id, &request)).await;
        let Some(connection) = connection? else {
            return self.expire(id, request.id.as_ref()).await;
        };
        if let FrameCount::Refused { wait, in_a_row } = count {
            return self.refuse_frame(id, request.id.as_ref(), wait, in_a_row).await;
        }
        let result = match request.action {
            Ok(action) => self.act(&connection, request.id.as_ref(), action).await,
            Err(error) => Err(error),
        };
        if let Err(error) = result {
            self.answer_error(id, request.id.as_ref(), &error).await;
        }
        self.sockets.post_permits().report_late();
        Ok(())
    }

    /// Notifies a connection that its credential has expired, and closes it. `request` is the id of
    /// the request that this answers, if any.
    pub async fn expire(&self, id: &ConnectionId, request: Option<&Value>) -> Result<()> {
        close_expired(&self.pipeline.store, &*self.sockets, id, request).await
    }

    async fn answer(
        &self,
        connection: &ConnectionId,
        id: Option<&Value>,
        mut answer: Value,
    ) -> SendOutcome {
        if let (Some(id), Some(answer)) = (id, answer.as_object_mut()) {
            answer.insert("id".into(), id.clone());
        }
        self.post(connection, answer.to_string()).await
    }

    async fn answer_error(&self, connection: &ConnectionId, id: Option<&Value>, error: &Error) {
        if Problem::of(error).status >= 500 {
            tracing::error!(%connection, %error, "a socket request failed");
        }
        self.post(connection, error_frame(id, error)).await;
    }

    async fn post(&self, connection: &ConnectionId, frame: String) -> SendOutcome {
        send_frame(&self.pipeline.store, &*self.sockets, connection, frame.into()).await
    }
}

impl std::fmt::Debug for Socket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Socket").finish_non_exhaustive()
    }
}
