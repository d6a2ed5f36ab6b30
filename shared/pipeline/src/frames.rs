//! One frame for one connection. A connection that is gone is forgotten, and nothing ever fails for its sake.

use std::sync::Arc;

use smartspace_domain::ids::ConnectionId;
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
