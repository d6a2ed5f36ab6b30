//! One frame for one connection. A connection that is gone is forgotten, and nothing ever fails for its sake.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use smartspace_domain::{Error, Result, Time, ids::ConnectionId, problems::Problem};
use smartspace_edges::sockets::{PostError, Sockets, post_in_time};
use smartspace_store::{Store, connections::ConnectionRecord};

/// No handshake takes longer; API Gateway gives it 29 s.
const HANDSHAKE: Duration = Duration::from_mins(1);

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// It was taken.
    Yes,
    /// It was not taken in time; the connection may work again.
    NotInTime,
    /// The connection is gone, and forgotten.
    Gone,
}

/// Posts a frame within a second.
pub async fn tell(store: &Store, sockets: &dyn Sockets, connection: &ConnectionId, frame: Arc<str>) -> Told {
    match post_in_time(sockets, connection, frame).await {
        Ok(()) => Told::Yes,
        Err(PostError::Gone) => {
            if let Err(error) = store.disconnect(connection).await {
                tracing::warn!(%connection, %error, "a connection that is gone could not be forgotten");
            }
            Told::Gone
        }
        Err(error @ PostError::Failed(_)) => {
            tracing::debug!(%connection, %error, "a frame was not taken");
            Told::NotInTime
        }
    }
}

/// Posts a frame to an entity's own connection. One that is so new that its handshake may not have ended takes none yet, and looks as if it were
/// gone: it is not forgotten.
pub async fn tell_own(store: &Store, sockets: &dyn Sockets, connection: &ConnectionRecord, frame: Arc<str>, now: Time) -> Told {
    if now.since(connection.opened_at) >= HANDSHAKE {
        return tell(store, sockets, &connection.id, frame).await;
    }
    match post_in_time(sockets, &connection.id, frame).await {
        Ok(()) => Told::Yes,
        Err(PostError::Gone | PostError::Failed(_)) => Told::NotInTime,
    }
}

/// Tells a connection that its credential has expired, closes it and forgets it. `request` is the id of what it had asked for.
pub async fn close_expired(store: &Store, sockets: &dyn Sockets, connection: &ConnectionId, request: Option<&Value>) -> Result<()> {
    let error = Error::Unauthenticated("the connection's credential has expired; connect again with a new ticket".into());
    tell(store, sockets, connection, error_frame(request, &error).into()).await;
    sockets.close(connection).await;
    store.disconnect(connection).await
}

/// How an error is told over a socket, with the `id` of the request that it answers.
pub fn error_frame(id: Option<&Value>, error: &Error) -> String {
    let Problem { status, title, detail, .. } = Problem::of(error);
    let mut frame = json!({"type": "error", "status": status, "title": title, "detail": detail});
    if let Some(id) = id {
        frame["id"] = id.clone();
    }
    frame.to_string()
}
