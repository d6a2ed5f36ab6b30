//! One frame for one connection. A connection that is gone is forgotten, and nothing ever fails for its sake.

use std::sync::Arc;

use serde_json::{Value, json};
use smartspace_domain::{Error, Result, ids::ConnectionId, problems::Problem};
use smartspace_edges::sockets::{PostError, Sockets, post_in_time};
use smartspace_store::Store;

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

/// Tells a connection that its credential has expired, closes it and forgets it.
pub async fn close_expired(store: &Store, sockets: &dyn Sockets, connection: &ConnectionId) -> Result<()> {
    let error = Error::Unauthenticated("the connection's credential has expired; connect again with a new ticket".into());
    tell(store, sockets, connection, error_frame(None, &error).into()).await;
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
