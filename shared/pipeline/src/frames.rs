//! Sends one frame to one connection. A connection that is gone is deleted, and nothing fails
//! because of it.

use std::{sync::Arc, time::Duration};

use futures::{StreamExt, stream};
use serde_json::{Value, json};
use smartspace_domain::{Error, Result, Time, ids::ConnectionId, problems::Problem};
use smartspace_ports::sockets::{CloseCode, PostError, Sockets, post_in_time};
use smartspace_store::{Store, connections::ConnectionRecord};
use tokio::time::Instant;

/// No handshake takes longer: API Gateway ends it after 29 s.
const HANDSHAKE: Duration = Duration::from_mins(1);

/// How many expired connections an event closes side by side.
const CLOSED_AT_ONCE: usize = 16;
/// How many expired connections an event closes, so that its job ends in time even if all of them
/// are slow. The next event closes further ones.
const CLOSED_BY_EVENT: usize = 64;

/// Whether a frame was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    Sent,
    /// The frame was not sent. The connection may work again later.
    Failed,
    /// The connection is gone and was deleted.
    Gone,
}

/// Sends a frame. The post may take a second.
pub async fn send_frame(
    store: &Store,
    sockets: &dyn Sockets,
    connection: &ConnectionId,
    frame: Arc<str>,
) -> SendOutcome {
    send_frame_due(store, sockets, connection, frame, Instant::now()).await
}

/// Sends a frame that should have been sent at the time `due`.
pub async fn send_frame_due(
    store: &Store,
    sockets: &dyn Sockets,
    connection: &ConnectionId,
    frame: Arc<str>,
    due: Instant,
) -> SendOutcome {
    match post_in_time(sockets, connection, frame, due).await {
        Ok(()) => SendOutcome::Sent,
        Err(PostError::Gone) => {
            if let Err(error) = store.connections().disconnect_deferring_presence(connection).await
            {
                tracing::warn!(%connection, %error, "a closed connection could not be deleted");
            }
            SendOutcome::Gone
        }
        Err(error @ PostError::Failed(_)) => {
            tracing::debug!(%connection, %error, "a frame was not sent");
            SendOutcome::Failed
        }
    }
}

/// Sends a frame to an entity's own connection. A connection whose handshake is not finished looks
/// as if it were gone, so a new connection is not deleted.
pub async fn send_own_frame(
    store: &Store,
    sockets: &dyn Sockets,
    connection: &ConnectionRecord,
    frame: Arc<str>,
    now: Time,
) -> SendOutcome {
    if now.since(connection.opened_at) >= HANDSHAKE {
        return send_frame(store, sockets, &connection.id, frame).await;
    }
    match post_in_time(sockets, &connection.id, frame, Instant::now()).await {
        Ok(()) => SendOutcome::Sent,
        Err(PostError::Gone | PostError::Failed(_)) => SendOutcome::Failed,
    }
}

/// Sends a connection the frame that its credential has expired, closes it and deletes it.
/// `request` is the id of the request that this answers, if any.
pub async fn close_expired(
    store: &Store,
    sockets: &dyn Sockets,
    connection: &ConnectionId,
    request: Option<&Value>,
) -> Result<()> {
    let error = Error::Unauthenticated(
        "the connection's credential has expired; connect again with a new ticket".into(),
    );
    send_frame(store, sockets, connection, error_frame(request, &error).into()).await;
    let goodbye = Goodbye {
        code: CloseCode::Policy,
        reason: "the connection's credential has expired",
        retry_after: None,
    };
    close(store, sockets, connection, &goodbye).await
}

/// Closes and deletes connections whose credential has expired, as a broadcast finds them. A host
/// that closes them on time by itself leaves none. One that can't be deleted is closed with the
/// next event.
pub async fn close_expired_of_many(store: &Store, sockets: &dyn Sockets, expired: &[ConnectionId]) {
    let close = async |connection: &ConnectionId| {
        if let Err(error) = close_expired(store, sockets, connection, None).await {
            tracing::warn!(%connection, %error, "an expired connection could not be deleted");
        }
    };
    stream::iter(expired.iter().take(CLOSED_BY_EVENT))
        .for_each_concurrent(CLOSED_AT_ONCE, close)
        .await;
}

/// The last frame of a connection. API Gateway sends no close codes of ours, so clients act on this
/// frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Goodbye {
    /// Why the server closes the connection.
    pub code: CloseCode,
    pub reason: &'static str,
    /// How long the client should wait before it connects again, in whole seconds.
    pub retry_after: Option<Duration>,
}

impl Goodbye {
    /// The server shuts down, and its successor may be there already.
    pub const RESTARTING: Self =
        Self { code: CloseCode::Restarting, reason: "the server restarts", retry_after: None };

    pub fn to_frame(&self) -> String {
        let mut frame = json!({"type": "goodbye", "code": self.code as u16, "reason": self.reason});
        if let Some(wait) = self.retry_after {
            frame["retryAfter"] = wait.as_secs().into();
        }
        frame.to_string()
    }
}

/// Says goodbye to a connection, closes it and deletes it.
pub async fn close(
    store: &Store,
    sockets: &dyn Sockets,
    connection: &ConnectionId,
    goodbye: &Goodbye,
) -> Result<()> {
    send_frame(store, sockets, connection, goodbye.to_frame().into()).await;
    sockets.close(connection, goodbye.code).await;
    store.connections().disconnect_deferring_presence(connection).await
}

/// An error as a frame, with the `id` of the request that it answers. With 429 it says after how
/// many seconds the request may be repeated.
pub fn error_frame(id: Option<&Value>, error: &Error) -> String {
    let Problem { status, title, detail, .. } = Problem::of(error);
    let mut frame = json!({"type": "error", "status": status, "title": title, "detail": detail});
    if let Some(seconds) = Problem::retry_after(error) {
        frame["retryAfter"] = seconds.into();
    }
    if let Some(id) = id {
        frame["id"] = id.clone();
    }
    frame.to_string()
}
