//! Sends one frame to one connection. A connection that is gone is deleted, and nothing fails
//! because of it.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use smartspace_domain::{Error, Result, Time, ids::ConnectionId};
use smartspace_ports::sockets::{PostError, Sockets, post_in_time};
use smartspace_store::{Store, connections::ConnectionRecord};

use crate::problems::Problem;

/// No handshake takes longer: API Gateway ends it after 29 s.
const HANDSHAKE: Duration = Duration::from_mins(1);

/// Whether a frame was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    /// The frame was sent.
    Sent,
    /// The frame was not sent. The connection may work again later.
    Failed,
    /// The connection is gone and was deleted.
    Gone,
}

/// Sends a frame within a second.
pub async fn send_frame(
    store: &Store,
    sockets: &dyn Sockets,
    connection: &ConnectionId,
    frame: Arc<str>,
) -> SendOutcome {
    match post_in_time(sockets, connection, frame).await {
        Ok(()) => SendOutcome::Sent,
        Err(PostError::Gone) => {
            if let Err(error) = store.connections().disconnect(connection).await {
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
    match post_in_time(sockets, &connection.id, frame).await {
        Ok(()) => SendOutcome::Sent,
        Err(PostError::Gone | PostError::Failed(_)) => SendOutcome::Failed,
    }
}

/// Tells a connection that its credential has expired, closes it and deletes it. `request` is the
/// id of the request that this answers, if any.
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
    sockets.close(connection).await;
    store.connections().disconnect(connection).await
}

/// An error as a frame, with the `id` of the request that it answers.
pub fn error_frame(id: Option<&Value>, error: &Error) -> String {
    let Problem { status, title, detail, .. } = Problem::of(error);
    let mut frame = json!({"type": "error", "status": status, "title": title, "detail": detail});
    if let Some(id) = id {
        frame["id"] = id.clone();
    }
    frame.to_string()
}
